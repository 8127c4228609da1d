"""What verbs share: common options, and the seam through which a verb that only reads gives its answer."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from trueline.cli.outcome import forget_stdout

if TYPE_CHECKING:
    from trueline.model.report import Report
    from trueline.model.result import Result

_Command = TypeVar("_Command", bound=Callable[..., Any])


class Seconds(click.FloatRange):
    """A length of time: a number above 0."""

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Not a number is no length, whatever it is compared with."""
        found = super().convert(value, param, ctx)
        if math.isnan(found):
            self.fail(str(value), param, ctx)
        return found


def json_flag(command: _Command) -> _Command:
    """``--json``, for verbs that only read; the callback gets ``as_json``."""
    return click.option("--json", "as_json", is_flag=True, help="cli.json")(command)


def timeout_option(command: _Command) -> _Command:
    """``--timeout SECONDS``, for verbs that ask a user's code; it holds for all guests that the verb starts."""
    return click.option(
        "--timeout",
        type=Seconds(),
        metavar="SECONDS",
        help="cli.timeout",
        expose_value=False,
        callback=be_patient,
    )(command)


def be_patient(ctx: click.Context, _: click.Parameter, seconds: float | None) -> float | None:
    """What ``--timeout`` asks for holds as long as the verb runs, and long waits are told of on stderr."""
    from trueline.adapters.guest.patience import DEFAULT_SECONDS, Patience, patient
    from trueline.cli.progress import WaitLine

    line = WaitLine()
    ctx.with_resource(patient(Patience(seconds or DEFAULT_SECONDS, line.show, line.wipe)))
    return seconds


def rank_option(command: _Command) -> _Command:
    """``--rank N``; the callback gets ``rank``, None when it was not given."""
    return click.option("--rank", type=click.IntRange(min=0), metavar="N", help="cli.rank")(command)


def answer(result: Result, report: Callable[[], Report], *, as_json: bool, verbose: bool = False) -> int:
    """Give a verb's answer on stdout, as JSON or as a report for people, and its exit code for the verb to return."""
    try:
        if as_json:
            sys.stdout.write(_writable(result.dump()) + "\n")
        else:
            # rich is loaded only where something is drawn: no help needs it.
            from trueline.report.terminal import render_report

            render_report(report(), sys.stdout, verbose=verbose)
        sys.stdout.flush()
    except BrokenPipeError:
        forget_stdout()
    return int(result.exit)


def _writable(text: str) -> str:
    """The JSON text, with escapes where stdout's encoding lacks a character."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(json.loads(text), indent=2)
    return text
