"""The metric of one side on given predictions and labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from trueline.adapters.guest.faults import said_for
from trueline.adapters.guest.trouble import SideTrouble
from trueline.adapters.guest.wire import Content
from trueline.kernel.array import Array
from trueline.pair.child.host import Answer, Host
from trueline.pair.child.losses import as_labels
from trueline.pair.child.part_about import about
from trueline.pair.child.parts import made, refuse

# What metrics that gather over batches call: to begin, to take a batch, to give the result.
_GATHERING: Final = (("clear", "update", "eval"), ("reset", "update", "compute"), ("reset", "update", "result"))
_ALONE: Final = "value"


def answer_metric(host: Host, content: Content, arrays: list[Array]) -> Answer:
    """Each of ``cases`` says how many batches it has, of which the arrays are predictions and labels in turn.

    A case's answer has the numbers by name, or why it failed. Only a metric that gathers can take several batches.
    """
    if "metric" not in host.kept:
        host.kept["metric"] = made(host, "metric")
    metric = host.kept["metric"]
    gathering = next((names for names in _GATHERING if all(hasattr(metric, name) for name in names)), None)
    if gathering is None and not callable(metric):
        raise refuse(host, "metric", metric, "callable(predictions, labels)")
    remaining = iter(arrays)
    told: list[dict[str, Any]] = []
    for count in content["cases"]:
        batches = [(next(remaining), next(remaining)) for _ in range(count)]
        try:
            told.append({"values": _numbers(host, metric, gathering, batches)})
        except SideTrouble as trouble:
            told.append({"failed": {"id": trouble.message.id, "params": dict(trouble.message.params)}})
    return {"cases": told, "gathers": gathering is not None, "about": about(host, "metric", metric)}, []


def _numbers(
    host: Host, metric: Any, gathering: Sequence[str] | None, batches: Sequence[tuple[Array, Array]]
) -> dict[str, list[float]]:
    values = host.adapter.values
    tensors = [(values.from_numpy(one), values.from_numpy(as_labels(host, other))) for one, other in batches]
    try:
        with said_for(host.side, "metric"):
            return _named(host, _run(metric, gathering, tensors))
    except SideTrouble as trouble:
        try:
            # Many metrics are written for NumPy.
            with said_for(host.side, "metric"):
                return _named(host, _run(metric, gathering, batches))
        except SideTrouble:
            raise trouble from None


def _run(metric: Any, gathering: Sequence[str] | None, batches: Sequence[tuple[Any, Any]]) -> Any:
    if gathering is None:
        return metric(*batches[0])
    begin, take, give = (getattr(metric, name) for name in gathering)
    begin()
    for predictions, labels in batches:
        take(predictions, labels)
    return give()


def _named(host: Host, found: Any) -> dict[str, list[float]]:
    if isinstance(found, Mapping):
        return {str(name): _floats(host, one) for name, one in found.items()}
    if isinstance(found, list | tuple):
        return {f"{_ALONE}.{place}": _floats(host, one) for place, one in enumerate(found)}
    return {_ALONE: _floats(host, found)}


def _floats(host: Host, found: Any) -> list[float]:
    values = host.adapter.values
    array = values.to_numpy(found) if values.is_tensor(found) else np.asarray(found)
    if array.dtype.kind not in "biuf":
        raise refuse(host, "metric", found, "number")
    return [float(one) for one in array.reshape(-1)]
