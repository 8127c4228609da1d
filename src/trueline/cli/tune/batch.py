"""``trueline tune batch SCRIPT [args…]``: a ladder of batch sizes at a constant ratio of learning rate to batch."""

from __future__ import annotations

from pathlib import Path

import click

from trueline.cli.script_verb import ScriptVerb
from trueline.cli.tune.experimenting import check_begun, experimenting, give
from trueline.model.trouble import BadUsage

_MOST = 1 << 24


class Sizes(click.ParamType[list[int]]):
    """Batch sizes with commas between them."""

    name = "sizes"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> list[int]:
        """At least two different ones."""
        del param, ctx
        try:
            found = sorted({int(one) for one in str(value).split(",")})
        except ValueError:
            raise BadUsage("tune_batch.bad_sizes", sizes=value) from None
        if len(found) < 2 or found[0] < 1 or found[-1] > _MOST:
            raise BadUsage("tune_batch.bad_sizes", sizes=value)
        return found


@click.command("batch", cls=ScriptVerb, help="tune_batch.help", quiet="tune.option_quiet", json="tune.option_json")
@click.option("--sizes", type=Sizes(), metavar="N,N…", help="tune_batch.option_sizes")
@click.option("--arg", "size_argument", metavar="NAME", help="tune_batch.option_arg")
@click.option("--lr-arg", "rate_argument", metavar="NAME", help="tune_batch.option_lr_arg")
@click.option("--samples", type=click.IntRange(1), metavar="N", help="tune_batch.option_samples")
@click.option("--epochs", type=click.IntRange(1), metavar="N", help="tune_batch.option_epochs")
@click.option("--metric", metavar="NAME", help="tune_batch.option_metric")
@click.option("--repeats", type=click.IntRange(1, 100), default=1, metavar="N", help="tune_batch.option_repeats")
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="compare.option_output")
@click.option("--force", is_flag=True, help="compare.option_force")
@click.option("--keep", metavar="DIR", type=click.Path(path_type=Path), help="tune.option_keep")
def command(
    sizes: list[int] | None,
    size_argument: str | None,
    rate_argument: str | None,
    samples: int | None,
    epochs: int | None,
    metric: str | None,
    repeats: int,
    output: Path | None,
    force: bool,
    keep: Path | None,
    as_module: bool,
    quiet: bool,
    json_file: str | None,
    command_line: tuple[str, ...],
) -> int:
    """Train with one batch size after another."""
    if samples is not None and epochs is not None:
        raise BadUsage("tune_batch.samples_or_epochs")
    for name in (size_argument, rate_argument):
        if name is not None and not name.strip("-="):
            raise BadUsage("tune_batch.empty_argument")
    check_begun(output, force, json_file, command_line)
    with experimenting(command_line, as_module=as_module, keep=keep, quiet=quiet) as runner:
        from trueline.tune.batch.ladder import Ladder

        source = _source(runner.command.script, as_module)
        found = Ladder(
            runner.run,
            runner.command.args,
            sizes,
            _spelled(size_argument, source),
            _spelled(rate_argument, source),
            samples,
            epochs,
            repeats,
            metric,
            runner.show,
        ).climb()
    from trueline.tune.batch import report

    return give(
        report.result(found, runner.root),
        report.report(found, runner.root),
        output=output,
        json_file=json_file,
        interrupted=found.interrupted,
    )


def _source(script: str, as_module: bool) -> str:
    """The script's text, to see how it writes its arguments."""
    return "" if as_module else Path(script).read_text(encoding="utf-8", errors="replace")


def _spelled(name: str | None, source: str) -> str | None:
    from trueline.tune.batch.arguments import spelled

    return spelled(name, source) if name is not None else None
