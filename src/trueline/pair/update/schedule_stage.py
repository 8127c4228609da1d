"""The schedule: the learning rates of both sides over a whole training, and why they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from trueline.model.curve import Curve
from trueline.model.json_value import Json
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.model.report import Curves
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.blame import Blame, Setting, Stage, StageResult, StageVerdict
from trueline.pair.questions.parts import Schedule, ScheduledRates
from trueline.pair.sides.parts import Parts, skipped
from trueline.pair.sides.side import Side
from trueline.pair.update.blames import Compared
from trueline.pair.update.schedule_forms import CLOSE, Explained, Rates

_EDIT_WHEN: Final = {"late": "sooner", "early": "later"}
Groups = tuple[int, int]


def schedule_stage(bench: Side, port: Side, aligned: Aligned, parts: Parts) -> StageResult:
    """Compare the rates of every pair of groups that have a parameter in common."""
    if not parts.both("optimizer"):
        return skipped(Stage.UPDATE, parts, "optimizer")
    pairs = [pair for pair in aligned.pairs if not pair.bench.buffer and not pair.port.buffer]
    there = bench.answer(Schedule([pair.bench.name for pair in pairs]))
    here = port.answer(Schedule([pair.port.name for pair in pairs], there.epochs, there.steps_per_epoch))
    if not (there.about.scheduled or here.about.scheduled):
        return StageResult(Stage.UPDATE, StageVerdict.SKIPPED, message("pair_update.schedule_none"))
    lines = (_line(here, parts.port_lines), _line(there, parts.bench_lines))
    compared = Compared(aligned, pairs, there.about.type, here.about.type, *lines)
    places = _groups(there.about.group_of, here.about.group_of)
    rates = {
        groups: Rates(there.steps, there.rates[:, groups[0]], here.rates[:, groups[1]], there.steps_per_epoch)
        for groups in places
    }
    blames = list(_blames(compared, rates, places))
    level = max((curves.level for curves in rates.values()), default=0.0)
    steps = there.epochs * there.steps_per_epoch
    blocks = [_curves(max(rates.values(), key=lambda rates: rates.level), bench, port)] if rates else []
    if blames:
        text = message("pair_update.schedule_found", steps=steps, level=level)
        return StageResult(Stage.UPDATE, StageVerdict.FOUND, text, blames, blocks=blocks)
    text = message("pair_update.schedule_passed", steps=steps, level=level)
    out = message("pair_update.schedule_rules_out")
    return StageResult(Stage.UPDATE, StageVerdict.PASSED, text, rules_out=out, blocks=blocks)


def _line(rates: ScheduledRates, lines: Mapping[str, Location]) -> Location | None:
    """Of the schedule where it is one beside the optimizer, else of what built that."""
    own = lines.get("schedule") if rates.beside else None
    return own or rates.about.line or lines.get("optimizer")


def _groups(bench: Sequence[int | None], port: Sequence[int | None]) -> dict[Groups, list[int]]:
    """The parameters, by the groups that they are in on both sides."""
    found: dict[Groups, list[int]] = {}
    for place, (there, here) in enumerate(zip(bench, port, strict=True)):
        if there is not None and here is not None:
            found.setdefault((there, here), []).append(place)
    return found


def _blames(
    compared: Compared, rates: Mapping[Groups, Rates], places: Mapping[Groups, Sequence[int]]
) -> Iterator[Blame]:
    """One blame per reason, with all the parameters that it holds for."""
    reasons: dict[tuple[str, str], tuple[Explained, float, list[int]]] = {}
    for groups, curves in rates.items():
        explained = curves.explained()
        if explained is not None:
            # Rates of groups are multiples of each other: a reason is the same whatever the rate.
            same = (explained.text, str(explained.words["factor"]) if "factor" in explained.words else "")
            reason = reasons.setdefault(same, (explained, curves.level, []))
            reason[2].extend(places[groups])
    for explained, level, members in reasons.values():
        yield compared.blame(
            explained.cause,
            message(f"pair_update.{explained.text}", **_words(explained.words)),
            sorted(members),
            bench=explained.bench,
            port=explained.port,
            confirmed=explained.exact,
            measured=level,
            limit=CLOSE,
            left=0.0 if explained.exact else None,
            edit=message(f"pair_update.{explained.edit}", **_edit_words(explained.words)),
        )


def _words(words: Mapping[str, Json]) -> dict[str, Setting]:
    return {**words, "when": _when(str(words["when"]))} if "when" in words else dict(words)


def _edit_words(words: Mapping[str, Json]) -> dict[str, Setting]:
    return {**words, "when": _when(_EDIT_WHEN[str(words["when"])])} if "when" in words else dict(words)


def _when(name: str) -> Message:
    return message(f"pair_update.{name}")


def _curves(rates: Rates, bench: Side, port: Side) -> Curves:
    steps = rates.steps.tolist()
    apart = np.nonzero(np.abs(rates.port - rates.bench) > CLOSE * rates.scale)[0]
    return Curves(
        message("pair_update.schedule_title"),
        [Curve(str(bench.entry), steps, rates.bench.tolist()), Curve(str(port.entry), steps, rates.port.tolist())],
        steps[int(apart[0])] if len(apart) else None,
    )
