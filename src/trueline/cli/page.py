"""Files that a verb writes: whether there is a place for one, and a Report as a page."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

from trueline.model.message import message
from trueline.model.report import Report
from trueline.model.trouble import BadFile, BadUsage
from trueline.record.stderr_line import write_line


def start_lightly() -> None:
    """NumPy would start threads for products of matrices, of which a verb that reads files has none."""
    if "numpy" not in sys.modules:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def check_place(output: Path, force: bool) -> None:
    """A trouble where no file can be written: nobody wants to hear of it after the work."""
    try:
        _check_place(output, force)
    except OSError as error:
        raise BadFile(output, error.strerror or type(error).__name__) from None


def _check_place(output: Path, force: bool) -> None:
    if output.is_dir():
        raise BadFile(output, os.strerror(errno.EISDIR))
    if (output.exists() or output.is_symlink()) and not force:
        raise BadUsage("compare.exists", file=str(output))
    if output.exists() and not output.is_file():
        # Replacing a device would take it from everybody.
        raise BadFile(output, message("convert.not_regular").text())
    folder = output.absolute().parent
    if not folder.is_dir():
        raise BadFile(output, os.strerror(errno.ENOENT))
    if not os.access(folder, os.W_OK):
        raise BadFile(output, os.strerror(errno.EACCES))


def check_page(output: Path | None, force: bool) -> None:
    """The same for a page, which must be called one."""
    if output is None:
        return
    if output.suffix.lower() not in (".html", ".htm"):
        raise BadUsage("compare.not_html", file=str(output))
    check_place(output, force)


def write_page(output: Path | None, report: Report) -> None:
    """A Report as one page, which appears only when it is whole."""
    if output is None:
        return
    from trueline.formats.run_folder.appending import replace_file
    from trueline.report.html.page import render_html

    try:
        replace_file(output, render_html(report).encode("utf-8", "replace"))
    except OSError as error:
        raise BadFile(output, error.strerror or str(error)) from None
    write_line(f"trueline: {message('compare.written', file=str(output)).text()}")
