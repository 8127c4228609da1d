"""Sequences are padded in a wrong way.

What it looks at
----------------
Which value fills sequences up to one length, and on which side: in a dataset, and in the first batches of a recorded
run. Some sequences filled on the left and some on the right, a mask that does not cover the padding, and a loss that
counts the padding (its ignore_index is another value) are problems. In a script also: masks that are true for the
words where the padding is asked for, or compare with another value; masks and lengths that are not used, or of which
only the shape is; parts of a sample on different sides. Against a benchmark: another side or another value.

Why it hurts
------------
A network that reads padding as words learns about padding: the attention looks at it, the last state of a recurrent
network is that of the padding, and the loss is small because padding is easy to predict.

What to do
----------
Pad all sequences on one side with one value, give the network the mask or the lengths (pack_padded_sequence), and
give the loss the padding's value as its ignore_index, or labels of -100 there.

When it is wrong
----------------
Where the padding is masked by a computation of the script's own between network and loss, that is not seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from trueline.checks.engine.check import check, found, na, none, suspect
from trueline.checks.evidence.criteria import Criterion, count_of, criteria
from trueline.checks.evidence.described import answers
from trueline.checks.evidence.padding import Padded, ends_seen, is_padding, padded_fields
from trueline.data.described import Described, Padding
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Finding, Where


@check("dp.04", "padding is wrong")
def from_data(data: Described) -> Iterator[Finding]:
    """As ``trueline data describe`` judges it."""
    told = answers(data, "dp.04")
    yield from told or [na("dp_04.no_padding")]


@check("dp.04")
def from_data_pair(data: Described, bench_data: Described) -> Iterator[Finding]:
    """The same field of two datasets is to be padded in the same way."""
    here, there = _told(data), _told(bench_data)
    common = [name for name in here if name in there]
    if not common:
        yield na("dp_04.no_padding")
        return
    different = [name for name in common if _way(here[name]) != _way(there[name])]
    for name in different:
        yield _differs(name, _way(here[name]), _way(there[name]), Where())
    if not different:
        yield none("dp_04.as_bench", evidence=[{name: _way(here[name]) for name in common}], fields=", ".join(common))


def _told(data: Described) -> dict[str, Padding]:
    return {one.name: one.padding for one in data.fields if one.padding is not None}


def _way(one: Padding | Padded) -> tuple[str, float]:
    return one.side, float(one.value)


def _differs(name: str, here: tuple[str, float], there: tuple[str, float], where: Where) -> Finding:
    params: dict[str, Any] = {"field": name, "side": here[0], "value": here[1]}
    params |= {"bench_side": there[0], "bench_value": there[1]}
    return found("dp_04.differs", where, measured=list(here), limit=list(there), evidence=[params], **params)


@check("dp.04")
def from_run(run: Run) -> Iterator[Finding]:
    """Sides, masks and losses of the first batches."""
    fields = padded_fields(run)
    if not fields:
        yield na("dp_04.no_padding" if ends_seen(run) else "dp_04.no_sequences")
        return
    problems = [*_mixed(fields), *_masks(fields), *_counted(run, fields)]
    yield from problems
    if not problems:
        shown = [{"field": one.field, "side": one.side, "value": one.value} for one in fields]
        yield none("dp_04.fine", evidence=shown, fields=", ".join(one.field for one in fields))


@check("dp.04")
def from_runs(run: Run, bench_run: Run) -> Iterator[Finding]:
    """The way of padding of the benchmark's first batches."""
    here, there = padded_fields(run), padded_fields(bench_run)
    if not here or not there:
        yield na("dp_04.no_padding")
        return
    one, other = here[0], there[0]
    if _way(one) != _way(other):
        yield _differs(one.field, _way(one), _way(other), one.stream.where(step=one.step))
    else:
        yield none("dp_04.as_bench", evidence=[{one.field: _way(one)}], fields=one.field)


def _mixed(fields: Sequence[Padded]) -> Iterator[Finding]:
    for one in fields:
        if one.side == "mixed":
            yield found(
                "dp_04.mixed",
                one.stream.where(step=one.step),
                measured=one.other_side,
                limit=0,
                evidence=[{"field": one.field, "value": one.value, "other_side": one.other_side}],
                field=one.field,
                value=one.value,
                count=one.other_side,
            )


def _masks(fields: Sequence[Padded]) -> Iterator[Finding]:
    """A mask beside padded sequences must end where they do."""
    for one in fields:
        fed = one.stream.batches[0]
        for field in fed.batch.fields:
            if field.name == one.field or field.shape != (one.length,):
                continue
            # Other yes-or-no fields of the same length are segments, or labels.
            if field.ends is None or not (field.dtype == "bool" or "mask" in field.name.lower()):
                continue
            runs = [a + b for a, b in zip(field.ends.left, field.ends.right, strict=True)]
            # It marks the padding, or the words.
            pairs = list(zip(runs, one.lengths, strict=False))
            off = min(sum(a != b for a, b in pairs), sum(one.length - a != b for a, b in pairs))
            padded = sum(length > 0 for length in one.lengths)
            sure = "mask" in field.name.lower() or len(set(runs)) == 1
            if off > 0.1 * padded:
                yield (found if sure else suspect)(
                    "dp_04.mask",
                    one.stream.where(step=one.step),
                    measured=off,
                    limit=0,
                    evidence=[{"field": one.field, "mask": field.name, "samples": padded, "off": off}],
                    field=one.field,
                    mask=field.name,
                    count=off,
                    padded=padded,
                )
                return


def _counted(run: Run, fields: Sequence[Padded]) -> Iterator[Finding]:
    """A loss over words that is given the padding as if it were one."""
    for loss in criteria(run):
        if not loss.reduced or loss.weighted or not loss.labels:
            continue
        for one in fields:
            if one.value == loss.ignored or one.side == "mixed":
                continue
            padding = _padding_in(loss, one)
            if padding:
                total = count_of(loss)
                yield found(
                    "dp_04.counted",
                    loss.where,
                    measured=padding / total,
                    limit=0,
                    evidence=[{"field": one.field, "value": one.value, "ignore_index": loss.ignored, "labels": total}],
                    loss=loss.kind,
                    value=one.value,
                    count=padding,
                    total=total,
                    ignored=int(loss.ignored),
                )
                return


def _padding_in(loss: Criterion, one: Padded) -> int:
    """How many of the labels are padding: flat ones show it by their zeros, where zero fills up."""
    if loss.ends is not None and len(loss.labels) == 2 and is_padding(loss.ends, loss.labels[1]):
        return sum(loss.ends.right) + sum(loss.ends.left) if loss.ends.value == one.value else 0
    samples = len(one.lengths)
    if one.value != 0 or loss.zeros is None or not _is_of(count_of(loss), samples, one.length):
        return 0
    filled = sum(one.lengths)
    # Labels are the words moved by one: a sequence may lose one of its padding, or gain one.
    return loss.zeros if filled and abs(loss.zeros - filled) <= samples else 0


def _is_of(total: int, samples: int, length: int) -> bool:
    return total in (samples * length, samples * (length - 1))
