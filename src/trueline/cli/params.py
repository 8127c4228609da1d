"""``trueline params FILE [FILE]``: the parameter table of a weight file or a model, or of two side by side."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trueline.cli.options import answer, json_flag, timeout_option
from trueline.cli.page import check_page, start_lightly, write_page
from trueline.cli.verb import Verb
from trueline.model.message import message
from trueline.model.trouble import BadUsage

if TYPE_CHECKING:
    from trueline.migrate.params import Listing
    from trueline.pair.sides.side import Side


# So many columns hold a name beside all its numbers.
_WIDE = 140
# What is there not and ends otherwise may have been meant for a model.
_ENDINGS = (".pth", ".pt", ".bin", ".ckpt", ".safetensors", ".npz", ".json")


@click.command("params", cls=Verb, help="params.help")
@click.argument("first", metavar="FILE")
@click.argument("second", metavar="[FILE]", required=False)
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="compare.option_output")
@click.option("--force", is_flag=True, help="compare.option_force")
@click.option("--no-stats", is_flag=True, help="params.option_no_stats")
@click.option("--section", metavar="NAME", help="params.option_section")
@click.option("--sort", type=click.Choice(["file", "size"]), default="file", help="params.option_sort")
@click.option("--map", "map_file", metavar="FILE", type=click.Path(path_type=Path), help="params.option_map")
@click.option("--ignore", multiple=True, metavar="PATTERN", help="params.option_ignore")
@timeout_option
@json_flag
def command(
    first: str,
    second: str | None,
    output: Path | None,
    force: bool,
    no_stats: bool,
    section: str | None,
    sort: str,
    map_file: Path | None,
    ignore: Sequence[str],
    as_json: bool,
) -> int:
    """List the parameters of a file or a model, or of two."""
    for option, given in (("--map", map_file), ("--ignore", ignore)):
        if given and second is None:
            raise BadUsage("params.only_for_two", option=option)
    check_page(output, force)
    start_lightly()
    from trueline.compare.align import Rules
    from trueline.migrate import params_pairs_report, params_report
    from trueline.migrate.params_pairs import pair_up

    rules = Rules.read(map_file, ignore)
    with ExitStack() as stack:
        # Models are built while files are read.
        sides = [_start(stack, text) for text in (first, second) if text is not None]
        listings = [_listing(side, section, numbers=not no_stats, alone=second is None) for side in sides]
    if len(listings) == 1:
        listing = listings[0].by_size() if sort == "size" else listings[0]
        code = answer(
            params_report.result(listing), lambda: params_report.report(listing, wide=_wide()), as_json=as_json
        )
        if output is not None:
            write_page(output, params_report.report(listing))
        return code
    pairs = pair_up(listings[0], listings[1], rules)
    found = pairs.by_size() if sort == "size" else pairs
    code = answer(params_pairs_report.result(found), lambda: params_pairs_report.report(found), as_json=as_json)
    if output is not None:
        write_page(output, params_pairs_report.report(found))
    return code


def _wide() -> bool:
    import shutil

    return shutil.get_terminal_size().columns >= _WIDE


def _start(stack: ExitStack, text: str) -> Side | str:
    """A path as it is, a model's process where a model is named."""
    if ":" not in text or _exists(text):
        return text
    from trueline.adapters.guest.entry import Entry
    from trueline.pair.sides.side import Side

    return stack.enter_context(Side.start(Entry.parse(text)))


def _exists(text: str) -> bool:
    try:
        return Path(text).exists()
    except (OSError, ValueError):
        return False


def _listing(side: Side | str, section: str | None, *, numbers: bool, alone: bool) -> Listing:
    if isinstance(side, str):
        return _of_file(side, section, numbers=numbers, alone=alone)
    if section is not None:
        raise BadUsage("params.no_section_of_model", section=section, model=str(side.entry))
    return _of_model(side, numbers=numbers and alone)


def _of_file(text: str, section: str | None, *, numbers: bool, alone: bool) -> Listing:
    from dataclasses import replace

    from trueline.cli.models import open_weights_at
    from trueline.cli.progress import bytes_progress
    from trueline.migrate.params import list_file, with_numbers

    path = Path(text)
    if not _exists(text) and path.suffix not in _ENDINGS and not path.is_symlink():
        raise BadUsage("params.no_such_thing", text=text)
    listing = list_file(open_weights_at(path), text, section=section)
    if not numbers:
        return replace(listing, tensors=[replace(tensor, stored=None) for tensor in listing.tensors])
    if not alone:
        return listing
    with bytes_progress(message("params.measuring")) as progress:
        return with_numbers(listing, progress)


def _of_model(side: Side, *, numbers: bool) -> Listing:
    from trueline.cli.models import known_of
    from trueline.migrate.params import list_model

    described = side.describe(summaries=numbers)
    return list_model(str(side.entry), known_of(described), aliases=described.aliases, left_out=described.left_out)
