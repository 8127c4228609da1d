"""What a verb of the command line is: a click command whose texts are message ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from trueline.cli.help_page import help_page
from trueline.cli.language import choose_language, lang_option
from trueline.locale import render


class Verb(click.Command):
    """A command with ``--lang``, with help and errors in the chosen language.

    ``help`` of the verb and of its options may be message ids: they are looked up when shown,
    after ``--lang`` was read. What a callback returns is the exit code (None is 0).
    ``groups`` puts options under headings in the help: message ids with the names of parameters; the others come last.
    """

    def __init__(self, name: str | None, **settings: Any) -> None:
        self.groups: Mapping[str, Sequence[str]] = settings.pop("groups", {})
        super().__init__(name, **settings)
        self.params.append(lang_option())

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        choose_language(self, args, interspersed=ctx.allow_interspersed_args)
        may_have_more, ctx.allow_extra_args = ctx.allow_extra_args, True
        try:
            rest = super().parse_args(ctx, args)
        except click.UsageError as error:
            # click's parser does not always say which command an error is about.
            error.ctx = error.ctx or ctx
            raise
        if rest and not may_have_more and not ctx.resilient_parsing:
            raise click.UsageError(render("cli.extra_arguments", {"arguments": " ".join(rest)}), ctx)
        return rest

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(help_page(self, ctx, width=formatter.width, groups=self.groups))
