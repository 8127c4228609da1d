"""Events of torch.distributed: collectives and point-to-point calls, and the handles of those that run on."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import torch

from trueline.adapters.exchange import EXCHANGE, JOIN, Exchange, Moment, Nesting, reported
from trueline.adapters.identity import ByIdentity
from trueline.adapters.nouns import Foreign, Function, Value
from trueline.adapters.observer import Observer
from trueline.adapters.patching import Patches, Switch, outermost
from trueline.adapters.torch import internals, values

# What goes in and what comes out, by the names of the arguments; of ``[name]`` each rank of the group has a part.
_CALLS: Final[Mapping[str, tuple[str, str]]] = {
    "all_reduce": ("tensor", "tensor"),
    "broadcast": ("tensor", "tensor"),
    "reduce": ("tensor", "tensor"),
    "all_gather": ("tensor", "tensor_list"),
    "all_gather_into_tensor": ("input_tensor", "[output_tensor]"),
    "all_gather_single": ("input_tensor", "[output_tensor]"),
    "gather": ("tensor", "gather_list"),
    "scatter": ("scatter_list", "tensor"),
    "reduce_scatter": ("input_list", "output"),
    "reduce_scatter_tensor": ("[input]", "output"),
    "reduce_scatter_single": ("[input]", "output"),
    "all_to_all": ("input_tensor_list", "output_tensor_list"),
    "all_to_all_single": ("[input]", "[output]"),
    "barrier": ("", ""),
    "monitored_barrier": ("", ""),
    "all_gather_object": ("", ""),
    "broadcast_object_list": ("", ""),
    "gather_object": ("", ""),
    "scatter_object_list": ("", ""),
    "send": ("tensor", ""),
    "isend": ("tensor", ""),
    "recv": ("", "tensor"),
    "irecv": ("", "tensor"),
}
_SPLITS: Final = {"[input]": "input_split_sizes", "[output]": "output_split_sizes"}
_DEFERRED: Final = ("isend", "irecv")
_DONE: Final = ("wait", "synchronize")


def watch(observer: Observer, switch: Switch, patches: Patches) -> None:
    """Report them where torch was built with them."""
    distributed = internals.distributed()
    if distributed is None:
        return

    def is_reporting() -> bool:
        return switch.on and not torch.compiler.is_compiling() and torch.distributed.is_initialized()

    handles: ByIdentity[Exchange] = ByIdentity()
    nesting = Nesting()

    def concluded(exchange: Exchange, result: Value) -> bool:
        handle = result if exchange.deferred else None
        if handle is not None and hasattr(handle, "wait"):
            handles.set(handle, exchange)
            return False
        return True

    for name, (sent, received) in _CALLS.items():
        function = getattr(distributed, name, None)
        if function is None:
            continue
        describe = _describer(name, function, sent, received, is_reporting)
        patches.wrap(
            distributed,
            name,
            lambda original, describe=describe: reported(observer, original, nesting, describe, concluded),  # type: ignore[misc]
        )
        # One function under both names: torch asks which of them an operation of a batch is.
        _show(torch.distributed, name, function, getattr(distributed, name), patches)
    _watch_handles(observer, handles, is_reporting, patches)
    joining = internals.joining()
    if joining is not None:
        begins = Exchange(JOIN, ())
        patches.wrap(
            joining,
            "__enter__",
            lambda original: outermost(
                original,
                is_reporting,
                before=lambda *_: observer.aside(EXCHANGE, moment=Moment.BEGINS, exchange=begins),
            ),
        )


def _show(owner: Foreign, name: str, function: Function, wrapper: Function, patches: Patches) -> None:
    if getattr(owner, name, None) is not function:
        return
    setattr(owner, name, wrapper)

    def restore() -> None:
        if getattr(owner, name, None) is wrapper:
            setattr(owner, name, function)

    patches.on_remove(restore)


def _watch_handles(
    observer: Observer, handles: ByIdentity[Exchange], is_reporting: Callable[[], bool], patches: Patches
) -> None:
    def over(handle: Foreign, moment: Moment) -> None:
        exchange = handles.pop(handle)
        if exchange is not None:
            observer.aside(EXCHANGE, moment=moment, exchange=exchange)

    def waiting(original: Function) -> Function:
        return outermost(original, is_reporting, after=lambda _, handle, *__, **___: over(handle, Moment.ENDED))

    def asking(original: Function) -> Function:
        def after(done: Value, handle: Foreign) -> None:
            if done:
                over(handle, Moment.ENDED)

        return outermost(original, is_reporting, after=after)

    def handing_on(original: Function) -> Function:
        return outermost(original, is_reporting, after=lambda _, handle, *__, **___: over(handle, Moment.LOST))

    for name in _DONE:
        patches.wrap(torch.distributed.Work, name, waiting)
    patches.wrap(torch.distributed.Work, "is_completed", asking)
    patches.wrap(torch.distributed.Work, "get_future", handing_on)


def _describer(
    name: str, function: Function, sent: str, received: str, is_reporting: Callable[[], bool]
) -> Callable[..., Exchange | None]:
    names = list(inspect.signature(function).parameters)

    def describe(*args: object, **kwargs: object) -> Exchange | None:
        if not is_reporting():
            return None
        given: dict[str, Value] = {**dict(zip(names, args, strict=False)), **kwargs}
        group = given.get("group")
        try:
            ranks = torch.distributed.get_process_group_ranks(group)
        except (RuntimeError, ValueError, KeyError, TypeError):
            # Not of this group: the call does nothing.
            return None
        if len(ranks) < 2:
            return None
        return Exchange(
            name,
            ranks,
            str(getattr(group, "group_name", "")) if group is not None else "",
            _op(given.get("op"), function),
            _peer(given, ranks),
            given.get("tag"),
            _tensors(sent, given, len(ranks)),
            _tensors(received, given, len(ranks)),
            name in _DEFERRED or bool(given.get("async_op")),
        )

    return describe


def _op(given: Value, function: Function) -> str | None:
    parameter = inspect.signature(function).parameters.get("op")
    if parameter is None:
        return None
    op = given if given is not None else parameter.default
    return str(op).rpartition(".")[2].rstrip(">").partition(":")[0].lower()


def _peer(given: Mapping[str, Value], ranks: Sequence[int]) -> int | None:
    within = next((given[name] for name in ("group_src", "group_dst") if given.get(name) is not None), None)
    if within is not None:
        return int(ranks[within])
    return next((int(given[name]) for name in ("src", "dst") if given.get(name) is not None), None)


def _tensors(name: str, given: Mapping[str, Value], ranks: int) -> list[Value]:
    tensor = given.get(name.strip("[]"))
    if tensor is None:
        return []
    if isinstance(tensor, list | tuple):
        return list(tensor)
    if not values.is_tensor(tensor):
        return []
    if not name.startswith("["):
        return [tensor]
    sizes = given.get(_SPLITS.get(name, ""))
    with torch.no_grad():
        if sizes:
            return list(tensor.detach().split(list(sizes)))
        if tensor.numel() % ranks or not tensor.is_contiguous():
            return []
        return list(tensor.detach().view(ranks, -1).unbind())
