"""A framework in a process of its own that makes calls; one that dies of a call is started again."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Final, Self

from trueline.adapters.guest.entry import Entry
from trueline.adapters.guest.guest import Guest
from trueline.adapters.guest.trouble import SideTrouble
from trueline.adapters.lab.call import Answer, Call
from trueline.kernel.array import Array

# Calls of one request: enough that the pipes cost little, few enough that a crash costs little.
_TOGETHER: Final = 24
_SECONDS: Final = 40.0
CRASHED: Final = "Crashed"


@dataclass(frozen=True, slots=True)
class Asked:
    """A call and the arrays that its specs name."""

    call: Call
    arrays: Sequence[Array]


class _LabGuest(Guest):
    HOST: ClassVar[str] = "trueline.migrate.lab.child"


class Bench:
    """One framework, ready to be called."""

    def __init__(self, framework: str, python: str | os.PathLike[str] = sys.executable) -> None:
        self.framework = framework
        self._python = python
        self._guest: _LabGuest | None = None
        self.crashes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        if self._guest is not None:
            self._guest.close()
            self._guest = None

    @property
    def version(self) -> str:
        """The framework's version."""
        return str(self._ready().build_reply()["version"])

    def begin(self) -> None:
        """Start the process, so that two load their frameworks at the same time."""
        if self._guest is None:
            # In a folder of the system's: nothing of the user's is imported, and nothing is left there.
            self._guest = _LabGuest.start(
                Entry(self.framework, "lab"), python=self._python, folder=Path("/"), timeout=_SECONDS
            )

    def _ready(self) -> _LabGuest:
        self.begin()
        assert self._guest is not None
        return self._guest

    def exists(self, names: Sequence[str]) -> Mapping[str, bool]:
        """Which full names there are."""
        content, _ = self._ready().ask({"do": "exists", "names": list(names)})
        return dict(zip(names, content["exists"], strict=True))

    def answers(self, asked: Sequence[Asked]) -> list[Answer]:
        """What the calls give, in order."""
        found: list[Answer] = []
        for start in range(0, len(asked), _TOGETHER):
            some = asked[start : start + _TOGETHER]
            try:
                found += self._answered(some)
            except SideTrouble:
                self.close()
                found += [self._alone(call) for call in some]
        return found

    def fresh_answer(self, asked: Asked) -> Answer:
        """What a call gives in a process that has made no other; for a Bench of which nothing else is asked."""
        try:
            return self._answered([asked], "invoke_fresh")[0]
        except SideTrouble as trouble:
            self.close()
            return Answer(error=(CRASHED, str(trouble)[:300]))

    def _alone(self, asked: Asked) -> Answer:
        try:
            return self._answered([asked])[0]
        except SideTrouble as trouble:
            self.close()
            self.crashes += 1
            return Answer(error=(CRASHED, str(trouble)[:300]))

    def _answered(self, asked: Sequence[Asked], action: str = "invoke") -> list[Answer]:
        arrays: list[Array] = []
        calls: list[dict[str, Any]] = []
        for each in asked:
            calls.append(
                {"call": asdict(each.call), "arrays": list(range(len(arrays), len(arrays) + len(each.arrays)))}
            )
            arrays += each.arrays
        content, found = self._ready().ask({"do": action, "calls": calls}, arrays)
        return [_answer(described, found) for described in content["answers"]]


def _answer(described: Mapping[str, Any], found: Sequence[Array]) -> Answer:
    first, forms, gradients = described["first"], described["forms"], described["gradients"]
    outputs = found[first : first + len(forms)]
    after = first + len(forms)
    error = described["error"]
    return Answer(
        outputs,
        forms,
        dict(zip(gradients, found[after : after + len(gradients)], strict=True)),
        (error[0], error[1]) if error else None,
    )
