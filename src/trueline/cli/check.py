"""``trueline check [PATH…]``: the guide's checklist, filled in from scripts, runs and data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trueline.cli.options import answer, json_flag
from trueline.cli.page import start_lightly
from trueline.cli.verb import Verb
from trueline.model.trouble import BadUsage

if TYPE_CHECKING:
    from trueline.model.finding import Finding
    from trueline.script.script import Script

_BENCH = "--bench"
_WEIGHTS = (".pth", ".pt", ".bin", ".ckpt", ".safetensors")


class CheckVerb(Verb):
    """Everything after ``--bench`` up to the next option is the benchmark's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given: list[str] = []
        of_bench = False
        for one in args:
            if one.startswith("-"):
                of_bench = one == _BENCH
                if not of_bench:
                    given.append(one)
            elif of_bench:
                given.extend((_BENCH, one))
            else:
                given.append(one)
        return super().parse_args(ctx, given)


@click.command("check", cls=CheckVerb, help="check.help")
@click.argument("paths", metavar="[PATH…]", nargs=-1)
@click.option(_BENCH, multiple=True, metavar="PATH…", help="check.option_bench")
@click.option("--data", metavar="SOURCE", help="check.option_data")
@click.option("--bench-data", metavar="SOURCE", help="check.option_bench_data")
@click.option("--select", multiple=True, metavar="ITEM,…", help="check.option_select")
@click.option("--ignore", multiple=True, metavar="ITEM,…", help="check.option_ignore")
@json_flag
def command(
    paths: Sequence[str],
    bench: Sequence[str],
    data: str | None,
    bench_data: str | None,
    select: Sequence[str],
    ignore: Sequence[str],
    as_json: bool,
) -> int:
    """Fill in the checklist."""
    start_lightly()
    from trueline.checks.checklist import chosen, fill_in
    from trueline.checks.report import report_of, result_of
    from trueline.checks.settings import read_settings

    settings = read_settings(Path.cwd())
    checks = chosen(_items(select) or settings.select, [*_items(ignore), *settings.ignore])
    evidence, looked_at = _evidence(paths or ["."], "")
    if bench:
        of_bench, at_bench = _evidence(bench, "bench_")
        evidence |= of_bench
        looked_at |= at_bench
    for name, source in (("data", data), ("bench_data", bench_data)):
        if source is not None:
            evidence[name] = _described(source)
            looked_at[name] = source
    script = evidence.get("script")
    checklist = fill_in(checks, evidence, settings.limits, lambda one: _is_left_out(one, script), looked_at)
    return answer(result_of(checklist), lambda: report_of(checklist), as_json=as_json)


def _items(given: Sequence[str]) -> list[str]:
    return [one.strip() for text in given for one in text.split(",") if one.strip()]


def _evidence(paths: Sequence[str], side: str) -> tuple[dict[str, Any], dict[str, str]]:
    """What the paths are: scripts and folders of them, one run, one weight file."""
    from trueline.formats.run_folder.reader import open_run
    from trueline.script.script import read_script

    scripts: list[Path] = []
    evidence: dict[str, Any] = {}
    looked_at: dict[str, str] = {}
    for text in paths:
        path = Path(text)
        kind = _kind(path)
        if kind == "script":
            scripts.append(path)
            continue
        name = f"{side}{kind}"
        if name in evidence:
            raise BadUsage("check.twice", kind=kind, path=text)
        evidence[name] = open_run(path) if kind == "run" else path
        looked_at[name] = text
    if scripts:
        evidence[f"{side}script"] = read_script(scripts)
        looked_at[f"{side}script"] = " ".join(str(one) for one in scripts)
    return evidence, looked_at


def _kind(path: Path) -> str:
    from trueline.data.manifest.of_run import is_run

    if path.is_dir() and is_run(path):
        return "run"
    if path.suffix.lower() in _WEIGHTS:
        return "weights"
    if path.is_dir() or path.suffix == ".py" or not path.exists():
        return "script"
    raise BadUsage("check.what_is_it", path=str(path))


def _described(source: str) -> Any:
    from trueline.data.describing import Wanted, describe
    from trueline.data.sources.opening import open_source

    return describe(open_source(source), Wanted(), None)


def _is_left_out(finding: Finding, script: Script | None) -> bool:
    """A comment in the source asks not to be told."""
    if script is None or finding.where.file is None or finding.where.line is None:
        return False
    name = finding.where.file
    for source in script.files:
        if source.shown == name or str(source.path) == name or source.path.name == name:
            return source.leaves_out(finding.where.line, finding.where.line, finding.code)
    return False
