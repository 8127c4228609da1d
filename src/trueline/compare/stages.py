"""The guide's decision procedure, question by question, with what this comparison answers to each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from trueline.compare.batches import Data
from trueline.compare.levels import BACKWARD
from trueline.compare.rows import Row, Tensors
from trueline.compare.runs import RunComparison
from trueline.compare.settings import Setting
from trueline.compare.verdict import Verdict
from trueline.model.key import Kind
from trueline.model.message import Message, message

# A sentence names so many settings; the findings list them all.
_MAX_SHOWN_SETTINGS: Final = 3


class Stage(StrEnum):
    """The questions in their order."""

    SEEDS = "seeds"
    HYPER = "hyper"
    DATA = "data"
    STRUCTURE = "structure"
    WEIGHTS = "weights"
    PRECISION = "precision"
    FIRST_LOSS = "first_loss"
    FORWARD = "forward"
    SECOND_LOSS = "second_loss"
    GRADIENTS = "gradients"
    UPDATE = "update"
    CURVE = "curve"


class State(StrEnum):
    """How a question ends."""

    SAME = "same"
    NOISE = "noise"
    DIFFERS = "differs"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Answer:
    """One question's answer."""

    stage: Stage
    state: State
    says: Message


def walk(compared: RunComparison) -> list[Answer]:
    """Every question in order; what was not recorded is unknown."""
    return list(_walk(compared))


def _walk(compared: RunComparison) -> Iterator[Answer]:
    seeds = [one for one in (compared.a.run.info.seeds, compared.b.run.info.seeds) if one]
    yield _settings(Stage.SEEDS, compared.seeds, known=len(seeds) == 2)
    yield _settings(Stage.HYPER, compared.hyper, known=bool(compared.a.run.info.hyper and compared.b.run.info.hyper))
    yield _data(compared)
    yield _structure(compared)
    yield _weights(compared)
    precisions = [side.run.info.precision for side in (compared.a, compared.b)]
    yield _settings(Stage.PRECISION, compared.precision, known=all(precisions))
    yield _loss(compared, Stage.FIRST_LOSS, 0)
    yield _tensors(compared, Stage.FORWARD, lambda kind: kind in (Kind.IN, Kind.OUT))
    yield _loss(compared, Stage.SECOND_LOSS, 1)
    yield _tensors(compared, Stage.GRADIENTS, lambda kind: kind in BACKWARD)
    yield _tensors(compared, Stage.UPDATE, lambda kind: kind in (Kind.PARAM, Kind.OPT, Kind.BUFFER))
    yield _curve(compared)


def _settings(stage: Stage, other: Sequence[Setting], *, known: bool) -> Answer:
    if not known:
        return Answer(stage, State.UNKNOWN, message("stage.unknown"))
    if not other:
        return Answer(stage, State.SAME, message("stage.same"))
    return Answer(stage, State.DIFFERS, message("stage.settings", settings=settings_text(other)))


def settings_text(other: Sequence[Setting]) -> str:
    """The first settings that differ, as a sentence lists them."""
    shown = [
        f"{setting.name} {_value(setting.a)} / {_value(setting.b)}"
        + (f" (step {setting.step})" if setting.step is not None else "")
        for setting in other[:_MAX_SHOWN_SETTINGS]
    ]
    return ", ".join(shown) + (", ..." if len(other) > _MAX_SHOWN_SETTINGS else "")


