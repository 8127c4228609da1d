"""What would decide an item that is open: the commands that bring the evidence which was not at hand."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Final

from trueline.checks.engine.check import Check
from trueline.checks.engine.listing import experiment_of
from trueline.model.finding import Evidence
from trueline.model.message import Message, message

# What to give for each kind of evidence, where it is not known by name.
_PLACEHOLDERS: Final = {
    "SCRIPT": Evidence.SCRIPT,
    "RUN": Evidence.RUN,
    "DATA": Evidence.DATA,
    "WEIGHTS": Evidence.WEIGHTS,
    "BENCH_SCRIPT": Evidence.BENCH_SCRIPT,
    "BENCH_RUN": Evidence.BENCH_RUN,
    "BENCH_DATA": Evidence.BENCH_DATA,
}
_PLACEHOLDER: Final = re.compile(r"\b[A-Z][A-Z_]+\b")
RECORDING: Final = "trueline run --check SCRIPT"
_COMMANDS: Final = {
    frozenset({Evidence.SCRIPT}): "trueline check SCRIPT",
    frozenset({Evidence.RUN}): RECORDING,
    frozenset({Evidence.DATA}): "trueline check SCRIPT --data DATA",
    frozenset({Evidence.RUN, Evidence.WEIGHTS}): "trueline check RUN WEIGHTS",
    frozenset({Evidence.SCRIPT, Evidence.BENCH_SCRIPT}): "trueline check SCRIPT --bench BENCH_SCRIPT",
    frozenset({Evidence.RUN, Evidence.BENCH_RUN}): "trueline check RUN --bench BENCH_RUN",
    frozenset({Evidence.DATA, Evidence.BENCH_DATA}): "trueline check --data DATA --bench-data BENCH_DATA",
}


def decided_by(ways: Sequence[Check], at_hand: Iterable[str], looked_at: Mapping[str, str]) -> Message:
    """The commands that would decide an item, with the paths that are known; ``ways`` are all of that item."""
    commands = [_with_paths(command, looked_at) for command in _commands(ways, frozenset(at_hand))]
    words = [message("check.command", command=command) for command in dict.fromkeys(commands)]
    said = reduce(lambda before, sentence: message("check.or_command", before=before, other=sentence), words)
    return message("check.decided_by", commands=said)


def _commands(ways: Sequence[Check], at_hand: frozenset[str]) -> list[str]:
    code = ways[0].code
    experiment = experiment_of(code)
    if experiment is not None:
        return [experiment]
    asked = [way for way in ways if frozenset(way.evidence) in _COMMANDS]
    deciding = [way for way in asked if way.decides and not set(way.evidence) <= at_hand]
    if deciding:
        # What takes no benchmark is nearer.
        own = [way for way in deciding if not any(kind.startswith("bench_") for kind in way.evidence)]
        return [_COMMANDS[frozenset(way.evidence)] for way in own or deciding]
    if any(way.decides and way.evidence == (Evidence.RUN,) for way in asked):
        # What was recorded was too little.
        return [RECORDING]
    comparing = [way for way in asked if not set(way.evidence) <= at_hand]
    return [_COMMANDS[frozenset(way.evidence)] for way in comparing] or [f"trueline explain {code}"]


def _with_paths(command: str, looked_at: Mapping[str, str]) -> str:
    def path(placeholder: re.Match[str]) -> str:
        kind = _PLACEHOLDERS.get(placeholder.group())
        known = looked_at.get(kind.value) if kind is not None else None
        return shlex.quote(known) if known else placeholder.group()

    return _PLACEHOLDER.sub(path, command)
