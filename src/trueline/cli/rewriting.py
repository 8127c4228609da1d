"""``trueline scan --rewrite OUT``: drafts of a port, written beside the originals and never over them."""

from __future__ import annotations

import tokenize
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from trueline.cli.page import check_place
from trueline.model.report import Report
from trueline.model.result import Result
from trueline.model.trouble import BadFile, BadUsage

if TYPE_CHECKING:
    from trueline.migrate.rewrite.draft import Draft


def write_drafts(paths: Sequence[Path], out: Path, style: str, force: bool) -> tuple[Result, Report]:
    """Write the drafts of scripts and projects into a folder, or that of one script into a file."""
    from trueline.migrate.rewrite.draft import rewrite
    from trueline.migrate.rewrite.report import Written, report, result
    from trueline.script.project import open_project

    into_file = out.suffix == ".py"
    if into_file and (len(paths) != 1 or paths[0].is_dir()):
        raise BadUsage("rewrite.one_file", out=str(out))
    drafts = [draft for draft in rewrite(open_project(paths), style) if draft.path.suffix == ".py"]
    if not drafts:
        raise BadUsage("rewrite.no_scripts", paths=", ".join(map(str, paths)))
    placed = [(draft, None if draft.trouble else out if into_file else _place(draft, paths, out)) for draft in drafts]
    targets = [place for _, place in placed if place is not None]
    if len(set(targets)) < len(targets):
        raise BadUsage("rewrite.same_name", out=str(out))
    for draft, place in placed:
        if place is None:
            continue
        if place.exists() and place.samefile(draft.path):
            raise BadUsage("rewrite.over_source", file=str(place))
        if place.exists():
            check_place(place, force)
    for draft, place in placed:
        if place is not None:
            _write(draft, place)
    written = Written(out, placed)
    return result(written), report(written)


def _place(draft: Draft, paths: Sequence[Path], out: Path) -> Path:
    """Where a file's draft goes: as deep under the folder as the file is under what was asked for."""
    for path in paths:
        folder = path.resolve() if path.is_dir() else path.resolve().parent
        if draft.path.is_relative_to(folder):
            return out / draft.path.relative_to(folder)
    return out / draft.path.name


def _write(draft: Draft, place: Path) -> None:
    """Write a draft with the encoding and the line ends of its source."""
    from trueline.formats.run_folder.appending import replace_file

    try:
        with draft.path.open("rb") as file:
            encoding, _ = tokenize.detect_encoding(file.readline)
        newline = "\r\n" if b"\r\n" in draft.path.read_bytes() else "\n"
        place.parent.mkdir(parents=True, exist_ok=True)
        text = draft.text.replace("\n", newline) if newline != "\n" else draft.text
        replace_file(place, text.encode(encoding, "backslashreplace"))
    except OSError as error:
        raise BadFile(place, error.strerror or str(error)) from None
