"""A pipeline looked at from outside: question by question, whatever becomes of its process."""

from __future__ import annotations

import linecache
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Final, Self, cast

from trueline.adapters.guest.entry import Entry
from trueline.adapters.guest.faults import nearest
from trueline.adapters.guest.guest import Guest
from trueline.adapters.guest.trouble import SideTrouble
from trueline.adapters.guest.wire import Content
from trueline.data.pipeline.answers import Answers, Facts, LineJson
from trueline.data.pipeline.evidence import Evidence, Failure, Field, Operator
from trueline.data.pipeline.journal import BEFORE_SAMPLES, PATIENCE, Left
from trueline.data.pipeline.judged import TRACED, judged, traced_as
from trueline.model.json_value import Json
from trueline.model.location import Location

# Enough that each of a few workers gives one.
_RUN_BATCHES: Final = 4
ENDED: Final = ("side.died_code", "side.died_signal", "side.died_killed", "side.garbled")
# Of a dataset that is larger than what is looked at: so many of its last samples are.
_LAST_SAMPLES: Final = 16
# A stream with workers is counted to its end, but no further than this.
_MAX_COUNTED_SAMPLES: Final = 20_000
# Seconds more than what the process gives itself.
_MARGIN_SECONDS: Final = 30.0


class Pipeline(Guest):
    """The process of one pipeline."""

    HOST: ClassVar[str] = "trueline.data.pipeline.child.host"
    # The file that the process touches with every sample, and when that was last seen to change.
    _place: Path | None = None
    _touched = (0, 0.0)

    @classmethod
    def begin(cls, entry: Entry, wish: Wish, journal: Path, *, folder: Path | None = None) -> Self:
        """Begin to build a pipeline. What hangs is ended from within; where that fails too, from here."""
        return cls.start(
            entry,
            python=wish.python,
            folder=folder,
            timeout=max(wish.limit, wish.building, PATIENCE) + _MARGIN_SECONDS,
            kwargs={"journal": str(journal), **wish.seconds},
        )

    def _build(self, home: Path, args: Sequence[Json], kwargs: Mapping[str, Json]) -> None:
        self._place = Path(str(kwargs["journal"])) / "place"
        super()._build(home, args, kwargs)

    def sign_of_life(self) -> float:
        """When it last went on to another sample."""
        try:
            touched = self._place.stat().st_mtime_ns if self._place is not None else 0
        except OSError:
            touched = 0
        if touched != self._touched[0]:
            self._touched = touched, time.monotonic()
        return self._touched[1]


@dataclass(frozen=True, slots=True)
class Wish:
    """How much to look at: samples, epochs, workers to try; and the seconds of a sample, and of what comes before."""

    samples: int = 1000
    epochs: int = 2
    workers: int | None = None
    limit: float = 30.0
    building: float = PATIENCE
    python: str = sys.executable

    @property
    def seconds(self) -> dict[str, float]:
        """What the process is told of its time."""
        return {"limit": self.limit, "building": self.building}


def look_at_several(entries: Sequence[tuple[Entry, Path]], wish: Wish) -> Iterator[Evidence]:
    """Pipelines of one framework, each in its folder, in one process as long as that lives: for tables of them."""
    with ExitStack() as stack:
        pipeline: Pipeline | None = None
        for place, (entry, home) in enumerate(entries):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="trueline-")))
            if pipeline is None:
                pipeline = stack.enter_context(Pipeline.begin(entry, wish, folder, folder=home))
            else:
                pipeline.again(entry, folder=home, kwargs={"journal": str(folder), **wish.seconds})
            evidence = _Look(pipeline, wish, folder, lambda _: None).all()
            yield evidence
            if evidence.ended is not None and place + 1 < len(entries):
                pipeline.close()
                pipeline = None


