"""Every format that is read, by name."""

from __future__ import annotations

from fuzz.targets import datasets, dumps, lists, logs, options, runs, scripts, weights

TARGETS = {
    one.name: one
    for family in (weights, logs, runs, dumps, lists, datasets, scripts, options)
    for one in family.TARGETS
}
