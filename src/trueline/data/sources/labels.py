"""Which field holds the label: the one that was given, or the only one that is called like a label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trueline.model.trouble import BadUsage

_NAMES: Final = ("label", "labels", "target", "targets", "class", "classes", "y", "category", "fine_label", "class_id")
# How the parts of a dataset are called.
SPLITS: Final = ("train", "training", "val", "valid", "validation", "dev", "eval", "test", "testing")


def choose_label(name: str, fields: Sequence[str], given: str | None) -> str | None:
    """The label's field; a BadUsage where the given one is not there."""
    if given is not None:
        if given not in fields:
            raise BadUsage("sources.no_such_field", field=given, name=name, fields=", ".join(fields))
        return given
    lower = {field.lower(): field for field in reversed(fields)}
    return next((lower[usual] for usual in _NAMES if usual in lower), None)


def split_off(name: str) -> tuple[str, str]:
    """(field, split) of a name such as x_train or train_images; the split is empty where there is none."""
    words = name.replace("-", "_").replace("/", "_").split("_")
    for place in (-1, 0):
        if len(words) > 1 and words[place].lower() in SPLITS:
            rest = words[:-1] if place else words[1:]
            return "_".join(rest), words[place].lower()
    return name, ""
