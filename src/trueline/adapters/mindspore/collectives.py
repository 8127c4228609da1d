"""Events of MindSpore's communication: operators that are called one by one, and functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from mindspore import ops

from trueline.adapters.exchange import Exchange, Nesting, reported
from trueline.adapters.mindspore import internals, values
from trueline.adapters.mindspore.session import Session
from trueline.adapters.nouns import Foreign, Function, Value
from trueline.adapters.patching import Patches

# What they are called in events; those of which each rank of the group has a part are in brackets.
_OPERATORS: Final[Mapping[str, tuple[str, bool, bool]]] = {
    "AllReduce": ("all_reduce", False, False),
    "AllGather": ("all_gather", False, True),
    "ReduceScatter": ("reduce_scatter", True, False),
    "Broadcast": ("broadcast", False, False),
    "Reduce": ("reduce", False, False),
    "AlltoAll": ("all_to_all", False, False),
    "Barrier": ("barrier", False, False),
    "Send": ("send", False, False),
    "Receive": ("recv", False, False),
}
_FUNCTIONS: Final[Mapping[str, tuple[bool, bool]]] = {
    "all_reduce": (False, False),
    "all_gather_into_tensor": (False, True),
    "reduce_scatter_tensor": (True, False),
    "broadcast": (False, False),
    "reduce": (False, False),
    "barrier": (False, False),
    "send": (False, False),
    "recv": (False, False),
}
_RECEIVING: Final = ("recv",)
_INPUTS: Final = ("input_tensor", "input", "tensor")
_OUTPUTS: Final = ("output_tensor", "output")
_ROOTS: Final = ("src", "dst")
_ATTRIBUTES: Final = ("root_rank", "dest_rank", "src_rank")


def watch(session: Session, patches: Patches) -> None:
    """Report them; graphs call neither."""
    nesting = Nesting()

    def operator(original: Function, kind: str, *, spread: bool, gathered: bool) -> Function:
        def describe(primitive: Foreign, *args: object) -> Exchange | None:
            group = str(getattr(primitive, "group", "") or _attribute(primitive, "group") or "")
            ranks = _ranks(session, group)
            if ranks is None:
                return None
            peer = next((found for name in _ATTRIBUTES if (found := _attribute(primitive, name)) is not None), None)
            op = _attribute(primitive, "op") if "reduce" in kind else None
            sent = [] if kind in _RECEIVING else _parts(args[0] if args else None, len(ranks), spread)
            return Exchange(
                kind,
                ranks,
                group,
                str(op) if op is not None else None,
                _global(peer, ranks),
                _attribute(primitive, "sr_tag"),
                sent,
            )

        return reported(session.observer, original, nesting, describe, _concluding(session, gathered))

    def function(original: Function, name: str, *, spread: bool, gathered: bool) -> Function:
        names = list(inspect.signature(original).parameters)

        def describe(*args: object, **kwargs: object) -> Exchange | None:
            given: dict[str, Value] = {**dict(zip(names, args, strict=False)), **kwargs}
            group = given.get("group")
            ranks = _ranks(session, str(group) if group else "")
            if ranks is None:
                return None
            tensor = next((given[name] for name in _INPUTS if given.get(name) is not None), None)
            output = next((given[name] for name in _OUTPUTS if given.get(name) is not None), None)
            return Exchange(
                name,
                ranks,
                str(group) if group else "",
                str(given.get("op", "sum")) if "reduce" in name else None,
                next((int(given[root]) for root in _ROOTS if given.get(root) is not None), None),
                given.get("tag"),
                [] if name in _RECEIVING else _parts(tensor, len(ranks), spread),
                [] if output is None else [output],
                bool(given.get("async_op")),
            )

        return reported(session.observer, original, nesting, describe, _concluding(session, gathered))

    for kind, (name, spread, gathered) in _OPERATORS.items():
        primitive = getattr(ops, kind, None)
        if primitive is not None:
            patches.wrap(
                primitive,
                "__call__",
                lambda original, name=name, spread=spread, gathered=gathered: operator(  # type: ignore[misc]
                    original, name, spread=spread, gathered=gathered
                ),
            )
    for module in internals.communicating():
        for name, (spread, gathered) in _FUNCTIONS.items():
            patches.wrap(
                module,
                name,
                lambda original, name=name, spread=spread, gathered=gathered: function(  # type: ignore[misc]
                    original, name, spread=spread, gathered=gathered
                ),
            )


def _concluding(session: Session, gathered: bool) -> Callable[[Exchange, Value], bool]:
    def concluded(exchange: Exchange, result: Value) -> bool:
        if exchange.deferred:
            return False
        if exchange.received:
            result = exchange.received[0]
        elif isinstance(result, tuple):
            result = result[0] if result else None
        if result is None and exchange.kind in ("all_reduce", "broadcast"):
            # In place.
            result = exchange.sent[0] if exchange.sent else None
        with session.silence():
            exchange.received = _parts(result, len(exchange.group), gathered)
        return True

    return concluded


def _ranks(session: Session, group: str) -> Sequence[int] | None:
    if not session.is_reporting() or not internals.is_communicating():
        return None
    try:
        ranks = internals.group_ranks(group)
    except (RuntimeError, ValueError, TypeError):
        return None
    return ranks if len(ranks) > 1 else None


def _attribute(primitive: Foreign, name: str) -> Value:
    found = getattr(primitive, name, None)
    attributes = getattr(primitive, "attrs", None)
    return found if found is not None or not isinstance(attributes, Mapping) else attributes.get(name)


def _global(peer: Value, ranks: Sequence[int]) -> int | None:
    return ranks[peer] if isinstance(peer, int) and 0 <= peer < len(ranks) else None


def _parts(value: Value, ranks: int, spread: bool) -> list[Value]:
    if isinstance(value, list | tuple):
        return [part for part in value if values.is_tensor(part)]
    if value is None or not values.is_tensor(value):
        return []
    if not spread:
        return [value]
    if value.ndim == 0 or value.shape[0] % ranks:
        return []
    rows = value.shape[0] // ranks
    return [value[place * rows : (place + 1) * rows] for place in range(ranks)]
