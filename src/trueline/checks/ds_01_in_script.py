"""Values are missing in the data: what a script says of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from trueline.checks.check import check, found, na, none
from trueline.checks.of_script.passes import training_data
from trueline.checks.of_script.statistics import reached
from trueline.model.finding import Finding
from trueline.script.script import Script
from trueline.script.trace import UNCALLED
from trueline.script.values import Const, Made, Symbol, Value, options

_MISSING: Final = ("nan", "NaN", "NAN", "inf", "Inf", "Infinity", "PINF", "NINF")
_FILLING: Final = frozenset(
    ("nan_to_num", "nan_to_num_", "isnan", "isfinite", "isinf", "nanmean", "nanmedian", "nanstd", "fillna", "dropna",
     "interpolate", "isna", "notna", "notnull", "SimpleImputer", "KNNImputer", "fit_transform", "masked_invalid")
)  # fmt: skip


@check("ds.01")
def from_script(script: Script) -> Iterator[Finding]:
    """Numbers that are not finite which the script itself writes into what it trains on."""
    trace = script.trace
    loaders = training_data(trace)
    if not loaders:
        yield na("ds_01_in_script.no_training_loop")
        return
    filled = [event for event in trace.events if event.method in _FILLING]
    used = {id(one) for loader in loaders for one in reached(loader)}
    told = False
    for event in trace.events:
        if any(one.kind == UNCALLED for one in event.scopes):
            continue
        written = event.arg(1) if event.method == "__setitem__" else event.arg(1, "fill_value")
        of = event.receiver if event.method == "__setitem__" else event.result
        if (
            event.method not in ("__setitem__", "full", "where", "fill")
            or not _is_missing(written)
            or id(of) not in used
        ):
            continue
        told = True
        if filled:
            yield none("ds_01_in_script.filled", evidence=[str(one.place) for one in filled], where=event.place.where())
        else:
            yield found("ds_01_in_script.written", event.place.where())
    if not told:
        yield na("ds_01_in_script.only_the_data")


def _is_missing(value: Value | None) -> bool:
    for one in options(value):
        if isinstance(one, Const) and isinstance(one.value, float) and not math.isfinite(one.value):
            return True
        if isinstance(one, Symbol) and one.name.rpartition(".")[2] in _MISSING:
            return True
        if isinstance(one, Made) and one.name == "builtins.float":
            given = one.event.arg(0)
            return isinstance(given, Const) and str(given.value).lower().lstrip("+-") in ("nan", "inf", "infinity")
    return False
