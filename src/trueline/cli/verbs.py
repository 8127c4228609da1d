"""The verbs, by name, and the group that loads one only when it is called."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from trueline.cli.help_page import help_page
from trueline.cli.language import choose_language, lang_option
from trueline.cli.outcome import Outcome
from trueline.locale import render, use_language
from trueline.version import __version__

# name: (the module whose ``command`` it is, the id of its one line in the list of verbs)
VERBS = {
    "run": ("trueline.cli.run", "cli.verb_run"),
    "runs": ("trueline.cli.runs", "cli.verb_runs"),
    "show": ("trueline.cli.show", "cli.verb_show"),
    "compare": ("trueline.cli.compare", "cli.verb_compare"),
    "pair": ("trueline.cli.pair", "cli.verb_pair"),
    "watch": ("trueline.cli.watch", "cli.verb_watch"),
    "repro": ("trueline.cli.repro", "cli.verb_repro"),
    "replay": ("trueline.cli.replay", "cli.verb_replay"),
    "convert": ("trueline.cli.convert", "cli.verb_convert"),
    "params": ("trueline.cli.params", "cli.verb_params"),
    "demo": ("trueline.cli.demo", "cli.verb_demo"),
}


class Verbs(click.Group):
    """The ``trueline`` command: knows its verbs by name and imports the one that is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in VERBS:
            return None
        command = import_module(VERBS[cmd_name][0]).command
        if not isinstance(command, click.Command):
            raise TypeError(f"{VERBS[cmd_name][0]}.command is not a click command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in VERBS and not ctx.resilient_parsing:
            raise click.UsageError(_no_such_verb(args[0]), ctx)
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        choose_language(self, args, interspersed=False)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        verbs = [(name, render(line)) for name, (_, line) in VERBS.items()]
        formatter.write(help_page(self, ctx, width=formatter.width, verbs=verbs))

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> NoReturn:  # type: ignore[override]
        """Run a command line and end the process with its exit code."""
        use_language(None)
        with Outcome() as outcome:
            code = super().main(args, prog_name or "trueline", standalone_mode=False, **extra)
            outcome.end(code)
        raise SystemExit(outcome.code)


def _no_such_verb(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, VERBS)
    if near:
        return render("cli.no_such_verb_near", {"verb": name, "near": ", ".join(near)})
    return render("cli.no_such_verb", {"verb": name})


def _print_version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        click.echo(f"trueline {__version__}")
        ctx.exit()


@click.pass_context
def _without_verb(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        ctx.exit(2)


trueline = Verbs(
    "trueline",
    callback=_without_verb,
    invoke_without_command=True,
    help="cli.about",
    subcommand_metavar="VERB ...",
    params=[
        lang_option(),
        click.Option(
            ["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="cli.version"
        ),
    ],
)
