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
_FEW: Final = 200


def saved_untrained(trace: Trace) -> Iterator[Location]:
    """Where weights are saved that another network takes later: trained only after that, and never saved again."""
    saves = [one for one in trace.named(*_SAVING) if not is_uncalled(one)]
    for save in saves:
        own = _saved(save)
        steps = [one for one in trace.of_role(Role.STEP, Role.SCALER_STEP) if own & _stepped(one)]
        if not own or not steps or any(one.index < save.index for one in steps) or _shares_loop(save, steps[0]):
            continue
        if any(other.index > steps[0].index for other in saves) or not _is_for_others(save, own, steps[-1], trace):
            continue
        yield save.seen_beside(steps[0])


def _saved(save: Event) -> set[int]:
    """The networks whose weights go into the file, with their parts."""
    found: set[int] = set()
    for one in ancestry(*save.args, *save.kwargs.values(), most=_FEW):
        if is_network(one):
            found |= {id(part) for part in parts_of(one)}
        elif is_optimizer(one) and isinstance(one, Made) and save.name.startswith("mindspore."):
            found |= {id(part) for held in networks_given(one.event) for part in parts_of(held)}
    return found


def _stepped(step: Event) -> set[int]:
    """The networks, with their parts, that an update is of."""
    value = step.arg(0, "optimizer") if step.role is Role.SCALER_STEP else step.receiver
    built = [one.event for one in options(value) if isinstance(one, Made) and one.event.role is Role.BUILD_OPTIMIZER]
    return {id(part) for event in built for held in networks_given(event) for part in parts_of(held)}


def _shares_loop(save: Event, step: Event) -> bool:
    return any(step.inside(one) for one in save.loops())


def _is_for_others(save: Event, own: set[int], trained: Event, trace: Trace) -> bool:
    """Whether another network takes the file's weights after that training: the same one may go back to its start."""
    later = [one for one in loadings(trace) if one.event.index > trained.index and _reads(one, save)]
    others = [one for one in later if not own & _parts(one.network)]
    return bool(others) and len(others) == len(later)


def _reads(loading: Loading, save: Event) -> bool:
    """Whether the weights that are put in come from the file that was saved."""
    path = save.arg(1, "f", "ckpt_file_name", "filename")
    if loading.event.method == "load_checkpoint":
        return is_same_path(path, loading.event.arg(0, "ckpt_file_name"))
    read = (one.event for one in ancestry(loading.weights, most=_FEW) if isinstance(one, Made))
    return any(is_same_path(path, one.arg(0, "f", "ckpt_file_name", "filename")) for one in read if is_reading(one))


def _parts(value: Value) -> set[int]:
    held = networks_given(value.event) if isinstance(value, Made) and is_optimizer(value) else []
    return {id(part) for one in (value, *held) for part in parts_of(one)}
