"""Files of weights that a script saves: of which networks, and whether they were trained by then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.apitable.functions import qualified_of
from trueline.apitable.traits import Trait
from trueline.checks.wi_02_wrong_pretrained_weights.checkpoints import Loading, is_reading, is_same_path, loadings
from trueline.model.location import Location
from trueline.script.analysis.forwards import is_uncalled
from trueline.script.analysis.networks import networks_given, parts_of
from trueline.script.roles import Role, is_network, is_optimizer
from trueline.script.trace import Event, Trace
from trueline.script.values import Made, Value, ancestry, options

_SAVING: Final = qualified_of(Trait.SAVES_WEIGHTS)
# Values behind what is saved or loaded that are looked at.
MAX_VISITED_VALUES: Final = 200


def saved_untrained(trace: Trace) -> Iterator[Location]:
    """Where weights are saved that another network takes later: trained only after that, and never saved again."""
    saves = [event for event in trace.named(*_SAVING) if not is_uncalled(event)]
    for save in saves:
        own = _saved(save)
        steps = [event for event in trace.of_role(Role.STEP, Role.SCALER_STEP) if own & _stepped(event)]
        if not own or not steps or any(event.index < save.index for event in steps) or _shares_loop(save, steps[0]):
            continue
        if any(event.index > steps[0].index for event in saves) or not _is_for_others(save, own, steps[-1], trace):
            continue
        yield save.seen_beside(steps[0])


def _saved(save: Event) -> set[int]:
    """The networks whose weights go into the file, with their parts."""
    values: set[int] = set()
    for value in ancestry(*save.args, *save.kwargs.values(), most=MAX_VISITED_VALUES):
        if is_network(value):
            values |= {id(part) for part in parts_of(value)}
        elif is_optimizer(value) and isinstance(value, Made) and save.name.startswith("mindspore."):
            values |= {id(part) for held in networks_given(value.event) for part in parts_of(held)}
    return values


def _stepped(step: Event) -> set[int]:
    """The networks, with their parts, that an update is of."""
    value = step.arg(0, "optimizer") if step.role is Role.SCALER_STEP else step.receiver
    built = [
        part.event for part in options(value) if isinstance(part, Made) and part.event.role is Role.BUILD_OPTIMIZER
    ]
    return {id(part) for event in built for held in networks_given(event) for part in parts_of(held)}


def _shares_loop(save: Event, step: Event) -> bool:
    return any(step.inside(scope) for scope in save.loops())


def _is_for_others(save: Event, own: set[int], trained: Event, trace: Trace) -> bool:
    """Whether another network takes the file's weights after that training: the same one may go back to its start."""
    later = [loading for loading in loadings(trace) if loading.event.index > trained.index and _reads(loading, save)]
    other_loadings = [loading for loading in later if not own & _parts(loading.network)]
    return bool(other_loadings) and len(other_loadings) == len(later)


def _reads(loading: Loading, save: Event) -> bool:
    """Whether the weights that are put in come from the file that was saved."""
    path = save.arg(1, "f", "ckpt_file_name", "filename")
    if loading.event.method == "load_checkpoint":
        return is_same_path(path, loading.event.arg(0, "ckpt_file_name"))
    read = (value.event for value in ancestry(loading.weights, most=MAX_VISITED_VALUES) if isinstance(value, Made))
    return any(
        is_same_path(path, event.arg(0, "f", "ckpt_file_name", "filename")) for event in read if is_reading(event)
    )


def _parts(value: Value) -> set[int]:
    held = networks_given(value.event) if isinstance(value, Made) and is_optimizer(value) else []
    return {id(part) for other_value in (value, *held) for part in parts_of(other_value)}
