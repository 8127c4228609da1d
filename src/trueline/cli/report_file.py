"""The file that a checklist is written to: what it is follows from its ending."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from trueline.cli.page import check_place
from trueline.model.message import message
from trueline.model.trouble import BadFile, BadUsage
from trueline.record.stderr_line import write_line

if TYPE_CHECKING:
    from trueline.checks.engine.checklist import Checklist
    from trueline.model.report import Report

_PAGE: Final = (".html", ".htm")
_MARKDOWN: Final = (".md", ".markdown")
_SARIF: Final = ".sarif"


def check_output(output: Path | None, force: bool) -> None:
    """A trouble where no such file can be written."""
    if output is None:
        return
    # SARIF asks for .sarif or .sarif.json.
    if _ending(output) not in (*_PAGE, *_MARKDOWN, _SARIF):
        raise BadUsage("check.not_a_kind", file=str(output))
    check_place(output, force)


def write_output(output: Path | None, checklist: Checklist) -> None:
    """The checklist as what the file is called; it appears only when it is whole."""
    if output is None:
        return
    from trueline.formats.run_folder.appending import replace_file

    try:
        replace_file(output, _rendered(_ending(output), checklist).encode("utf-8", "replace"))
    except OSError as error:
        raise BadFile(output, error.strerror or str(error)) from None
    write_line(f"trueline: {message('compare.written', file=str(output)).text()}")


def _ending(output: Path) -> str:
    name = output.name.lower()
    return _SARIF if name.endswith(f"{_SARIF}.json") else output.suffix.lower()


def _rendered(ending: str, checklist: Checklist) -> str:
    from trueline.checks.engine.report import report

    return _renderer(ending)(report(checklist))


def _renderer(ending: str) -> Callable[[Report], str]:
    if ending == _SARIF:
        from trueline.report.sarif import render_sarif

        return render_sarif
    if ending in _PAGE:
        from trueline.report.html.page import render_html

        return render_html
    from trueline.report.markdown import render_markdown

    return render_markdown
