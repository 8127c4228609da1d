"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trueline.checks.dp_04_padding.fed import Padded, ends_seen, is_padding, padded_fields
from trueline.checks.engine.check import check, found, na, none, suspect, undecided
from trueline.checks.evidence.criteria import Criterion, count_of, criteria
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Finding
from trueline.model.json_value import Json


@check("dp.04")
def from_run(run: Run) -> Iterator[Finding]:
    """Sides, masks and losses of the first batches."""
    fields = padded_fields(run)
    if not fields:
        yield na("dp_04.no_padding") if ends_seen(run) else undecided("dp_04.no_sequences")
        return
    problems = [*_mixed(fields), *_masks(fields), *_counted(run, fields)]
    yield from problems
    if not problems:
        shown: list[Json] = [{"field": padded.field, "side": padded.side, "value": padded.value} for padded in fields]
        yield none("dp_04.fine", evidence=shown, fields=", ".join(padded.field for padded in fields))


def _mixed(fields: Sequence[Padded]) -> Iterator[Finding]:
    for padded in fields:
        if padded.side == "mixed":
            yield found(
                "dp_04.mixed",
                padded.stream.where(step=padded.step),
                measured=padded.other_side,
                limit=0,
                evidence=[{"field": padded.field, "value": padded.value, "other_side": padded.other_side}],
                field=padded.field,
                value=padded.value,
                count=padded.other_side,
            )


def _masks(fields: Sequence[Padded]) -> Iterator[Finding]:
    """A mask beside padded sequences must end where they do."""
    for sequences in fields:
        fed = sequences.stream.batches[0]
        for field in fed.batch.fields:
            if field.name == sequences.field or field.shape != (sequences.length,):
                continue
            # Other yes-or-no fields of the same length are segments, or labels.
            if field.ends is None or not (field.dtype == "bool" or "mask" in field.name.lower()):
                continue
            runs = [a + b for a, b in zip(field.ends.left, field.ends.right, strict=True)]
            # It marks the padding, or the words.
            pairs = list(zip(runs, sequences.lengths, strict=False))
            off = min(sum(a != b for a, b in pairs), sum(sequences.length - a != b for a, b in pairs))
            padded = sum(length > 0 for length in sequences.lengths)
            sure = "mask" in field.name.lower() or len(set(runs)) == 1
            if off > 0.1 * padded:
                yield (found if sure else suspect)(
                    "dp_04.mask",
                    sequences.stream.where(step=sequences.step),
                    measured=off,
                    limit=0,
                    evidence=[{"field": sequences.field, "mask": field.name, "samples": padded, "off": off}],
                    field=sequences.field,
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
        for padded in fields:
            if padded.value == loss.ignored or padded.side == "mixed":
                continue
            padding = _padding_in(loss, padded)
            if padding:
                total = count_of(loss)
                yield found(
                    "dp_04.counted",
                    loss.where,
                    measured=padding / total,
                    limit=0,
                    evidence=[
                        {"field": padded.field, "value": padded.value, "ignore_index": loss.ignored, "labels": total}
                    ],
                    loss=loss.kind,
                    value=padded.value,
                    count=padding,
                    total=total,
                    ignored=int(loss.ignored),
                )
                return


def _padding_in(loss: Criterion, padded: Padded) -> int:
    """How many of the labels are padding: flat ones show it by their zeros, where zero fills up."""
    if loss.ends is not None and len(loss.labels) == 2 and is_padding(loss.ends, loss.labels[1]):
        return sum(loss.ends.right) + sum(loss.ends.left) if loss.ends.value == padded.value else 0
    samples = len(padded.lengths)
    if padded.value != 0 or loss.zeros is None or not _is_of(count_of(loss), samples, padded.length):
        return 0
    filled = sum(padded.lengths)
    # Labels are the words moved by one: a sequence may lose one of its padding, or gain one.
    return loss.zeros if filled and abs(loss.zeros - filled) <= samples else 0


def _is_of(total: int, samples: int, length: int) -> bool:
    return total in (samples * length, samples * (length - 1))
