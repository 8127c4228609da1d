"""What was found: the operator, its numbers, its place in the user's code, and how it came to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trueline.model.json_value import JsonObject
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.model.numbers import decode, encode
from trueline.model.summary import Summary


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor that an operator took or gave, in numbers."""

    name: str
    dtype: str
    summary: Summary | None

    def to_json(self) -> dict[str, object]:
        """As it stands in an answer."""
        numbers = self.summary.to_json() if self.summary is not None else None
        return {"name": self.name, "dtype": self.dtype, "summary": numbers}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Tensor:
        """The same again."""
        numbers = content["summary"]
        return cls(content["name"], content["dtype"], Summary.from_json(numbers) if numbers is not None else None)


@dataclass(frozen=True, slots=True)
class Link:
    """An operator before the one at fault through which magnitudes grew."""

    op: str
    module: str
    line: Location | None
    largest: float

    def to_json(self) -> dict[str, object]:
        """As it stands in an answer."""
        return {"op": self.op, "module": self.module, "line": _told(self.line), "largest": encode(self.largest)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Link:
        """The same again."""
        return cls(content["op"], content["module"], _line(content["line"]), float(decode(content["largest"])))


@dataclass(frozen=True, slots=True)
class Hit:
    """The first number that is not finite.

    ``way`` says how it was found: in_place, by doing the step again, or afresh, by running the script again. ``line``
    is the user's; for a backward pass that of the forward operator whose gradient it is, which ``forward_line`` always
    is. ``samples`` are rows of the batch.
    """

    step: int
    part: str
    op: str
    kind: str
    name: str = ""
    module: str = ""
    line: Location | None = None
    forward_line: Location | None = None
    cause: str = "other"
    why: Message | None = None
    advice: Message | None = None
    inputs: Sequence[Tensor] = ()
    outputs: Sequence[Tensor] = ()
    chain: Sequence[Link] = ()
    stack: Sequence[Location] = ()
    samples: Sequence[int] = ()
    way: str = "in_place"
    rank: int = 0

    def to_json(self) -> dict[str, object]:
        """As it stands in an answer and in a run folder."""
        return {
            "step": self.step,
            "phase": self.part,
            "op": self.op,
            "kind": self.kind,
            "name": self.name,
            "module": self.module,
            "file": self.line.file if self.line is not None else None,
            "line": self.line.line if self.line is not None else None,
            "forward_line": _told(self.forward_line),
            "cause": self.cause,
            "why": _said(self.why),
            "advice": _said(self.advice),
            "inputs": [tensor.to_json() for tensor in self.inputs],
            "outputs": [output.to_json() for output in self.outputs],
            "chain": [link.to_json() for link in self.chain],
            "stack": [location.line_json() for location in self.stack],
            "samples": list(self.samples),
            "way": self.way,
            "rank": self.rank,
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Hit:
        """The same again."""
        return cls(
            content["step"],
            content["phase"],
            content["op"],
            content["kind"],
            content["name"],
            content["module"],
            Location(content["file"], content["line"]) if content["file"] is not None else None,
            _line(content["forward_line"]),
            content["cause"],
            _message(content["why"]),
            _message(content["advice"]),
            [Tensor.from_json(one) for one in content["inputs"]],
            [Tensor.from_json(one) for one in content["outputs"]],
            [Link.from_json(one) for one in content["chain"]],
            [Location.from_line_json(one) for one in content["stack"]],
            content["samples"],
            content["way"],
            content["rank"],
        )


def _told(line: Location | None) -> JsonObject | None:
    return line.line_json() if line is not None else None


def _line(content: object) -> Location | None:
    return Location.from_line_json(content) if content is not None else None


def _said(one: Message | None) -> dict[str, object] | None:
    return {"message_id": one.id, "params": dict(one.params), "text": one.text()} if one is not None else None


def _message(content: Any) -> Message | None:
    return message(content["message_id"], **content["params"]) if content is not None else None
