"""How MindSpore's optimizers and wrappers name what they keep beside the network's parameters."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Final

SLOTS: Final = frozenset(
    (
        *("moment1", "moment2", "moments", "moment", "adam_m", "adam_v", "lamb_m", "lamb_v", "vhat"),
        *("accum", "accum_update", "stat", "mean_square", "mean_grad", "step_size", "ax_"),
        *("exp_avg", "exp_avg_sq", "max_exp_avg_sq", "accu_grads", "accum_grad"),
    )
)
# These might be cells of the network too; beside an optimizer's count of steps they are slots.
_UNSURE_SLOTS: Final = frozenset(("linear", "prev"))
# Some are joined to the parameter's name without a dot; the longer ones come first.
_JOINED: Final = ("exp_avg_sq_row_", "exp_avg_sq_col_", "exp_avg_sq_", "mu_", "eta_")
_STATE: Final = re.compile(
    r"global_step|(?:learning_rate|weight_decay)(?:_group_\d+)?|beta[12]_power|momentum|state_step|step_t|afactor_step"
    r"|scale_sense|loss_scale|current_iterator_step|last_overflow_iterator_step"
)
# What Model's callbacks and training loops add to a checkpoint about where they are.
PROGRESS: Final = frozenset(("epoch_num", "step_num", "epoch", "step", "cur_epoch", "cur_step", "batch_num"))
EMA: Final = "ema"


def slot_of(name: str, names: Container[str]) -> tuple[str, str] | None:
    """(slot, parameter) where a name is an optimizer's slot of a parameter that is among the names."""
    slot, _, parameter = name.partition(".")
    if parameter in names and (slot in SLOTS or (slot in _UNSURE_SLOTS and "global_step" in names)):
        return slot, parameter
    for prefix in _JOINED:
        if name.startswith(prefix) and name[len(prefix) :] in names:
            return prefix[:-1], name[len(prefix) :]
    return None


def is_training_state(name: str) -> bool:
    """Whether a name is a number that an optimizer or a loss scale keeps, not a weight."""
    return _STATE.fullmatch(name) is not None
