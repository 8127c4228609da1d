"""``trueline api [NAME]``: what an API is in the other framework, and what the lab has measured of the two."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trueline.cli.options import answer, json_flag
from trueline.cli.verb import Verb
from trueline.model.trouble import BadFile, BadUsage

if TYPE_CHECKING:
    from trueline.apitable.pairs import Documented, Machine, Measured, Table
    from trueline.apitable.ways_out import WayOut
    from trueline.migrate.scan.counterparts import Counterparts
    from trueline.model.message import Message
    from trueline.model.report import Report

_OUTCOMES = ("equal", "equal_with", "differs", "raises", "no_kernel", "missing", "unmeasured", "all")
_NEAREST = 4
_PACKAGES = ("torch.", "torchvision.", "torchaudio.", "torchtext.", "mindspore.")


@click.command("api", cls=Verb, help="api.help")
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--list", "listed", type=click.Choice(_OUTCOMES), help="api.option_list")
@click.option("--run", "measure", is_flag=True, help="api.option_run")
@click.option("--cases", type=click.IntRange(1, 100_000), default=100, show_default=True, help="api.option_cases")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="api.option_seed")
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True, help="api.option_jobs")
@click.option("--torch-python", metavar="PYTHON", help="api.option_torch_python")
@click.option("--mindspore-python", metavar="PYTHON", help="api.option_mindspore_python")
@click.option("--table", "table_file", metavar="FILE", type=click.Path(path_type=Path), help="api.option_table")
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="api.option_output")
@click.option("--force", is_flag=True, help="api.option_force")
@json_flag
def command(
    name: str | None,
    listed: str | None,
    measure: bool,
    cases: int,
    seed: int,
    jobs: int,
    torch_python: str | None,
    mindspore_python: str | None,
    table_file: Path | None,
    output: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    """Show, list or measure."""
    from trueline.apitable.pairs import Outcome, documented, row_of
    from trueline.cli.page import check_place, start_lightly
    from trueline.migrate.lab.report import list_conclusion, list_report, named_conclusion, result

    if name is not None and listed is not None:
        raise BadUsage("api.name_or_list")
    if output is not None and not measure:
        raise BadUsage("api.output_only_run")
    if output is not None:
        check_place(output, force)
    start_lightly()
    way = _way_of(name) if name is not None and not measure else None
    if name is not None and way is not None and not _known_pairs(name):
        return _answer_of_way(name, way, as_json)
    pairs = list(documented()) if name is None else _pairs_of(name)
    if measure:
        machine, rows = _measured(pairs, seed, cases, jobs, torch_python, mindspore_python)
        if output is not None:
            _write(output, *_joined(read_table(table_file), machine, rows) if table_file else (machine, rows))
    else:
        table = read_table(table_file)
        machine, rows = table.machine, [row_of(pair, table) for pair in pairs]
    found = list(zip(pairs, rows, strict=True))
    if listed not in (None, "all"):
        found = [(pair, row) for pair, row in found if row.outcome is Outcome(listed)]
    if name is not None:
        conclusion = named_conclusion(pairs[0].of(_framework(pairs[0], name)), found)
        return _answer_of_pairs(name, found, machine, conclusion, way, as_json)
    conclusion = list_conclusion(found, machine)
    return answer(result(found, machine, conclusion), lambda: list_report(found, machine, conclusion), as_json=as_json)


def _framework(pair: Documented, name: str) -> str:
    if name.startswith(("torch.", "mindspore.")):
        return name.partition(".")[0]
    return "torch" if pair.torch.lower().endswith(name.lower()) else "mindspore"


def _way_of(name: str) -> WayOut | None:
    """What to do with a name, where that is known: as ``scan`` answers."""
    from trueline.apitable.ways_out import same_name, way_out
    from trueline.script.canonical import canonical

    if (way := way_out(canonical(name))) is not None or _known_pairs(name):
        return way
    same = _counterparts(name).name
    return same_name(same) if same else None


def _known_pairs(name: str) -> list[Documented]:
    """The pairs of a full name, also of another spelling of it."""
    from trueline.apitable.pairs import pairs_by_name

    by_name = pairs_by_name()
    return list(by_name[name] if name in by_name else _counterparts(name).pairs)


def _counterparts(name: str) -> Counterparts:
    from trueline.migrate.scan.counterparts import Counterparts, counterparts
    from trueline.script.canonical import canonical

    source = "mindspore" if name.startswith("mindspore.") else "torch"
    if not name.startswith(_PACKAGES):
        return Counterparts()
    return counterparts(canonical(name), name, source)


def _answer_of_way(name: str, way: WayOut, as_json: bool) -> int:
    from trueline.migrate.lab.report import way_report, way_result

    return answer(way_result(name, way), lambda: way_report(name, way), as_json=as_json)


def _answer_of_pairs(
    name: str,
    rows: Sequence[tuple[Documented, Measured]],
    machine: Machine,
    conclusion: Message,
    way: WayOut | None,
    as_json: bool,
) -> int:
    """The pairs of a name with their evidence, and what to do where they do not do."""
    from trueline.migrate.lab.report import named_report, result, way_report, way_result
    from trueline.model.report import Text

    told = result(rows, machine, conclusion)
    if way is None:
        return answer(told, lambda: named_report(rows, machine, conclusion), as_json=as_json)
    told = replace(told, fields={**told.fields, "way": way_result(name, way).fields["way"]})

    def report() -> Report:
        of_pairs, of_way = named_report(rows, machine, conclusion), way_report(name, way)
        return replace(of_pairs, blocks=[Text(of_way.conclusion), *of_way.blocks, *of_pairs.blocks])

    return answer(told, report, as_json=as_json)


def _pairs_of(name: str) -> list[Documented]:
    """The pairs of a full name, or of the end of one; BadUsage with what is spelled like it where there is none."""
    from difflib import get_close_matches

    from trueline.apitable.pairs import documented, pairs_by_name

    by_name = pairs_by_name()
    if known := _known_pairs(name):
        return known
    ending = "." + name.lower()
    found = [pair for pair in documented() if (("." + pair.torch.lower()).endswith(ending))]
    found = found or [pair for pair in documented() if ("." + pair.mindspore.lower()).endswith(ending)]
    if not found:
        near = get_close_matches(name, by_name, _NEAREST)
        if near:
            raise BadUsage("api.no_such_name", name=name, near=", ".join(near))
        raise BadUsage("api.nothing_like_it", name=name)
    return found


def read_table(path: Path | None) -> Table:
    """A measured table from a file; the one of the package where there is none."""
    import msgspec

    from trueline.apitable.pairs import decoded, measured

    if path is None:
        return measured()
    try:
        return decoded(path.read_bytes())
    except OSError as error:
        raise BadFile(path, error.strerror or str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadFile(path, str(error)[:200]) from None


def _measured(
    pairs: Sequence[Documented],
    seed: int,
    cases: int,
    jobs: int,
    torch_python: str | None,
    mindspore_python: str | None,
) -> tuple[Machine, list[Measured]]:
    from trueline.cli.progress import StepsLine
    from trueline.migrate.lab.tabling import table_of
    from trueline.model.message import message

    line = StepsLine()
    try:
        return table_of(
            pairs,
            seed=seed,
            cases=cases,
            jobs=jobs,
            torch_python=torch_python or sys.executable,
            mindspore_python=mindspore_python or sys.executable,
            progress=lambda done, count, name: line.show(done, count, message("api.measuring", name=name)),
        )
    finally:
        line.wipe()


def _joined(table: Table, machine: Machine, rows: Sequence[Measured]) -> tuple[Machine, list[Measured]]:
    """A table with rows that were measured again on the same versions in place of its own."""
    import msgspec

    versions = (machine.torch_version, machine.mindspore_version, machine.device)
    if versions != (table.machine.torch_version, table.machine.mindspore_version, table.machine.device):
        raise BadUsage("api.other_versions")
    kept = {**table.rows, **{(row.torch, row.mindspore): row for row in rows}}
    return msgspec.structs.replace(table.machine, cases=table.machine.cases + machine.cases), list(kept.values())


def _write(path: Path, machine: Machine, rows: Sequence[Measured]) -> None:
    from trueline.apitable.pairs import table_bytes
    from trueline.formats.run_folder.appending import replace_file
    from trueline.model.message import message
    from trueline.record.stderr_line import write_line

    try:
        replace_file(path, table_bytes(machine, rows))
    except OSError as error:
        raise BadFile(path, error.strerror or str(error)) from None
    write_line(f"trueline: {message('compare.written', file=str(path)).text()}")
