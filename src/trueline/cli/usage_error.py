"""click's usage errors as one line in the language in use."""

from __future__ import annotations

import click

from trueline.locale import render


def usage_error_line(error: click.ClickException) -> str:
    """What is wrong with the command line, and where help is."""
    text = _what(error)
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    if ctx is None:
        return text
    return render("cli.usage_error", {"error": text, "command": ctx.command_path})


def _what(error: click.ClickException) -> str:
    if isinstance(error, click.NoSuchOption):
        if error.possibilities:
            return render(
                "cli.no_such_option_near", {"option": error.option_name, "near": ", ".join(sorted(error.possibilities))}
            )
        return render("cli.no_such_option", {"option": error.option_name})
    if isinstance(error, click.BadOptionUsage):
        if _is_flag(error):
            return render("cli.option_takes_no_value", {"option": error.option_name})
        return render("cli.option_needs_value", {"option": error.option_name})
    if isinstance(error, click.MissingParameter):
        return render("cli.missing_parameter", {"name": _parameter(error)})
    if isinstance(error, click.BadParameter):
        return render("cli.bad_value", {"name": _parameter(error), "reason": _reason(error)})
    if isinstance(error, click.FileError):
        return render("cli.bad_value", {"name": error.ui_filename, "reason": error.message})
    return error.message


def _is_flag(error: click.BadOptionUsage) -> bool:
    params = error.ctx.command.params if error.ctx is not None else []
    return any(
        isinstance(param, click.Option) and param.is_flag and error.option_name in param.opts for param in params
    )


def _parameter(error: click.BadParameter) -> str:
    if error.param is None:
        hint = error.param_hint
        return hint if isinstance(hint, str) else " ".join(hint or ())
    if isinstance(error.param, click.Option):
        return max(error.param.opts, key=len)
    return error.param.human_readable_name


def _reason(error: click.BadParameter) -> str:
    """Ours for the types whose sentences click writes in English, else the one a verb gave."""
    kind = error.param.type if error.param is not None else None
    if isinstance(kind, click.Choice):
        return render("cli.expected_one_of", {"choices": ", ".join(str(choice) for choice in kind.choices)})
    if isinstance(kind, click.IntRange) and kind.max is not None:
        return render("cli.expected_whole_between", {"minimum": kind.min, "maximum": kind.max})
    if isinstance(kind, click.IntRange):
        return render("cli.expected_whole_from", {"minimum": kind.min if kind.min is not None else "-inf"})
    if isinstance(kind, click.FloatRange) and kind.min is not None and kind.min_open:
        return render("cli.expected_number_above", {"minimum": kind.min})
    if kind is click.INT:
        return render("cli.expected_whole")
    if kind is click.FLOAT:
        return render("cli.expected_number")
    return error.message
