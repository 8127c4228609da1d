"""Which language a command line asks for, found before any help or error text is built."""

from __future__ import annotations

from collections.abc import Sequence

import click

from trueline.locale import LANGUAGES, render, use_language

LANG = "--lang"


def choose_language(command: click.Command, args: Sequence[str], *, interspersed: bool = True) -> None:
    """Use the language that ``--lang`` in these arguments of a command asks for, if there is one."""
    asked = _asked(command, args, interspersed)
    if asked in LANGUAGES:
        use_language(asked)


def lang_option() -> click.Option:
    """The ``--lang`` option every verb has; its work is done by ``choose_language``."""
    return click.Option([LANG], type=click.Choice(list(LANGUAGES)), expose_value=False, help="cli.lang")


def translate(text: str) -> str:
    """A message id's sentence in the language in use; any other text as it is."""
    return render(text) if "." in text and " " not in text else text


def _asked(command: click.Command, args: Sequence[str], interspersed: bool) -> str | None:
    """The last value of ``--lang``, stopping where the command's own options stop."""
    found = None
    rest = iter(args)
    for arg in rest:
        if arg == "--":
            break
        if not arg.startswith("-") or arg == "-":
            if interspersed:
                continue
            break
        name, joined, value = arg.partition("=")
        if name == LANG:
            found = value if joined else next(rest, None)
        elif not joined:
            for _ in range(_values_after(command, name)):
                next(rest, None)
    return found


def _values_after(command: click.Command, name: str) -> int:
    """How many arguments after this one are its values: of ``-mo`` those of ``-o``, of ``-oRUN`` none."""
    if name.startswith("--"):
        return _values(command, name) or 0
    for place, letter in enumerate(name[1:], 2):
        values = _values(command, f"-{letter}")
        if values != 0:
            return values if values is not None and place == len(name) else 0
    return 0


def _values(command: click.Command, name: str) -> int | None:
    """How many values an option takes; None for one the command does not have."""
    for param in command.params:
        if isinstance(param, click.Option) and name in (*param.opts, *param.secondary_opts):
            return 0 if param.is_flag or param.count else param.nargs
    return None
