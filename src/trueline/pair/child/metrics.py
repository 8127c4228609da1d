"""The metric of one side on given predictions and labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from trueline.adapters.guest.faults import said_for
from trueline.adapters.guest.trouble import SideTrouble
from trueline.adapters.nouns import Value
from trueline.kernel.array import Array
from trueline.pair.child.host import Host, UserObject
from trueline.pair.child.losses import as_labels
from trueline.pair.child.part_about import about
from trueline.pair.child.parts import made_once, refuse
from trueline.pair.questions.parts import Metric, MetricAnswers, MetricValues, Refused

# What metrics that gather over batches call: to begin, to take a batch, to give the result.
_GATHERING: Final = (("clear", "update", "eval"), ("reset", "update", "compute"), ("reset", "update", "result"))
_ALONE: Final = "value"


def compute_metrics(host: Host, question: Metric) -> MetricAnswers:
    """The numbers of each case, or why it failed."""
    metric = made_once(host, "metric")
    gathering = next((names for names in _GATHERING if all(hasattr(metric, name) for name in names)), None)
    if gathering is None and not callable(metric):
        raise refuse(host, "metric", metric, "callable(predictions, labels)")
    answers: list[MetricValues | Refused] = []
    for batches in question.cases:
        try:
            answers.append(MetricValues(_numbers(host, metric, gathering, batches)))
        except SideTrouble as trouble:
            answers.append(Refused(trouble.message.id, trouble.message.params))
    return MetricAnswers(answers, gathering is not None, about(host, "metric", metric))


def _numbers(
    host: Host, metric: UserObject, gathering: Sequence[str] | None, batches: Sequence[tuple[Array, Array]]
) -> dict[str, list[float]]:
    values = host.adapter.values
    tensors = [
        (values.from_numpy(predictions), values.from_numpy(as_labels(host, labels))) for predictions, labels in batches
    ]
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


def _run(metric: UserObject, gathering: Sequence[str] | None, batches: Sequence[tuple[Value, Value]]) -> Value:
    if gathering is None:
        return metric(*batches[0])
    begin, take, give = (getattr(metric, name) for name in gathering)
    begin()
    for predictions, labels in batches:
        take(predictions, labels)
    return give()


def _named(host: Host, result: Value) -> dict[str, list[float]]:
    if isinstance(result, Mapping):
        return {str(name): _floats(host, value) for name, value in result.items()}
    if isinstance(result, list | tuple):
        return {f"{_ALONE}.{place}": _floats(host, value) for place, value in enumerate(result)}
    return {_ALONE: _floats(host, result)}


def _floats(host: Host, value: Value) -> list[float]:
    values = host.adapter.values
    array = values.to_numpy(value) if values.is_tensor(value) else np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise refuse(host, "metric", value, "number")
    return [float(number) for number in array.reshape(-1)]
