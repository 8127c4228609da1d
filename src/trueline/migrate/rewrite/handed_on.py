"""Names of torch that files of a project take from one another: ``from .common import nn, F``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trueline.migrate.rewrite.names import FRAMEWORKS, Import
from trueline.script.source import SourceFile
from trueline.script.uses.imports import Imports
from trueline.script.uses.value import FileRef, Ref


def taken(file: SourceFile, imports: Imports) -> Iterator[Import]:
    """The names of torch that a file takes from other files of its project."""
    for statement in ast.walk(file.tree):
        if not isinstance(statement, ast.ImportFrom):
            continue
        home = imports.home(statement, file.path)
        if not isinstance(home, FileRef):
            continue
        aliases = {alias.asname or alias.name: alias for alias in statement.names}
        for local, value in imports.bound(statement, file.path):
            if isinstance(value, Ref) and value.name.split(".")[0] in FRAMEWORKS:
                yield Import(local, value.name, statement, aliases.get(local, statement.names[0]), home.path)
