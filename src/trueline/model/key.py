"""The name of one tensor in one run: ``phase/module.path#call/kind/index``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Self


class Phase(StrEnum):
    """What a step is for."""

    TRAIN = "train"
    EVAL = "eval"


class Kind(StrEnum):
    """What a tensor is to its module."""

    IN = "in"
    OUT = "out"
    GIN = "gin"
    GOUT = "gout"
    PARAM = "param"
    GRAD = "grad"
    BUFFER = "buffer"
    OPT = "opt"


_ESCAPES = {"%": "%25", "/": "%2F", "#": "%23"}
_TEXT = re.compile(
    r"(?P<phase>train|eval)/(?P<module>[^/#]*)#(?P<call>0|[1-9]\d*)"
    r"/(?P<kind>in|out|gin|gout|param|grad|buffer|opt)/(?P<index>[^/#]+)"
)


def _escape(text: str) -> str:
    return re.sub(r"[%/#]", lambda found: _ESCAPES[found.group()], text)


def _unescape(text: str) -> str:
    return re.sub(r"%(25|2F|23)", lambda found: chr(int(found.group(1), 16)), text)


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """One tensor's name.

    ``module`` is the path inside the network ("" is the network itself), ``call`` counts the
    calls of that module within a step, and ``index`` is a position for in, out, gin and gout
    ("0", or "0.1" where outputs are nested), a leaf name for param, grad and buffer ("weight"),
    and ``leaf:slot`` for opt ("weight:exp_avg").
    """

    phase: Phase
    module: str
    call: int
    kind: Kind
    index: str

    @classmethod
    def of(
        cls, module: str, kind: Kind | str, index: str | int = 0, *, call: int = 0, phase: Phase | str = Phase.TRAIN
    ) -> Self:
        """A Key from loose values."""
        return cls(Phase(phase), module, call, Kind(kind), str(index))

    @classmethod
    def of_parameter(cls, name: str, kind: Kind | str = Kind.PARAM, *, phase: Phase | str = Phase.TRAIN) -> Self:
        """The Key of a parameter, gradient or buffer called ``layer1.0.conv1.weight``."""
        module, _, leaf = name.rpartition(".")
        return cls.of(module, kind, leaf, phase=phase)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``train/layer1.0.conv1#0/out/0``; a ValueError says what was expected."""
        found = _TEXT.fullmatch(text)
        if found is None:
            raise ValueError(f"not a key: {text!r} (expected phase/module.path#call/kind/index)")
        return cls(
            Phase(found["phase"]),
            _unescape(found["module"]),
            int(found["call"]),
            Kind(found["kind"]),
            _unescape(found["index"]),
        )

    @property
    def parameter(self) -> str:
        """The parameter's full name, for param, grad and buffer."""
        return f"{self.module}.{self.index}" if self.module else self.index

    def __str__(self) -> str:
        return f"{self.phase}/{_escape(self.module)}#{self.call}/{self.kind}/{_escape(self.index)}"
