"""In which mode a network was trained and evaluated, where it has layers to which that matters."""

from __future__ import annotations

from dataclasses import replace

from trueline.checks.evidence.looks import EVAL, TRAIN, looked
from trueline.formats.run_folder.reader import RankFolder
from trueline.model.events import BatchEvent, EndEvent, LossEvent, ModesEvent, StepEvent
from trueline.model.location import Location


def has_evaluation(rank: RankFolder) -> bool:
    """Whether there is an evaluation step after training has begun."""
    return any(True for _ in evaluation_modes(rank, any_mode=True)) or any(
        True for _ in rank.events(EndEvent, phase=EVAL)
    )


def trained_in_evaluation_mode(rank: RankFolder) -> list[ModesEvent]:
    """Training steps whose network is in evaluation mode although it learns and has such layers."""
    last = {update.optimizer: update.step for update in rank.events(StepEvent, phase=TRAIN)}
    resting = [event for event in looked(rank, ModesEvent, TRAIN) if not event.training and event.resting]
    # A network that has learned all it should, a teacher for instance, rests.
    return [event for event in resting if any(last.get(optimizer, -1) >= event.step for optimizer in event.held)]


def evaluated_in_training_mode(rank: RankFolder) -> tuple[list[ModesEvent], bool]:
    """Evaluation steps whose network is in training mode, and whether it is sure that they are an evaluation."""
    modes = [event for event in evaluation_modes(rank) if event.training and event.acting]
    if not modes:
        return [], False
    training_loaders, sources = _loaders(rank, TRAIN), _loaders(rank, EVAL)
    networks = {event.network for event in looked(rank, ModesEvent, TRAIN)}
    sure = [
        event
        for event in modes
        if (loader := sources.get(event.step)) is not None and loader not in training_loaders.values()
    ]
    if sure:
        return sure, True
    alone = [event for event in modes if sources.get(event.step) is None]
    return (alone, len(networks) == 1 and _with_loss(rank, alone)) if alone else (modes, False)


def evaluation_modes(rank: RankFolder, *, any_mode: bool = False) -> list[ModesEvent]:
    """What is known of the modes of evaluation steps that come after the first training step."""
    trained = False
    modes = []
    for event in rank.events(ModesEvent, EndEvent):
        if event.phase == TRAIN:
            trained = trained or isinstance(event, EndEvent)
        elif trained and isinstance(event, ModesEvent) and (any_mode or event.acting):
            modes.append(event)
    return modes


def called_where(rank: RankFolder, event: ModesEvent, phase: str) -> Location:
    """The line that calls the network."""
    network = event.network
    line = next((call.called_at for call in rank.calls if call.phase == phase and call.path == network), None)
    return replace(line or Location(), module=network or None, step=event.step)


def _loaders(rank: RankFolder, phase: str) -> dict[int, int]:
    """The loader of each step's first batch that came from one."""
    loaders: dict[int, int] = {}
    for event in rank.events(BatchEvent, phase=phase):
        if event.loader is not None:
            loaders.setdefault(event.step, event.loader)
    return loaders


def _with_loss(rank: RankFolder, modes: list[ModesEvent]) -> bool:
    steps = {event.step for event in modes}
    return any(loss.step in steps for loss in rank.events(LossEvent, phase=EVAL))