def look(entry: Entry, wish: Wish, tell: Callable[[str], None] = lambda _: None) -> Evidence:
    """All that is to be seen of a pipeline; a Trouble where there is none."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="trueline-")))
        pipeline = stack.enter_context(Pipeline.begin(entry, wish, folder))
        return _Look(pipeline, wish, folder, tell).all()


class _Look:
    def __init__(self, pipeline: Pipeline, wish: Wish, folder: Path, tell: Callable[[str], None]) -> None:
        self.pipeline, self.wish, self.folder, self.tell = pipeline, wish, folder, tell
        self.evidence = Evidence("", "", Facts())

    def all(self) -> Evidence:
        """Ask until there is nothing more to ask, or nobody."""
        try:
            if self._begin():
                self._walk()
                self._more()
        except SideTrouble as trouble:
            if trouble.message.id not in ENDED:
                raise
            self.evidence = replace(self.evidence, ended=self._ended(trouble))
        return self.evidence

    def _begin(self) -> bool:
        self.tell("building")
        content = self.pipeline.build_reply()
        if "failed" in content:
            self.evidence = replace(self.evidence, ended=Failure.from_json(content["failed"]))
            return False
        facts = content["facts"]
        self.evidence = Evidence(content["framework"], facts["kind"], facts)
        return True

    def _walk(self) -> None:
        self.tell("walking")
        known = self._ask("operators")["operators"]
        self.evidence = replace(self.evidence, operators=[Operator.from_json(operator) for operator in known])
        content = self._ask("walk", wanted=self._wanted())
        self.evidence = replace(
            self.evidence,
            operators=[Operator.from_json(operator) for operator in content["operators"]],
            sample=[Field.from_json(field) for field in content["sample"]],
            looked=content["looked"],
            failures=[Failure.from_json(failure) for failure in content["failures"]],
            parts=Answers(walk={"nothing": content["nothing"], "changed": content["changed"]}),
        )

    def _more(self) -> None:
        facts, wish = self.evidence.facts, self.wish
        declared = facts["length"]
        if declared is not None:
            self._part("length", declared=declared)
        if facts["indexed"]:
            self._part("order", epochs=wish.epochs, declared=declared)
        elif wish.epochs > 1:
            self._part("epochs", epochs=wish.epochs, wanted=self._wanted())
        repeated = self._part("repeat")
        self._trace()
        workers = facts["workers"] if wish.workers is None else wish.workers
        if workers and not self.evidence.failures:
            self._part("workers", random=bool(repeated.get("random")), most=_MAX_COUNTED_SAMPLES)
        self._part("run", batches=_RUN_BATCHES)

    def _trace(self) -> None:
        """The very line of what was found by its values."""
        self.tell("trace")
        lines: dict[str, LineJson] = {}
        for finding in judged(self.evidence):
            what = TRACED.get(finding.extra["kind"])
            if what is not None and finding.extra["place"] is not None and finding.extra["samples"]:
                asked = {"what": what, "operator": finding.extra["place"], "sample": finding.extra["samples"][0]}
                lines[traced_as(finding)] = self._ask("trace", field=finding.extra["field"], **asked)["line"]
        drawing = self.evidence.parts["repeat"].get("operator")
        if drawing is not None:
            sample = self.evidence.parts["repeat"]["random"][0]
            lines["draws"] = self._ask("trace", what="draws", operator=drawing, sample=sample, field=None)["line"]
        self.evidence = replace(self.evidence, parts={**self.evidence.parts, "lines": lines})

    def _part(self, name: str, **asked: object) -> Content:
        self.tell(name)
        content = self._ask(name, **asked)
        self.evidence = replace(self.evidence, parts=cast(Answers, {**self.evidence.parts, name: content}))
        return content

    def _ask(self, name: str, **asked: object) -> Content:
        return self.pipeline.ask({"do": name, **asked})[0]

    def _wanted(self) -> list[int]:
        """All samples where there are few; else the first, some of the rest, and the last."""
        length, most = self.evidence.facts["length"], self.wish.samples
        if not self.evidence.facts["indexed"] or length is None or length <= most:
            return list(range(min(length, most) if length is not None and self.evidence.facts["indexed"] else most))
        first = max(1, most // 2)
        last = min(_LAST_SAMPLES, max(0, most - first))
        between = most - first - last
        spread = [first + place * (length - last - first) // max(between, 1) for place in range(between)]
        return sorted({*range(first), *spread, *range(length - last, length)})

    def _ended(self, trouble: SideTrouble) -> Failure:
        """What the process was about when it ended."""
        left = Left(self.folder)
        place = nearest([(frame.file, frame.line) for frame in left.frames])
        line = Location(*place) if place is not None else None
        kind = "hangs" if left.timed_out else "dies"
        patience = self.wish.building if left.doing in BEFORE_SAMPLES else self.wish.limit
        text = str(patience) if left.timed_out else str(trouble.message.params.get("said", ""))
        code = linecache.getline(line.file, line.line).strip() if line is not None else ""
        return Failure(kind, text, line, code, left.doing, left.sample, left.operator)
