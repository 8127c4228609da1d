"""One small dataset described, and what the answer lacks of its planted faults, or says of a clean one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from trueline.data.describing import Wanted, describe
from trueline.data.describing.report import result
from trueline.data.sources.opening import open_source
from trueline.model.trouble import Trouble

# What the sets' list calls the label, and the sources do.
LABELS = {"folder": None, "labels": "label"}
SPOKEN = ("found", "suspect")


def described(one: Mapping[str, Any], root: Path) -> dict[str, Any]:
    """The answer of ``trueline data describe --json``; of what cannot be described at all the one line."""
    label = one["label_field"]
    if one["source"] in ("images", "idx", "cifar"):
        label = LABELS.get(label, label)
    try:
        source = open_source(str(root / one["path"]), label=label)
        return result(describe(source, Wanted(label))).to_json("en") | {"names": _names(root / one["path"])}
    except Trouble as trouble:
        return {"exit": 2, "said": str(trouble), "findings": [], "fields": [], "skipped": [], "classes": None}


def _names(folder: Path) -> list[str]:
    """The files of a folder of images in the order of their samples."""
    files = (path for path in folder.glob("*/*") if path.is_file())
    return sorted(path.relative_to(folder).as_posix() for path in files) if folder.is_dir() else []


def wrong(one: Mapping[str, Any], answer: Mapping[str, Any]) -> list[str]:
    """What was not told, or told of a set that is clean."""
    if not one["faults"]:
        told = [f"{each['code']}: {each['message']}" for each in answer["findings"] if each["conclusion"] in SPOKEN]
        return told + ([answer["said"]] if answer["exit"] == 2 else [])
    return [f"{fault['kind']} of {fault['field']}" for fault in one["faults"] if not _told(fault, answer, one)]


def _told(fault: Mapping[str, Any], answer: Mapping[str, Any], one: Mapping[str, Any]) -> bool:
    if answer["exit"] == 2:
        # There is nothing else in it.
        return fault["kind"] in ("empty-set", "broken-file", "short-file") and fault["indexes"][0] in answer["said"]
    return JUDGES[fault["kind"]](fault, answer, one)


def _fields(fault: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    name = LABELS.get(fault["field"], fault["field"])
    return (each for each in answer["fields"] if name is None or each["name"] in (name, fault["field"]))


def _missing(*kinds: str) -> Callable[..., bool]:
    def judge(fault: Mapping[str, Any], answer: Mapping[str, Any], _: Mapping[str, Any]) -> bool:
        found = [each for field in _fields(fault, answer) for each in field["missing"] if each["kind"] in kinds]
        if "value" in fault:
            found = [each for each in found if float_or_text(each["marker"]) == float_or_text(fault["value"])]
        first = {index for each in found for index in each["first"]}
        return set(fault["indexes"]) <= first

    return judge


def float_or_text(value: Any) -> Any:
    """-999, -999.0 and "-999" are one marker."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


def _drift(fault: Mapping[str, Any], answer: Mapping[str, Any], _: Mapping[str, Any]) -> bool:
    first = {index for field in _fields(fault, answer) for each in field["drift"] for index in each["first"]}
    # A whole file of another type: its first sample is told.
    return bool(first) if isinstance(fault["indexes"][0], str) else set(fault["indexes"]) <= first


def _found(code: str) -> Callable[..., bool]:
    def judge(_: Mapping[str, Any], answer: Mapping[str, Any], __: Mapping[str, Any]) -> bool:
        return any(each["code"] == code and each["conclusion"] == "found" for each in answer["findings"])

    return judge


def _duplicates(fault: Mapping[str, Any], answer: Mapping[str, Any], _: Mapping[str, Any]) -> bool:
    pairs = zip(fault["indexes"], fault["of"], strict=True)
    told = answer["duplicates"]["first"]
    return all(_pair(a, b, told, answer) for a, b in pairs)


