"""Which files of a project are run by themselves."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from trueline.script.source import SourceFile


def is_entry(source: SourceFile) -> bool:
    """Whether a file does something when it is run: ``if __name__ == "__main__"``, or more than definitions."""
    for node in source.tree.body:
        if isinstance(node, ast.If) and "__main__" in ast.dump(node.test):
            return True
        if isinstance(node, ast.For | ast.While | ast.With):
            return True
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            return True
    return False


def imports(tree: ast.Module) -> set[str]:
    """All names that a file imports, of modules and from them."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(part for alias in node.names for part in alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            names.update((node.module or "").split("."))
            names.update(alias.name for alias in node.names)
    return names


def entries_first(entries: Sequence[SourceFile]) -> Sequence[SourceFile]:
    """Files that do something when they are run, first; one that another imports is not run by itself."""
    imported = {name for source in entries for name in imports(source.tree)}
    return sorted(
        entries, key=lambda file: (file.path.stem in imported or not is_entry(file), file.path.stem != "train")
    )
