"""``trueline pair``: two live networks, stage by stage, to every cause."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from trueline.cli.options import answer, json_flag, timeout_option
from trueline.cli.outcome import ended_cleanly
from trueline.cli.page import check_page, check_place, write_page
from trueline.cli.progress import doing
from trueline.cli.verb import Verb
from trueline.model.message import Message, message
from trueline.model.trouble import BadUsage
from trueline.record.stderr_line import write_line

_GROUPS: Final = {
    "pair.options_networks": ("bench", "port", "inputs", "args", "kwargs", "bench_kwargs", "port_kwargs", "weights"),
    "pair.options_compared": ("parts", "module", "map_file", "steps", "seed"),
    "pair.options_environments": ("bench_python", "port_python", "timeout"),
    "pair.options_answer": ("verbose", "output", "as_json", "tests", "force"),
}


@click.command("pair", cls=Verb, help="pair.help", groups=_GROUPS)
@click.option("--bench", required=True, metavar="MODULE:FACTORY", help="pair.option_bench")
@click.option("--port", required=True, metavar="MODULE:FACTORY", help="pair.option_port")
@click.option("--input", "inputs", multiple=True, metavar="SHAPE", help="pair.option_input")
@click.option("--args", metavar="JSON", help="pair.option_args")
@click.option("--kwargs", metavar="JSON", help="pair.option_kwargs")
@click.option("--bench-kwargs", metavar="JSON", help="pair.option_bench_kwargs")
@click.option("--port-kwargs", metavar="JSON", help="pair.option_port_kwargs")
@click.option("--parts", metavar="FILE", type=click.Path(path_type=Path), help="pair.option_parts")
@click.option("--weights", metavar="FILE", type=click.Path(path_type=Path), help="pair.option_weights")
@click.option("--bench-python", metavar="PYTHON", help="pair.option_bench_python")
@click.option("--port-python", metavar="PYTHON", help="pair.option_port_python")
@click.option("--module", metavar="PATH", default="", help="pair.option_module")
@click.option("--graft", "grafts", multiple=True, metavar="PATH", help="pair.option_graft")
@click.option("--map", "map_file", metavar="FILE", type=click.Path(path_type=Path), help="pair.option_map")
@click.option("--write-tests", "tests", metavar="FILE", type=click.Path(path_type=Path), help="pair.option_write_tests")
@click.option("--steps", type=click.IntRange(0, 10_000), metavar="K", help="pair.option_steps")
@click.option("--seed", default=0, type=click.IntRange(0, 2**32 - 1), metavar="N", help="pair.option_seed")
@timeout_option
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="pair.option_output")
@click.option("--force", is_flag=True, help="pair.option_force")
@click.option("-v", "--verbose", is_flag=True, help="pair.option_verbose")
@json_flag
def command(
    bench: str,
    port: str,
    inputs: Sequence[str],
    args: str | None,
    kwargs: str | None,
    bench_kwargs: str | None,
    port_kwargs: str | None,
    parts: Path | None,
    weights: Path | None,
    bench_python: str | None,
    port_python: str | None,
    module: str,
    grafts: Sequence[str],
    map_file: Path | None,
    tests: Path | None,
    steps: int | None,
    seed: int,
    output: Path | None,
    force: bool,
    verbose: bool,
    as_json: bool,
) -> int:
    """Put two networks side by side."""
    positional = _json("--args", args, list, [])
    shared = _json("--kwargs", kwargs, dict, {})
    named = [
        {**shared, **_json(option, text, dict, {})}
        for option, text in (("--bench-kwargs", bench_kwargs), ("--port-kwargs", port_kwargs))
    ]
    check_page(output, force)
    if tests is not None:
        _check_tests(tests, force)
    from trueline.adapters.guest.entry import Entry
    from trueline.compare.align import Rules
    from trueline.pair.pairing import Options, Wish, pair_sides
    from trueline.pair.report import report, result
    from trueline.pair.sides.inputs import make_inputs, parse_input

    given = [parse_input(value) for value in inputs]
    entries = [Entry.parse(one) for one in (bench, port)]
    wishes = [
        Wish(entry, positional, each, python or sys.executable)
        for entry, each, python in zip(entries, named, (bench_python, port_python), strict=True)
    ]
    options = Options(
        make_inputs(given, seed) if given else None,
        weights,
        parts,
        module,
        seed,
        steps,
        Rules.read(map_file),
        None,
        None,
        tests is not None,
        grafts,
    )
    with ended_cleanly(), doing(_said) as tell:
        paired = pair_sides(wishes[0], wishes[1], options, tell, _note)
    written = None
    if tests is not None and paired.kept is not None:
        from trueline.pair.written_tests import write_tests

        written = write_tests(tests, paired.kept, bench, entries[1], positional, named[1])
    if output is not None:
        write_page(output, report(paired, written))
    return answer(result(paired, written), lambda: report(paired, written), as_json=as_json, verbose=verbose)


def _check_tests(tests: Path, force: bool) -> None:
    """There must be a place for the file, and beside it for its arrays."""
    if tests.suffix and tests.suffix != ".py":
        raise BadUsage("pair.not_python", file=str(tests))
    check_place(tests, force)
    if not tests.suffix:
        raise BadUsage("pair.not_python", file=str(tests))
    check_place(tests.with_suffix(".npz"), force)


def _json(option: str, text: str | None, kind: type, otherwise: object) -> Any:
    if text is None:
        return otherwise
    try:
        found = json.loads(text)
    except ValueError as error:
        raise BadUsage("pair.bad_json", option=option, text=text, reason=str(error)) from None
    if not isinstance(found, kind):
        example = '[10, "small"]' if kind is list else '{"classes": 10}'
        raise BadUsage("pair.other_json", option=option, text=text, example=example)
    return found


def _said(what: str) -> Message:
    return message(f"pair.doing_{what}")


def _note(note: Message) -> None:
    write_line(f"trueline: {note.text()}")