def _conflicts(fault: Mapping[str, Any], answer: Mapping[str, Any], _: Mapping[str, Any]) -> bool:
    told = answer["duplicates"]["conflicting"]
    spoken = any(each["code"] == "ds.02" and each["conclusion"] in SPOKEN for each in answer["findings"])
    return spoken and all(_pair(later, first, told, answer) for first, later in fault["groups"])


def _pair(later: Any, first: Any, told: Sequence[Mapping[str, Any]], answer: Mapping[str, Any]) -> bool:
    wanted = tuple(answer["names"].index(each) if isinstance(each, str) else each for each in (later, first))
    return any((each["sample"], each["earlier"]) == wanted for each in told)


def _strays(fault: Mapping[str, Any], answer: Mapping[str, Any], _: Mapping[str, Any]) -> bool:
    first = {each["first"] for each in answer["classes"]["strays"]}
    spoken = any(each["code"] == "ds.02" and each["conclusion"] in SPOKEN for each in answer["findings"])
    return spoken and first <= set(fault["indexes"]) and fault["indexes"][0] in first


def _stepped_over(fault: Mapping[str, Any], answer: Mapping[str, Any], one: Mapping[str, Any]) -> bool:
    wanted = fault["indexes"]
    if isinstance(wanted[0], int):
        # A table's place is its file and line, of which a header is the first.
        above = 1 if one["source"] == "jsonl" else 2
        wanted = [f"{Path(one['path']).name}:{index + above}" for index in wanted]
    return _places(wanted, answer)


def _places(wanted: Sequence[Any], answer: Mapping[str, Any]) -> bool:
    told = [place for each in answer["skipped"] for place in each["places"]]
    return all(any(str(name) in place for place in told) for name in wanted)


def _mismatch(fault: Mapping[str, Any], answer: Mapping[str, Any], _: Mapping[str, Any]) -> bool:
    return bool(answer["skipped"]) and bool(fault)


def _odd_pictures(what: str) -> Callable[..., bool]:
    def judge(fault: Mapping[str, Any], answer: Mapping[str, Any], _: Mapping[str, Any]) -> bool:
        told = next(each["pictures"] for each in answer["fields"] if each.get("pictures"))
        return len(told[what]) > 1 and {answer["names"].index(each) for each in fault["indexes"]} <= {
            *told["odd"],
            *told["odd_sizes"],
        }

    return judge


def _padding(fault: Mapping[str, Any], answer: Mapping[str, Any], _: Mapping[str, Any]) -> bool:
    told = next(each["padding"] for each in _fields(fault, answer))
    return told is not None and set(told["other_side"]) == set(fault["indexes"]) and _found("dp.04")(fault, answer, _)


JUDGES: Mapping[str, Callable[..., bool]] = {
    "missing-nan": _missing("nan"),
    "missing-inf": _missing("+inf", "-inf"),
    "missing-null": _missing("null", "marker"),
    "missing-key": _missing("null"),
    "missing-empty": _missing("empty", "null"),
    "missing-marker": _missing("marker"),
    "type-drift": _drift,
    "imbalance": _found("ds.03"),
    "duplicates": _duplicates,
    "conflicting-labels": _conflicts,
    "labels-out-of-range": _strays,
    "broken-image": _stepped_over,
    "short-row": _stepped_over,
    "long-row": _stepped_over,
    "wrong-encoding": _stepped_over,
    "broken-line": _stepped_over,
    "broken-footer": _stepped_over,
    "broken-file": _stepped_over,
    "short-file": _stepped_over,
    "empty-folder": _stepped_over,
    "empty-set": _stepped_over,
    "symlink-loop": _stepped_over,
    "broken-symlink": _stepped_over,
    "count-mismatch": _stepped_over,
    "length-mismatch": _mismatch,
    "odd-image-size": _odd_pictures("sizes"),
    "odd-image-mode": _odd_pictures("modes"),
    "padding-side-mixed": _padding,
}
