"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, Final, overload

from trueline.apitable.functions import functions_of
from trueline.apitable.traits import Trait
from trueline.checks.engine.check import check, found, none, undecided
from trueline.checks.evidence.looks import TRAIN, looked, trained_rank, where
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Finding
from trueline.model.numbers import decode
from trueline.model.run import EventName

_BY_DIFFERENCE: Final = functions_of(Trait.BY_DIFFERENCE)


@check("cg.04", "the loss function is wrong")
def from_run(run: Run, *, max_apart: float = 1e-5, max_sum_apart: float = 1e-3) -> Iterator[Finding]:
    """Every loss function that was seen, once for each line that calls it."""
    rank = trained_rank(run)
    criteria = [] if rank is None else [one for one in looked(rank, EventName.CRITERION, TRAIN) if "shapes" in one]
    if not criteria:
        yield undecided("cg_04.no_loss" if rank is None else "cg_04.own_loss")
        return
    told: set[tuple[str, str]] = set()
    checked: dict[str, float] = {}
    for event in criteria:
        for said, measured, limit in _faults(event, max_apart, max_sum_apart):
            at = (said, str(event.get("line")))
            if at in told:
                continue
            told.add(at)
            params = {"function": event["function"], "step": event["step"], **_shapes(event)}
            # Targets out of range are the dataset's fault where only some are.
            root = "ds.02" if said == "cg_04.target_range" else None
            yield found(said, where(event), measured=measured, limit=limit, because=root, evidence=[event], **params)
        if event.get("recomputed") is not None:
            checked[event["function"]] = max(checked.get(event["function"], 0.0), _apart(event))
    if told:
        return
    evidence = [{"function": name, "apart": apart} for name, apart in checked.items()] or [criteria[0]]
    if checked:
        names = ", ".join(sorted(checked))
        yield none("cg_04.recomputed", evidence=evidence, measured=max(checked.values()), limit=max_apart, names=names)
    else:
        # Shapes and kinds fit many a loss: its value was not computed again.
        yield undecided("cg_04.fits", evidence=evidence, names=criteria[0]["function"])


def _shapes(event: Mapping[str, Any]) -> dict[str, str]:
    return {side: str(tuple(event["shapes"][side])) for side in ("prediction", "target")}


def _faults(event: Mapping[str, Any], max_apart: float, max_sum_apart: float) -> Iterator[tuple[str, Any, Any]]:
    """What is wrong with one call: the sentence, what was measured, and the limit."""
    name, made_by = event["function"], event.get("made_by") or ""
    prediction: Mapping[str, Any] = event.get("of_prediction") or {}
    target: Mapping[str, Any] = event.get("of_target") or {}
    low, high = _number(prediction, "min", -1.0), _number(prediction, "max", 2.0)
    if name == "cross_entropy":
        sums = _number(prediction, "sums_apart")
        sums_to_one = sums is not None and low >= 0 and sums < max_sum_apart and prediction["rows"] > 2
        if made_by == "Softmax" or sums_to_one:
            yield "cg_04.softmax_twice", sums, max_sum_apart
        elif made_by == "Sigmoid":
            yield "cg_04.sigmoid_before", None, None
    elif name == "nll_loss":
        logs = _number(prediction, "logs_apart")
        if logs is not None and logs > max(max_sum_apart, 0.05):
            yield "cg_04.not_logarithms", logs, max_sum_apart
    elif name == "binary_cross_entropy_with_logits" and made_by in ("Sigmoid", "Softmax"):
        yield "cg_04.sigmoid_twice", high, 1.0
    if name.startswith("binary") and target:
        least, most = _number(target, "min", 0.0), _number(target, "max", 1.0)
        if least < 0 or most > 1:
            yield "cg_04.target_range", [least, most], [0, 1]
    if name in _BY_DIFFERENCE and _stretched(event["shapes"]["prediction"], event["shapes"]["target"]):
        yield "cg_04.stretched", event["shapes"]["prediction"], event["shapes"]["target"]
    if event.get("recomputed") is not None and prediction.get("finite"):
        half = "16" in event["dtypes"]["prediction"]
        limit = 5e-3 if half else max_apart
        if _apart(event) > limit:
            yield "cg_04.another_value", _apart(event), limit


@overload
def _number(held: Mapping[str, Any], name: str) -> float | None: ...


@overload
def _number(held: Mapping[str, Any], name: str, default: float) -> float: ...


def _number(held: Mapping[str, Any], name: str, default: float | None = None) -> float | None:
    """A number of an event, which may be written as a word; NaN is neither above nor below any limit."""
    value = held.get(name)
    return default if value is None else decode(value)


def _stretched(prediction: list[int], target: list[int]) -> bool:
    """Whether both are repeated to fit each other; one value, or one row for all, may be meant."""
    longest = max(len(prediction), len(target))
    one, other = ([1] * (longest - len(shape)) + shape for shape in (prediction, target))
    return prod(max(a, b) for a, b in zip(one, other, strict=True)) > max(prod(prediction), prod(target))


def _apart(event: Mapping[str, Any]) -> float:
    value, again = decode(event["value"]), decode(event["recomputed"])
    return float(abs(value - again) / max(abs(again), 1.0))
