"""A project's files on their way to MindSpore: each one's draft, what was written in it and what was left."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trueline.apitable.pairs import Table
from trueline.migrate.rewrite.calls import drop_idle, write_calls, write_names
from trueline.migrate.rewrite.checkpoints import write_checkpoints
from trueline.migrate.rewrite.classes import Classes, known_classes
from trueline.migrate.rewrite.fstrings import mend_positions
from trueline.migrate.rewrite.handed_on import taken
from trueline.migrate.rewrite.imports import write_imports
from trueline.migrate.rewrite.in_place import note_in_place
from trueline.migrate.rewrite.initial import write_initial
from trueline.migrate.rewrite.loaders import write_loaders
from trueline.migrate.rewrite.modes import write_modes
from trueline.migrate.rewrite.names import FRAMEWORKS, Names
from trueline.migrate.rewrite.notes import MARK, write_notes
from trueline.migrate.rewrite.optimizers import write_rates
from trueline.migrate.rewrite.sheet import CLASSIC, Done, Left, Sheet
from trueline.migrate.rewrite.structure import write_structure
from trueline.migrate.rewrite.training_loop import write_training
from trueline.model.message import message
from trueline.script.project import Project, resolved
from trueline.script.source import SourceFile
from trueline.script.uses.imports import Imports


@dataclass(frozen=True, slots=True)
class Draft:
    """One file: its text for MindSpore, what was written and what was left; ``trouble`` where it cannot be read."""

    path: Path
    shown: str
    text: str
    done: Sequence[Done] = ()
    left: Sequence[Left] = ()
    trouble: str | None = None

    @property
    def changed(self) -> bool:
        """Whether there was anything of torch in it."""
        return bool(self.done or self.left)


def rewrite(project: Project, style: str = CLASSIC, table: Table | None = None) -> list[Draft]:
    """The drafts of a project's files."""
    imports = Imports(project)
    handed = {id(file): list(taken(file, imports)) for file in project.entries}
    named = {id(file): Names(file.tree, handed[id(file)]) for file in project.entries}
    classes = known_classes(named.values())
    homes = {one.home for found in handed.values() for one in found}
    # What a draft still takes from another file is known before that one is written.
    still_taken: set[tuple[str, str]] = set()
    drafts = {}
    for file in sorted(project.entries, key=lambda file: str(resolved(file.path)) in homes):
        drafts[id(file)] = _draft(file, named[id(file)], classes, style, table, still_taken)
    return [drafts[id(file)] for file in project.entries]


def _draft(
    file: SourceFile, names: Names, classes: Classes, style: str, table: Table | None, still_taken: set[tuple[str, str]]
) -> Draft:
    if file.trouble is not None:
        return Draft(file.path, file.shown, "", trouble=file.trouble)
    of_torch = any(one.full.split(".")[0] in FRAMEWORKS for one in names.imports)
    if not of_torch and not _of_networks(names, classes.modules):
        return Draft(file.path, file.shown, file.text)
    return _drafted(Sheet(file, names, classes, style, table, still_taken), file)


def _of_networks(names: Names, modules: set[str]) -> bool:
    """Whether a file without an import of torch builds on networks of the project."""
    return any(isinstance(node, ast.ClassDef) and node.name in modules for node in ast.walk(names.tree))


def _drafted(sheet: Sheet, file: SourceFile) -> Draft:
    lost = mend_positions(sheet.tree, sheet.at)
    sheet.settled |= lost
    write_training(sheet)
    write_loaders(sheet)
    write_modes(sheet)
    write_rates(sheet)
    write_structure(sheet)
    write_initial(sheet)
    write_checkpoints(sheet)
    write_calls(sheet)
    write_names(sheet)
    note_in_place(sheet)
    drop_idle(sheet)
    write_imports(sheet)
    write_notes(sheet)
    text = sheet.edits.render()
    try:
        ast.parse(text)
    except SyntaxError:
        # What cannot be read again is not written: the file stays, and says so.
        reason = message("rewrite.whole_file")
        left = [Left(1, file.shown, reason)]
        return Draft(file.path, file.shown, f"{MARK}{reason.text()}\n{file.text}", (), left)
    done = sorted(sheet.done, key=lambda one: one.line)
    return Draft(file.path, file.shown, text, done, sorted(sheet.left, key=lambda one: one.line))
