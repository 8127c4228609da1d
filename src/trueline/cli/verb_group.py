"""A command that only knows its verbs by name, and loads the one that is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from trueline.cli.help_page import help_page
from trueline.cli.language import choose_language, lang_option
from trueline.cli.outcome import Outcome
from trueline.locale import render, use_language


class Verbs(click.Group):
    """``trueline``, and a verb of several; ``table`` has of each the module whose ``command`` it is, and its line."""

    def __init__(self, name: str, *, table: Mapping[str, tuple[str, str]], about: str, **settings: Any) -> None:
        settings["params"] = [lang_option(), *settings.get("params", ())]
        super().__init__(
            name,
            callback=_without_verb,
            invoke_without_command=True,
            help=about,
            subcommand_metavar="VERB ...",
            **settings,
        )
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in self.table:
            return None
        command = import_module(self.table[cmd_name][0]).command
        if not isinstance(command, click.Command):
            raise TypeError(f"{self.table[cmd_name][0]}.command is not a click command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.table and not ctx.resilient_parsing:
            raise click.UsageError(_no_such_verb(args[0], self.table), ctx)
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        choose_language(self, args, interspersed=False)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        verbs = [(name, render(line)) for name, (_, line) in self.table.items()]
        formatter.write(help_page(self, ctx, width=formatter.width, verbs=verbs))

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> NoReturn:  # type: ignore[override]
        """Run a command line and end the process with its exit code."""
        use_language(None)
        with Outcome() as outcome:
            code = super().main(args, prog_name or "trueline", standalone_mode=False, **extra)
            outcome.end(code)
        raise SystemExit(outcome.code)


def _no_such_verb(name: str, table: Mapping[str, tuple[str, str]]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, table)
    if near:
        return render("cli.no_such_verb_near", {"verb": name, "near": ", ".join(near)})
    return render("cli.no_such_verb", {"verb": name})


@click.pass_context
def _without_verb(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        ctx.exit(2)
