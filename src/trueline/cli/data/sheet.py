"""``trueline data sheet SOURCE|RUN``: a few samples of each label to look at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from trueline.cli.options import answer, json_flag, timeout_option
from trueline.cli.page import check_place, start_lightly, write_page
from trueline.cli.verb import Verb
from trueline.model.message import message
from trueline.model.trouble import BadFile, BadUsage
from trueline.record.stderr_line import write_line

if TYPE_CHECKING:
    from trueline.data.sheet.report import Sheet

_PAGES = (".html", ".htm")


@click.command("sheet", cls=Verb, help="sheet.help")
@click.argument("source", metavar="SOURCE")
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="sheet.option_output")
@click.option("--force", is_flag=True, help="compare.option_force")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, metavar="N", help="sheet.option_seed")
@click.option("--count", type=click.IntRange(1, 2000), default=50, metavar="N", help="sheet.option_count")
@click.option("--label", metavar="FIELD", help="sheet.option_label")
@click.option("--labels", type=click.IntRange(1, 1000), default=20, metavar="N", help="sheet.option_labels")
@timeout_option
@json_flag
def command(
    source: str, output: Path | None, force: bool, seed: int, count: int, label: str | None, labels: int, as_json: bool
) -> int:
    """Draw samples and show them."""
    if output is not None:
        if output.suffix.lower() not in (*_PAGES, ".png"):
            raise BadUsage("sheet.other_ending", file=str(output))
        check_place(output, force)
    start_lightly()
    from trueline.data.describing.labels import guess_label
    from trueline.data.sheet.cards import make_cards
    from trueline.data.sheet.report import Sheet, report, result
    from trueline.data.sheet.sampling import draw
    from trueline.data.sources.opening import open_source
    from trueline.data.sources.pictures import check_pillow

    if output is not None:
        check_pillow()
    opened = open_source(source, label=label)
    # What is merely called like a label is taken for one, and said to be.
    field = opened.label or guess_label(opened.fields)
    drawn = draw(opened, field, count, labels, seed)
    sheet = Sheet(opened, field, drawn, make_cards(opened, field, drawn), seed)
    if output is not None and output.suffix.lower() in _PAGES:
        write_page(output, report(sheet, pictures=True))
    elif output is not None:
        _write_picture(output, sheet)
    return answer(result(sheet, output), lambda: report(sheet, pictures=False), as_json=as_json)


def _write_picture(output: Path, sheet: Sheet) -> None:
    from trueline.data.sheet.drawing import ContactSheet
    from trueline.data.sheet.report import conclusion, notes, title
    from trueline.data.sheet.thumbnails import png
    from trueline.formats.run_folder.appending import replace_file
    from trueline.model.visible import visible

    drawing = ContactSheet(title(sheet), [conclusion(sheet), *notes(sheet)], sheet.groups)
    picture = png(drawing.picture())
    try:
        replace_file(output, picture)
    except OSError as error:
        raise BadFile(output, error.strerror or str(error)) from None
    write_line(f"trueline: {message('compare.written', file=str(output)).text()}")
    if drawing.missing:
        letters = visible("".join(drawing.missing[:20]))
        said = message("sheet.missing_letters", letters=letters, count=len(drawing.missing))
        write_line(f"trueline: {said.text()}")