def _value(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _data(compared: RunComparison) -> Answer:
    found = compared.batches
    if found.data is None:
        return Answer(Stage.DATA, State.UNKNOWN, message("stage.unknown"))
    if found.data is Data.SAME:
        return Answer(Stage.DATA, State.SAME, message("stage.batches_same", steps=found.compared))
    return Answer(Stage.DATA, State.DIFFERS, data_sentence(compared))


def data_sentence(compared: RunComparison) -> Message:
    """How the batches differ."""
    found = compared.batches
    params = {"step": found.step, "field": found.field or "-", "a": compared.a.name, "b": compared.b.name}
    match found.data:
        case Data.REORDERED:
            return message("compare.data_reordered", **params)
        case Data.SCALED:
            return message("compare.data_scaled", ratio=f"{found.ratio or 0.0:.4g}", **params)
        case Data.SIZES:
            return message("compare.data_sizes", size=found.sizes[0], other_size=found.sizes[1], **params)
        case _:
            return message("compare.data_other", **params)


def _structure(compared: RunComparison) -> Answer:
    weights = compared.weights
    pairs = len(weights.alignment.pairs)
    if not pairs and not weights.other_structure:
        return Answer(Stage.STRUCTURE, State.UNKNOWN, message("stage.unknown"))
    if not weights.other_structure:
        return Answer(Stage.STRUCTURE, State.SAME, message("stage.structure_same", count=pairs))
    said = message(
        "stage.structure",
        only_a=len(weights.only_a),
        only_b=len(weights.only_b),
        shapes=len(weights.shapes),
        trained=len(weights.trained),
    )
    return Answer(Stage.STRUCTURE, State.DIFFERS, said)


def _weights(compared: RunComparison) -> Answer:
    weights = compared.weights
    if not weights.compared:
        return Answer(Stage.WEIGHTS, State.UNKNOWN, message("stage.unknown"))
    if not weights.apart:
        return Answer(Stage.WEIGHTS, State.SAME, message("stage.weights_same", count=weights.compared))
    said = message("stage.weights", apart=len(weights.apart), count=weights.compared)
    return Answer(Stage.WEIGHTS, State.DIFFERS, said)


def _loss(compared: RunComparison, stage: Stage, place: int) -> Answer:
    common, band = compared.loss.common, compared.loss.band
    if len(common) <= place:
        return Answer(stage, State.UNKNOWN, message("stage.unknown"))
    _, here, there = common[place]
    said = message("stage.losses", a=f"{here:.7g}", b=f"{there:.7g}")
    if here == there or (here != here and there != there):
        return Answer(stage, State.SAME, said)
    inside = band.low[place] <= here <= band.high[place]
    return Answer(stage, State.NOISE if inside else State.DIFFERS, said)


def _tensors(compared: RunComparison, stage: Stage, of: Callable[[Kind], bool]) -> Answer:
    rows = [(step, row) for step in compared.steps for row in step.rows if of(row.pair.b.kind)]
    if not rows:
        steps = [side.rank.tensor_steps for side in (compared.a, compared.b)]
        if all(steps) and not set(steps[0]) & set(steps[1]):
            spans = {"steps_a": _few(steps[0]), "steps_b": _few(steps[1])}
            return Answer(stage, State.UNKNOWN, message("stage.other_steps", **spans))
        return Answer(stage, State.UNKNOWN, message("stage.not_kept"))
    apart = [(step, row) for step, row in rows if row.differs]
    if not apart:
        equal = all(row.verdict is Verdict.EQUAL for _, row in rows)
        return Answer(stage, State.SAME if equal else State.NOISE, message("stage.tensors_same", count=len(rows)))
    step, row = apart[0]
    return Answer(stage, State.DIFFERS, _first_apart(step, row, len(apart), len(rows)))


def _few(steps: Sequence[int]) -> str:
    return ", ".join(str(step) for step in steps[:5]) + (", ..." if len(steps) > 5 else "")


def _first_apart(step: Tensors, row: Row, apart: int, count: int) -> Message:
    return message("stage.tensors", apart=apart, count=count, first=str(row.pair.b), step=step.step)


def _curve(compared: RunComparison) -> Answer:
    loss = compared.loss
    if loss.shape is None:
        return Answer(Stage.CURVE, State.UNKNOWN, message("stage.unknown"))
    state = {Verdict.EQUAL: State.SAME, Verdict.NOISE: State.NOISE}.get(loss.verdict or Verdict.EQUAL, State.DIFFERS)
    step = loss.parts.step if loss.parts is not None else None
    return Answer(Stage.CURVE, state, message(f"stage.curve_{loss.shape.value}", steps=len(loss.common), step=step))
