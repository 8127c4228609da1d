"""The help of a command as text that also aligns where characters are two columns wide."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence

import click

from trueline.cli.cells import columns, wrap
from trueline.cli.language import translate
from trueline.locale import render

_LEFT_AT_MOST = 26


def help_page(
    command: click.Command,
    ctx: click.Context,
    *,
    width: int = 78,
    verbs: Sequence[tuple[str, str]] = (),
    groups: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Usage, what the command does, its options, under headings where there are ``groups``, and its verbs."""
    lines = [usage_line(command, ctx), ""]
    for paragraph in translate(command.help or "").strip().split("\n"):
        lines += [f"  {line}" for line in wrap(paragraph, width - 2)] or [""]
    options = list(shown_options(command, ctx))
    left = max((columns(option_name(option)) for option in options), default=0)
    for heading, names in (groups or {}).items():
        lines += [
            "",
            render(heading),
            *_option_rows([option for option in options if option.name in names], width, left),
        ]
        options = [option for option in options if option.name not in names]
    lines += ["", render("cli.other_options" if groups else "cli.options"), *_option_rows(options, width, left)]
    if verbs:
        lines += ["", render("cli.commands"), *_two_columns(verbs, width)]
    # A terminal that lacks a character gets its escape: a help page must not fail.
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return ("\n".join(lines) + "\n").encode(encoding, "backslashreplace").decode(encoding)


def usage_line(command: click.Command, ctx: click.Context) -> str:
    """``Usage: trueline show [OPTIONS] RUN`` in the language in use."""
    pieces = [
        render("cli.options_word") if piece == "[OPTIONS]" else piece for piece in command.collect_usage_pieces(ctx)
    ]
    return render("cli.usage") + " ".join([ctx.command_path, *pieces])


def shown_options(command: click.Command, ctx: click.Context) -> Iterator[click.Option]:
    """The options that help speaks of, the verb's own first."""
    for param in command.get_params(ctx):
        if isinstance(param, click.Option) and not param.hidden:
            yield param


def option_name(option: click.Option) -> str:
    """``-o, --out RUN``."""
    names = ", ".join(sorted(option.opts, key=len))
    if option.secondary_opts:
        names += " / " + ", ".join(option.secondary_opts)
    if option.is_flag or option.count:
        return names
    if option.metavar is not None:
        return f"{names} {option.metavar}"
    if isinstance(option.type, click.Choice):
        return f"{names} {'|'.join(str(choice) for choice in option.type.choices)}"
    return f"{names} {'N' if isinstance(option.type, type(click.INT)) else option.type.name.upper()}"


def option_help(option: click.Option) -> str:
    """What the option does, in the language in use."""
    if "--help" in option.opts:
        return render("cli.help")
    return translate(option.help or "")


def _option_rows(options: Sequence[click.Option], width: int, left: int) -> Iterator[str]:
    return _two_columns([(option_name(option), option_help(option)) for option in options], width, left)


def _two_columns(rows: Sequence[tuple[str, str]], width: int, left: int | None = None) -> Iterator[str]:
    left = min(max((columns(name) for name, _ in rows), default=0) if left is None else left, _LEFT_AT_MOST)
    for name, text in rows:
        lines = wrap(text, width - left - 4)
        if columns(name) > left:
            yield f"  {name}"
        else:
            yield f"  {name}{' ' * (left - columns(name) + 2)}{lines.pop(0) if lines else ''}".rstrip()
        for line in lines:
            yield " " * (left + 4) + line
