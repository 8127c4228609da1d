"""``trueline convert IN OUT``: a weight file in another format, under the other framework's names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trueline.cli.options import answer, json_flag, timeout_option
from trueline.cli.outcome import ended_cleanly
from trueline.cli.page import check_place, start_lightly
from trueline.cli.verb import Verb
from trueline.model.message import Message, message
from trueline.model.trouble import BadUsage, Trouble

if TYPE_CHECKING:
    from trueline.formats.weights import Weights
    from trueline.pair.sides.side import Side

_FORMATS = ("pth", "ckpt", "safetensors", "npz")
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)\s*([kmgt]?)i?b?", re.IGNORECASE)
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_LARGEST = 5 * 10**9


@click.command("convert", cls=Verb, help="convert.help")
@click.argument("source", metavar="IN", type=click.Path(path_type=Path))
@click.argument("output", metavar="OUT", type=click.Path(path_type=Path))
@click.option("--to", type=click.Choice(_FORMATS), help="convert.option_to")
@click.option("--names", type=click.Choice(["torch", "mindspore", "same"]), help="convert.option_names")
@click.option("--model", metavar="MODULE:FACTORY", help="convert.option_model")
@click.option("--like", metavar="FILE", type=click.Path(path_type=Path), help="convert.option_like")
@click.option("--map", "map_file", metavar="FILE", type=click.Path(path_type=Path), help="convert.option_map")
@click.option("--strip", metavar="PREFIX", help="convert.option_strip")
@click.option("--add", metavar="PREFIX", default="", help="convert.option_add")
@click.option("--drop", multiple=True, metavar="PATTERN", help="convert.option_drop")
@click.option("--section", metavar="NAME", help="convert.option_section")
@click.option("--keep", multiple=True, metavar="SECTION", help="convert.option_keep")
@click.option("--allow-missing", is_flag=True, help="convert.option_allow_missing")
@click.option("--shard", metavar="SIZE", help="convert.option_shard")
@click.option("--verify", nargs=2, metavar="BENCH PORT", help="convert.option_verify")
@click.option("--input", "inputs", multiple=True, metavar="SHAPE", help="convert.option_input")
@click.option("--dry-run", "dry", is_flag=True, help="convert.option_dry_run")
@click.option("--force", is_flag=True, help="convert.option_force")
@timeout_option
@json_flag
def command(
    source: Path,
    output: Path,
    to: str | None,
    names: str | None,
    model: str | None,
    like: Path | None,
    map_file: Path | None,
    strip: str | None,
    add: str,
    drop: Sequence[str],
    section: str | None,
    keep: Sequence[str],
    allow_missing: bool,
    shard: str | None,
    verify: tuple[str, str] | None,
    inputs: Sequence[str],
    dry: bool,
    force: bool,
    as_json: bool,
) -> int:
    """Convert a weight file."""
    if model is not None and like is not None:
        raise BadUsage("convert.not_both")
    if section is not None and verify is not None:
        raise BadUsage("convert.section_with_verify")
    if inputs and verify is None:
        raise BadUsage("convert.input_only")
    _check_inputs(inputs)
    start_lightly()
    from trueline.cli.models import known_of, open_weights_at
    from trueline.compare.align import Rules
    from trueline.formats.kinds import Format
    from trueline.formats.saving import SHARDS, format_of
    from trueline.migrate.converting import prepare, zero_weights
    from trueline.migrate.modules import Naming
    from trueline.migrate.planning import Wish
    from trueline.migrate.report import Converted, report, result

    format = format_of(output, to)
    shard_bytes = _size(shard) if shard is not None else _LARGEST if output.name.endswith(SHARDS) else None
    if shard_bytes is not None and format is not Format.SAFETENSORS:
        raise BadUsage("convert.shard_only")
    if not dry:
        check_place(output, force)
    weights = _section(open_weights_at(source), section)
    if not dry and output.exists() and output.samefile(weights.path):
        raise BadUsage("convert.same_file")
    rules = Rules.read(map_file)
    likes = open_weights_at(like) if like is not None else None
    with _sides([model] if model is not None else [], verify) as (models, checked):
        wish = Wish(
            names=Naming(names) if names in ("torch", "mindspore") else None,
            keep_names=names == "same",
            models=[known_of(side.describe()) for side in (*models, *checked)],
            like=likes,
            rules=rules,
            strip=strip,
            add=add,
            drop=drop,
        )
        prepared = prepare(weights, format, wish, keep)
        writing = not dry and (prepared.plan.whole or allow_missing)
        extra: dict[str, Any] = {}
        zeros: list[Message] = []
        if writing:
            # What cannot be verified is said before the work.
            arrays = _fed(checked[0], source, inputs) if checked else []
            from trueline.cli.progress import bytes_progress

            with ended_cleanly(), bytes_progress(message("convert.writing")) as progress:
                prepared.write(output, force=force, progress=progress, shard_bytes=shard_bytes)
            if checked:
                extra = _verified(checked, source, output, arrays)
                zeros = zero_weights(prepared.plan)
    done = Converted(
        source,
        output,
        prepared.plan,
        prepared.dropped,
        writing,
        dry,
        allowed=allow_missing,
        notes=[*prepared.kept.notes, *zeros],
        beside=prepared.kept.count,
        **extra,
    )
    return answer(result(done, listed=as_json), lambda: report(done), as_json=as_json)


def _section(weights: Weights, name: str | None) -> Weights:
    """The file with another section in the place of the model."""
    from trueline.formats.weights import MODEL

    if name is None:
        return weights
    if name == MODEL or name not in weights.sections:
        there = ", ".join(section for section in weights.sections if section) or "-"
        raise BadUsage("convert.no_section", section=name, there=there)
    return replace(weights, sections={MODEL: weights.sections[name]}, others={}, nested="", whole=None)


def _verified(sides: Sequence[Side], source: Path, output: Path, arrays: Sequence[Any]) -> dict[str, Any]:
    from trueline.cli.verifying import verified

    try:
        return verified(sides, source, output, arrays)
    except Trouble as trouble:
        # The work is done, and the user is to know that too.
        raise BadUsage("convert.unverified", file=str(output), reason=str(trouble)) from None


def _fed(bench: Side, source: Path, inputs: Sequence[str]) -> list[Any]:
    from trueline.cli.verifying import fed

    return fed(bench, source, inputs)


def _check_inputs(inputs: Sequence[str]) -> None:
    if inputs:
        from trueline.pair.sides.inputs import parse_input

        for value in inputs:
            parse_input(value)


def _size(text: str) -> int:
    match = _SIZE.fullmatch(text.strip())
    size = int(float(match[1]) * _UNITS[match[2].lower()]) if match is not None else 0
    if size < 1:
        raise BadUsage("convert.bad_size", text=text)
    return size


@contextmanager
def _sides(models: Sequence[str], verify: tuple[str, str] | None) -> Iterator[tuple[Sequence[Side], Sequence[Side]]]:
    """The user's models, each in a process of its own: those that give names, and those to verify with."""
    if not models and verify is None:
        yield (), ()
        return
    from contextlib import ExitStack

    from trueline.adapters.guest.entry import Entry
    from trueline.pair.sides.side import Side

    entries = [Entry.parse(one) for one in (*models, *(verify or ()))]
    with ExitStack() as stack:
        sides = [stack.enter_context(Side.start(entry)) for entry in entries]
        yield sides[: len(models)], sides[len(models) :]
