"""What is wrong with a dataset, from what is told of it: missing values, wrong labels, unbalanced classes, padding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from trueline.data.described import Classes, Described, Drift, Duplicates, Missing, Told
from trueline.data.source import reason_message
from trueline.model.finding import Certainty, Conclusion, Finding
from trueline.model.location import Location
from trueline.model.message import message

# The guide's numbers.
UNBALANCED: Final = 10.0
ENOUGH_SAMPLES_PER_CLASS: Final = 5000
# What was stepped over and is no data of the set.
HARMLESS: Final = frozenset({"not_an_image", "not_an_array", "not_a_file", "describe.other_kind"})
# From this share on the usual type is certain enough for another one to be wrong.
_TYPED: Final = 0.8
# As often more than by chance as makes chance no explanation.
_MORE_THAN_CHANCE: Final = 10.0
# So many sizes or modes are named.
_NAMED: Final = 4
# Why a dataset has no classes that could be uneven.
_WITHOUT_CLASSES: Final = ("describe.label_quantity", "describe.label_empty", "describe.one_class")


def findings_of(found: Described) -> list[Finding]:
    """Every question that this dataset answers, each with at least one finding."""
    return [*_missing(found), *_labels(found), *_balance(found), *_padding(found)]


def _missing(found: Described) -> list[Finding]:
    findings = [finding for field in found.fields for finding in _of_field(field)]
    for reason, count in found.skipped.counts.items():
        if reason not in HARMLESS:
            findings.append(_skipped(found, reason, count))
    if findings:
        return findings
    evidence = {"fields": len(found.fields), "samples": found.samples}
    return [Finding("ds.01", Conclusion.NONE, message("describe.nothing_missing", **evidence), evidence=[evidence])]


def _of_field(field: Told) -> Iterator[Finding]:
    for missing in field.missing:
        yield _missing_values(field, missing)
    for other in field.drift:
        yield _drift(field, other)
    if field.pictures is not None:
        if field.pictures.odd:
            yield _odd_pictures(field, "mode", field.pictures.modes, field.pictures.odd)
        if field.pictures.odd_sizes:
            yield _odd_pictures(field, "size", field.pictures.sizes, field.pictures.odd_sizes)


def _odd_pictures(field: Told, kind: str, counts: Mapping[str, int], first: Sequence[int]) -> Finding:
    """A few images that are not like all others: most often they came in by accident."""
    usual, *others = counts
    count = sum(counts.values()) - counts[usual]
    params = {"field": field.name, "count": count, "others": ", ".join(others[:_NAMED]), "usual": usual}
    modes = kind == "mode"
    return Finding(
        "ds.01",
        Conclusion.SUSPECT,
        message("describe.other_modes", **params) if modes else message("describe.other_sizes", **params),
        where=Location(sample=first[0]),
        measured=count,
        advice=message("describe.advice_modes" if modes else "describe.advice_sizes"),
        extra={"field": field.name, "kind": kind, "count": count, "first": list(first)},
    )


def _missing_values(field: Told, missing: Missing) -> Finding:
    params = {
        "field": field.name,
        "count": missing.count,
        "samples": field.count,
        "share": _percent(missing.count, field),
    }
    said = message("describe.missing", kind=message(f"describe.kind_{_word(missing.kind)}"), **params)
    if missing.kind == "marker":
        said = message("describe.guessed" if missing.guessed else "describe.marked", marker=missing.marker, **params)
    return Finding(
        "ds.01",
        Conclusion.SUSPECT if missing.guessed else Conclusion.FOUND,
        said,
        Certainty.LIKELY if missing.guessed else Certainty.CERTAIN,
        where=Location(sample=missing.first[0] if missing.first else None),
        measured=missing.count,
        advice=message(
            "describe.advice_guessed" if missing.guessed else "describe.advice_missing", marker=missing.marker
        ),
        extra={"field": field.name, "kind": missing.kind, "count": missing.count, "first": list(missing.first)},
    )


def _word(kind: str) -> str:
    return {"+inf": "inf", "-inf": "minus_inf"}.get(kind, kind)


def _percent(count: int, field: Told) -> str:
    return f"{100 * count / field.count:.3g} %" if field.count else "0 %"


def _drift(field: Told, drift: Drift) -> Finding:
    certain = drift.share >= _TYPED
    return Finding(
        "ds.01",
        Conclusion.FOUND if certain else Conclusion.SUSPECT,
        message("describe.drift", field=field.name, count=drift.count, other=drift.other, usual=drift.usual),
        Certainty.LIKELY,
        where=Location(sample=drift.first[0] if drift.first else None),
        measured=drift.count,
        advice=message("describe.advice_drift"),
        extra={"field": field.name, "kind": "type", "count": drift.count, "first": list(drift.first)},
    )


def _skipped(found: Described, reason: str, count: int) -> Finding:
    places = found.skipped.places[reason]
    return Finding(
        "ds.01",
        Conclusion.FOUND,
        message("describe.skipped", reason=reason_message(reason), count=count, places=", ".join(places)),
        where=Location(file=places[0] if places else ""),
        measured=count,
        advice=message("describe.advice_skipped"),
        extra={"field": None, "kind": short_reason(reason), "count": count, "first": places},
    )


def short_reason(reason: str) -> str:
    """The same as a word."""
    return reason.rpartition(".")[2]


def _labels(found: Described) -> list[Finding]:
    findings: list[Finding] = []
    if found.duplicates is not None:
        findings += _repeated(found, found.duplicates)
    if found.classes is None:
        reason = message(found.no_classes or "describe.no_label")
        # Only where no sample has a label there is none to be wrong.
        conclusion = Conclusion.NA if found.no_classes == "describe.label_empty" else Conclusion.OPEN
        return [*findings, Finding("ds.02", conclusion, message("describe.labels_na", reason=reason))]
    findings = [*_strays(found.classes), *_not_one_hot(found.classes), *findings]
    if findings:
        return findings
    evidence = {"classes": len(found.classes.counts), "samples": found.samples}
    said = message("describe.labels_fine", field=found.classes.field, **evidence)
    # Labels of known classes may still be those of other samples: somebody has to look at them.
    return [Finding("ds.02", Conclusion.OPEN, said, advice=message("describe.advice_sheet"), evidence=[evidence])]


def _strays(classes: Classes) -> Iterator[Finding]:
    for stray in classes.strays:
        params = {"field": classes.field, "label": stray.label, "count": stray.count}
        extra = {
            "field": classes.field,
            "kind": "label",
            "count": stray.count,
            "first": [stray.first],
            "label": stray.label,
        }
        if stray.certain:
            said, conclusion = message("describe.outside", classes=_many(classes), **params), Conclusion.FOUND
        elif stray.like is not None:
            said, conclusion = message("describe.misspelt", like=stray.like, **params), Conclusion.SUSPECT
        else:
            said, conclusion = message("describe.stray", **params), Conclusion.SUSPECT
        yield Finding(
            "ds.02",
            conclusion,
            said,
            Certainty.CERTAIN if stray.certain else Certainty.LIKELY,
            where=Location(sample=stray.first),
            measured=stray.count,
            advice=message("describe.advice_label"),
            extra=extra,
        )


def _many(classes: Classes) -> int:
    return classes.given if classes.given is not None else len(classes.counts)


def _not_one_hot(classes: Classes) -> Iterator[Finding]:
    if classes.not_one_hot:
        first = list(classes.not_one_hot_first)
        yield Finding(
            "ds.02",
            Conclusion.FOUND,
            message("describe.not_one_hot", field=classes.field, count=classes.not_one_hot),
            where=Location(sample=first[0]),
            measured=classes.not_one_hot,
            advice=message("describe.advice_label"),
            extra={"field": classes.field, "kind": "one_hot", "count": classes.not_one_hot, "first": first},
        )


def _repeated(found: Described, repeated: Duplicates) -> Iterator[Finding]:
    likely = repeated.count > _MORE_THAN_CHANCE * repeated.by_chance * repeated.share
    if repeated.conflicting_count:
        sample, earlier, label, before = repeated.conflicting[0]
        params = {"count": repeated.conflicting_count, "sample": sample, "earlier": earlier}
        yield Finding(
            "ds.02",
            Conclusion.FOUND if likely else Conclusion.SUSPECT,
            message("describe.conflicting", label=label, before=before, **params),
            Certainty.CERTAIN if likely else Certainty.POSSIBLE,
            where=Location(sample=sample),
            measured=repeated.conflicting_count,
            advice=message("describe.advice_conflicting"),
            extra={
                "field": found.classes.field if found.classes is not None else None,
                "kind": "conflict",
                "count": repeated.conflicting_count,
                "first": [pair[0] for pair in repeated.conflicting],
            },
        )
    same = repeated.count - repeated.conflicting_count
    if same and likely:
        sample, earlier = repeated.first[0]
        yield Finding(
            "ds.02",
            Conclusion.SUSPECT,
            message("describe.duplicates", count=same, sample=sample, earlier=earlier),
            where=Location(sample=sample),
            measured=same,
            advice=message("describe.advice_duplicates"),
            extra={"field": None, "kind": "duplicate", "count": same, "first": [one[0] for one in repeated.first]},
        )


def _balance(found: Described) -> list[Finding]:
    classes = found.classes
    if classes is None or len(classes.counts) < 2:
        why = "describe.one_class" if classes is not None else found.no_classes or "describe.no_label"
        conclusion = Conclusion.NA if why in _WITHOUT_CLASSES else Conclusion.OPEN
        return [Finding("ds.03", conclusion, message("describe.balance_na", reason=message(why)))]
    (most, many), (least, few) = classes.counts[0], classes.counts[-1]
    params = {"most": most, "many": many, "least": least, "few": few, "ratio": f"{classes.ratio:.3g}"}
    bad = classes.ratio >= UNBALANCED
    return [
        Finding(
            "ds.03",
            Conclusion.FOUND if bad else Conclusion.NONE,
            message("describe.unbalanced" if bad else "describe.balanced", field=classes.field, **params),
            measured=classes.ratio,
            limit=UNBALANCED,
            advice=message("describe.advice_unbalanced") if bad else None,
            evidence=[{"classes": len(classes.counts), "std": classes.std, "ratio": classes.ratio}],
            extra={"field": classes.field},
        )
    ]


def _padding(found: Described) -> list[Finding]:
    findings = []
    for field in found.fields:
        padding = field.padding
        if padding is None:
            continue
        evidence = {"side": padding.side, "value": padding.value, "share": padding.share, "samples": padding.samples}
        if not padding.other_side:
            said = message("describe.padding_fine", field=field.name, side=message(f"describe.side_{padding.side}"))
            # Masks and losses, which have to leave padding out, are not in the data.
            findings.append(Finding("dp.04", Conclusion.OPEN, said, evidence=[evidence], extra={"field": field.name}))
            continue
        first = list(padding.other_side)
        findings.append(
            Finding(
                "dp.04",
                Conclusion.FOUND,
                message("describe.padding_mixed", field=field.name, count=padding.other_count, value=padding.value),
                Certainty.LIKELY,
                where=Location(sample=first[0]),
                measured=padding.other_count,
                advice=message("describe.advice_padding"),
                evidence=[evidence],
                extra={"field": field.name, "kind": "padding", "count": padding.other_count, "first": first},
            )
        )
    return findings
