"""What a check is: a question with a code, asked of the evidence that its parameters name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

from trueline.model.finding import Certainty, Conclusion, Evidence, Finding
from trueline.model.json_value import Json
from trueline.model.location import Location
from trueline.model.message import Message

Asking = Callable[..., Iterator[Finding]]
_KINDS: Final = frozenset(kind.value for kind in Evidence)
_Asking = TypeVar("_Asking", bound=Asking)
# What a sentence says, handed on by keyword to one of the answers below: Any, as their own keywords have types.
Params: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Check:
    """One way to decide an item: positional parameters of ``ask`` are its evidence, keyword-only ones its limits."""

    code: str
    title: str
    ask: Asking
    evidence: tuple[Evidence, ...]
    limits: Mapping[str, object]
    module: str
    # Whether it can end in No problem; a way that does not decide only finds problems.
    decides: bool = True

    @property
    def family(self) -> str:
        """What stands before the dot."""
        return self.code.partition(".")[0]

    @property
    def name(self) -> str:
        """What tells it from other ways to decide the same item."""
        return self.ask.__name__


_known: list[Check] = []


def check(code: str, title: str = "", *, decides: bool = True) -> Callable[[_Asking], _Asking]:
    """Register a way to decide an item, or only to find problems; the title is told once, at the first way."""

    def register(ask: _Asking) -> _Asking:
        evidence, limits = _signature(ask)
        shared_title = title or next((way.title for way in _known if way.code == code), "")
        _known.append(Check(code, shared_title, ask, evidence, limits, ask.__module__, decides))
        return ask

    return register


def _signature(ask: Asking) -> tuple[tuple[Evidence, ...], dict[str, object]]:
    evidence: list[Evidence] = []
    limits: dict[str, object] = {}
    for parameter in inspect.signature(ask).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is not parameter.empty:
            limits[parameter.name] = parameter.default
        elif parameter.kind is parameter.POSITIONAL_OR_KEYWORD and parameter.name in _KINDS:
            evidence.append(Evidence(parameter.name))
        else:
            raise TypeError(f"{ask.__module__}.{ask.__name__}: {parameter.name} is neither evidence nor a limit")
    return tuple(evidence), limits


def known_checks() -> Sequence[Check]:
    """Those that have registered so far."""
    return _known


def found(
    said: str,
    where: Location,
    *,
    certainty: Certainty = Certainty.CERTAIN,
    advice: str | None = None,
    measured: Json = None,
    limit: Json = None,
    because: str | None = None,
    evidence: Sequence[Json] = (),
    **params: object,
) -> Finding:
    """A problem. ``said`` is a message of the item's own file, ``dp_03.not_shuffled``, and names the item by it."""
    code, sentence, advised = _sentences(said, advice, params)
    return Finding(
        code,
        Conclusion.FOUND,
        sentence,
        certainty=certainty,
        advice=advised,
        because=because,
        where=where,
        measured=measured,
        limit=limit,
        evidence=evidence,
    )


def suspect(
    said: str,
    where: Location,
    *,
    advice: str | None = None,
    measured: Json = None,
    limit: Json = None,
    evidence: Sequence[Json] = (),
    **params: object,
) -> Finding:
    """What may be a problem and cannot be told for sure, with the reason and the line."""
    code, sentence, advised = _sentences(said, advice, params)
    return Finding(
        code,
        Conclusion.SUSPECT,
        sentence,
        certainty=Certainty.POSSIBLE,
        advice=advised,
        where=where,
        measured=measured,
        limit=limit,
        evidence=evidence,
    )


def none(
    said: str,
    *,
    evidence: Sequence[Json],
    where: Location | None = None,
    measured: Json = None,
    limit: Json = None,
    **params: object,
) -> Finding:
    """No problem: ``evidence`` is what was looked at, and it decides the item, not one aspect of it."""
    if not evidence:
        raise ValueError(f"{said}: no problem, and nothing was looked at")
    code, sentence, _ = _sentences(said, None, params)
    return Finding(
        code, Conclusion.NONE, sentence, where=where or Location(), measured=measured, limit=limit, evidence=evidence
    )


def undecided(
    said: str,
    *,
    where: Location | None = None,
    measured: Json = None,
    limit: Json = None,
    evidence: Sequence[Json] = (),
    **params: object,
) -> Finding:
    """Not decided, for this reason: too little was seen, or only an aspect. The engine adds what would decide it."""
    code, sentence, _ = _sentences(said, None, params)
    return Finding(
        code, Conclusion.OPEN, sentence, where=where or Location(), measured=measured, limit=limit, evidence=evidence
    )


def na(said: str, *, where: Location | None = None, **params: object) -> Finding:
    """The evidence shows that the item does not apply to this training."""
    code, sentence, _ = _sentences(said, None, params)
    return Finding(code, Conclusion.NA, sentence, where=where or Location())


def _sentences(said: str, advice: str | None, params: Mapping[str, object]) -> tuple[str, Message, Message]:
    """The item's code, the sentence, and the advice that goes with it."""
    item = said.partition(".")[0]
    beside = said.rpartition(".")[0]
    return item.replace("_", "."), Message(said, params), Message(advice or f"{beside}.advice", params)
