"""A pipeline that is to be put beside another: its samples with all that each operator makes of them."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from trueline.adapters.guest.entry import Entry
from trueline.adapters.guest.trouble import SideTrouble
from trueline.adapters.guest.wire import Content
from trueline.data.pipeline.answers import Facts, StepJson
from trueline.data.pipeline.evidence import Failure
from trueline.data.pipeline.journal import Left
from trueline.data.pipeline.looking import ENDED, Pipeline, Wish
from trueline.kernel.array import Array


@dataclass(frozen=True, slots=True)
class Passed:
    """Samples: the steps of their first value, for each sample what was there before and after them, and all values."""

    steps: Sequence[StepJson]
    states: Sequence[Sequence[Array]]
    fields: Sequence[Sequence[Array]]
    indexes: Sequence[int]

    def only(self, indexes: Sequence[int]) -> Passed:
        """The samples of these indexes."""
        places = [self.indexes.index(index) for index in indexes]
        states, fields = ([side[place] for place in places] for side in (self.states, self.fields))
        return Passed(self.steps, states, fields, list(indexes))


class Passing:
    """The process of one pipeline, until it is closed."""

    def __init__(self, entry: Entry, wish: Wish, *, folder: Path | None = None) -> None:
        self.entry, self._wish = entry, wish
        self._stack = ExitStack()
        journal = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="trueline-"))
        self._given: dict[str, str | float] = {"journal": journal, **wish.seconds}
        self._pipeline = self._stack.enter_context(Pipeline.begin(entry, wish, Path(journal), folder=folder))
        self._facts: Facts | None = None

    def again(self, entry: Entry, *, folder: Path | None = None) -> None:
        """Another pipeline in the same process."""
        self._pipeline.again(entry, folder=folder, kwargs=self._given)
        self.entry, self._facts = entry, None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._stack.close()

    @property
    def facts(self) -> Facts:
        """What is known of the pipeline; a Trouble where it cannot be built."""
        if self._facts is None:
            content = self._pipeline.build_reply()
            if "failed" in content:
                failed = Failure.from_json(content["failed"])
                place = f"{failed.line.file}:{failed.line.line}" if failed.line is not None else "-"
                raised = {"kind": failed.kind, "error": failed.error, "place": place}
                raise SideTrouble("data_pair.not_built", side=str(self.entry), **raised)
            self._facts = content["facts"]
            self._pipeline.ask({"do": "operators"})
        return self._facts

    def passed(self, wanted: Sequence[int], seed: int) -> Passed:
        """These samples, or as many of a stream; a Trouble where there are none."""
        content, arrays = self._ask({"do": "passage", "wanted": list(wanted), "seed": seed})
        states: list[list[Array]] = []
        fields: list[list[Array]] = []
        rest = iter(arrays)
        for before, values in content["samples"]:
            states.append([next(rest) for _ in range(before)])
            fields.append([next(rest) for _ in range(values)])
        if not fields:
            raise SideTrouble("data_pair.no_samples", side=str(self.entry))
        return Passed(content["steps"], states, fields, content["indexes"])

    def onward(self, first: int, arrays: Sequence[Array]) -> list[Array] | None:
        """Arrays through the steps from ``first`` on; None where that cannot be done."""
        content, found = self._ask({"do": "onward", "first": first}, arrays)
        return None if content["failed"] else found

    def _ask(self, content: Content, arrays: Sequence[Array] = ()) -> tuple[Content, list[Array]]:
        """One question; a process that ends over it is told with the sample that it was at."""
        try:
            return self._pipeline.ask(content, arrays)
        except SideTrouble as trouble:
            if trouble.message.id not in ENDED:
                raise
            left = Left(Path(str(self._given["journal"])))
            where = "-" if left.sample is None else str(left.sample)
            found = SideTrouble("data_pair.ended", side=str(self.entry), sample=where, problem=trouble.message)
            found.output = trouble.output
            raise found from None
