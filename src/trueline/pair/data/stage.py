"""The data stage: batches of both datasets side by side, and raw samples through both lists of transforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trueline.model.message import Message, message
from trueline.pair.blame import Blame, Cause, Setting, Stage, StageResult, StageVerdict
from trueline.pair.data.blames import Lines, chance_blame, compare_field, is_label
from trueline.pair.data.passages import Batches, Chance, ask_batches
from trueline.pair.data.rows import matched
from trueline.pair.data.steps import compare_steps
from trueline.pair.sides.parts import Parts, skipped
from trueline.pair.sides.side import Side

# Shuffled batches with a smaller share of common samples cannot be compared.
_MIN_COMMON_SHARE: Final = 0.5


class Looked:
    """What one way of looking at the data found: blames, or why nothing can be said."""

    def __init__(self, blames: Sequence[Blame], skipped: Message | None, said: Message | None) -> None:
        self.blames, self.skipped, self.said = blames, skipped, said


def data_stage(bench: Side, port: Side, parts: Parts, *, batches: int = 3, samples: int = 5) -> StageResult:
    """Compare the first ``batches`` of both datasets, and ``samples`` raw samples through both lists of transforms."""
    looked: list[Looked] = []
    if parts.both("transforms") and parts.both("samples"):
        lines = Lines(parts.bench_lines.get("transforms"), parts.port_lines.get("transforms"))
        looked.append(Looked(*compare_steps(bench, port, samples, lines)))
    if parts.both("dataset"):
        lines = Lines(parts.bench_lines.get("dataset"), parts.port_lines.get("dataset"))
        looked.append(_datasets(bench, port, batches, lines))
    if not looked:
        only = next((name for name in ("dataset", "transforms", "samples") if parts.one_only(name)), "dataset")
        return skipped(Stage.DATA, parts, only)
    blames = once([blame for way in looked for blame in way.blames])
    if blames:
        return StageResult(Stage.DATA, StageVerdict.FOUND, message("pair_parts.data_found", count=len(blames)), blames)
    passed = next((way.said for way in looked if way.said is not None), None)
    if passed is None:
        reason = next(way.skipped for way in looked if way.skipped is not None)
        return StageResult(Stage.DATA, StageVerdict.SKIPPED, reason)
    return StageResult(Stage.DATA, StageVerdict.PASSED, passed, rules_out=message("pair_parts.data_rules_out"))


def once(blames: Sequence[Blame]) -> list[Blame]:
    """A cause that the transforms and the datasets both show is one cause."""
    found: dict[Cause, Blame] = {}
    for blame in blames:
        found.setdefault(blame.cause, blame)
    return list(found.values())


def _datasets(bench: Side, port: Side, count: int, lines: Lines) -> Looked:
    there, here = ask_batches(bench, count), ask_batches(port, count)
    return compare_batches(there, here, lines, (str(bench.entry), str(port.entry)))


def compare_batches(there: Batches, here: Batches, lines: Lines, names: tuple[str, str]) -> Looked:
    """Samples of two datasets side by side: their order, and field by field what is in them."""
    for side, name in zip((there, here), names, strict=True):
        if side.chance is Chance.FREE:
            return Looked([], message("pair_parts.data_free", side=name), None)
    if len(there.fields) != len(here.fields):
        text = message("pair_parts.data_fields", bench=len(there.fields), port=len(here.fields))
        blame = Blame(Stage.DATA, Cause.DATA, text, bench=len(there.fields), port=len(here.fields), line=lines.port)
        return Looked([blame], None, None)
    return _Compared(there, here, lines).judged()


class _Compared:
    def __init__(self, there: Batches, here: Batches, lines: Lines) -> None:
        self.there, self.here, self.lines = there, here, lines
        self.random = (there.chance is not Chance.NONE, here.chance is not Chance.NONE)
        self.blames: list[Blame] = []

    def judged(self) -> Looked:
        """Batch size, order, then field by field."""
        there, here = self.there, self.here
        if there.batch != here.batch and there.batch is not None and here.batch is not None:
            text = message("pair_parts.data_batch", bench=there.batch, port=here.batch)
            self._blame(Cause.DATA, text, there.batch, here.batch)
        elif there.sizes and here.sizes and there.sizes != here.sizes:
            sizes = _listed(there.sizes), _listed(here.sizes)
            self._blame(Cause.DATA, message("pair_parts.data_sizes", bench=sizes[0], port=sizes[1]), *sizes)
        pairs = self._paired()
        if pairs is None:
            return Looked(self.blames, message("pair_parts.data_other_samples"), None)
        if not pairs:
            # Not one sample of the one is to be found in the other: chance has drawn them.
            return Looked(self.blames, None, None)
        chance = any(self.random)
        for place in range(len(there.fields)):
            port = [here.fields[place][at] for at, _ in pairs]
            bench = [there.fields[place][at] for _, at in pairs]
            label = is_label(bench, place, len(there.fields))
            blames = compare_field(port, bench, chance=chance, lines=self.lines, is_label=label)
            if blames is None:
                return Looked(self.blames, message("pair_parts.data_random_both"), None)
            self.blames += blames
        return Looked(self.blames, None, message("pair_parts.data_passed", count=len(pairs)))

    def _paired(self) -> list[tuple[int, int]] | None:
        """Which sample of the port is which of the benchmark's; None where chance has drawn others."""
        count = min(len(self.there.fields[0]), len(self.here.fields[0]))
        in_order = [(place, place) for place in range(count)]
        found = matched(self.here.fields[0], self.there.fields[0])
        pairs = [(place, at) for place, at in enumerate(found) if at is not None]
        moved = [(place, at) for place, at in pairs if place != at]
        if all(self.random) and len(pairs) < _MIN_COMMON_SHARE * count:
            return None
        if self.random[0] != self.random[1] and (moved or len(pairs) < _MIN_COMMON_SHARE * count):
            self.blames.append(chance_blame(self.there.chance, self.here.chance, Cause.SAMPLE_ORDER, self.lines))
            return pairs
        if len(pairs) < _MIN_COMMON_SHARE * count or not moved:
            return in_order
        if not any(self.random):
            port, bench = moved[0]
            self._blame(
                Cause.SAMPLE_ORDER, message("pair_parts.data_sample_order", port=port, bench=bench), bench, port
            )
        return pairs

    def _blame(self, cause: Cause, text: Message, bench: Setting, port: Setting) -> None:
        self.blames.append(
            Blame(
                Stage.DATA,
                cause,
                text,
                bench=bench,
                port=port,
                confirmed=True,
                line=self.lines.port,
                other_line=self.lines.bench,
            )
        )


def _listed(sizes: Sequence[int]) -> str:
    return ", ".join(map(str, sizes))
