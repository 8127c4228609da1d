"""In which mode a network was trained and evaluated, where it has layers to which that matters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from trueline.checks.evidence.looks import EVAL, TRAIN, looked
from trueline.formats.run_folder.reader import RankFolder
from trueline.model.location import Location
from trueline.model.run import EventName


def has_evaluation(rank: RankFolder) -> bool:
    """Whether there is an evaluation step after training has begun."""
    return any(True for _ in evaluation_modes(rank, any_mode=True)) or any(
        True for _ in rank.events(EventName.END, phase=EVAL)
    )


def trained_in_evaluation_mode(rank: RankFolder) -> list[dict[str, Any]]:
    """Training steps whose network is in evaluation mode although it learns and has such layers."""
    last = {one["optimizer"]: one["step"] for one in rank.events(EventName.STEP, phase=TRAIN)}
    found = []
    for event in looked(rank, EventName.MODES, TRAIN):
        if event["training"] or not event["resting"]:
            continue
        # A network that has learned all it should, a teacher for instance, rests.
        if any(last.get(optimizer, -1) >= event["step"] for optimizer in event.get("held", ())):
            found.append(event)
    return found


def evaluated_in_training_mode(rank: RankFolder) -> tuple[list[dict[str, Any]], bool]:
    """Evaluation steps whose network is in training mode, and whether it is sure that they are an evaluation."""
    modes = [one for one in evaluation_modes(rank) if one["training"] and one["acting"]]
    if not modes:
        return [], False
    training_loaders, sources = _loaders(rank, TRAIN), _loaders(rank, EVAL)
    networks = {one["network"] for one in looked(rank, EventName.MODES, TRAIN)}
    sure = [
        one
        for one in modes
        if (loader := sources.get(one["step"])) is not None and loader not in training_loaders.values()
    ]
    if sure:
        return sure, True
    alone = [one for one in modes if sources.get(one["step"]) is None]
    return (alone, len(networks) == 1 and _with_loss(rank, alone)) if alone else (modes, False)


def evaluation_modes(rank: RankFolder, *, any_mode: bool = False) -> list[dict[str, Any]]:
    """What is known of the modes of evaluation steps that come after the first training step."""
    trained = False
    found = []
    for event in rank.events():
        if event["phase"] == TRAIN:
            trained = trained or event["event"] == EventName.END
        elif trained and event["event"] == EventName.MODES and (any_mode or event["acting"]):
            found.append(event)
    return found


def called_where(rank: RankFolder, event: Mapping[str, Any], phase: str) -> Location:
    """The line that calls the network."""
    network = event["network"]
    line = next((one.called_at for one in rank.calls if one.phase == phase and one.path == network), None)
    return replace(line or Location(), module=network or None, step=event["step"])


def _loaders(rank: RankFolder, phase: str) -> dict[int, int]:
    """The loader of each step's first batch that came from one."""
    found: dict[int, int] = {}
    for event in rank.events(EventName.BATCH, phase=phase):
        if event.get("loader") is not None:
            found.setdefault(event["step"], event["loader"])
    return found


def _with_loss(rank: RankFolder, modes: list[dict[str, Any]]) -> bool:
    steps = {one["step"] for one in modes}
    return any(one["step"] in steps for one in rank.events(EventName.LOSS, phase=EVAL))
