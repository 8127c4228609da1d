"""How MindSpore's optimizers and wrappers name what they keep beside the network's parameters."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Final

SLOTS: Final = frozenset(
    (
        *("moment1", "moment2", "moments", "moment", "adam_m", "adam_v", "lamb_m", "lamb_v", "vhat"),
        *("accum", "accum_update", "stat", "mean_square", "mean_grad", "step_size", "ax_"),
        *("exp_avg", "exp_avg_sq", "max_exp_avg_sq", "exp_inf", "momentum_buf", "accu_grads", "accum_grad"),
    )
)
# These might be cells of the network too; beside an optimizer's count of steps they are slots.
_UNSURE_SLOTS: Final = frozenset(("linear", "prev", "ax"))
_COUNTS: Final = ("global_step", "step_t", "state_step")
# Some are joined to the parameter's name without a dot; the longer ones come first.
_JOINED: Final = ("exp_avg_sq_row_", "exp_avg_sq_col_", "exp_avg_sq_", "mu_product_", "mu_", "eta_")
_STATE: Final = re.compile(
    r"global_step|(?:learning_rate|weight_decay)(?:_group_\d+)?|beta[12]_power|momentum|state_step|step_t|afactor_step"
    r"|scale_sense|loss_scale|current_iterator_step|last_overflow_iterator_step"
    r"|fake_param|fake_lr|cov_step|matrix_max\d+|accumulation_step|sync_tensor"
)
# What thor keeps of each layer, under the layer's number.
_SECOND_ORDER: Final = re.compile(r"matrix_[ag]_inv_\d+")
# What Model's callbacks and training loops add to a checkpoint about where they are.
PROGRESS: Final = frozenset(("epoch_num", "step_num", "epoch", "step", "cur_epoch", "cur_step", "batch_num"))
EMA: Final = "ema"


def slot_of(name: str, names: Container[str]) -> tuple[str, str] | None:
    """(slot, parameter) where a name is an optimizer's slot of a parameter that is among the names."""
    slot, _, parameter = name.partition(".")
    if parameter in names and (slot in SLOTS or (slot in _UNSURE_SLOTS and any(one in names for one in _COUNTS))):
        return slot, parameter
    for prefix in _JOINED:
        if name.startswith(prefix) and name[len(prefix) :] in names:
            return prefix[:-1], name[len(prefix) :]
    return None


def is_training_state(name: str) -> bool:
    """Whether a name is a number that an optimizer or a loss scale keeps, not a weight."""
    return _STATE.fullmatch(name) is not None


def is_second_order(name: str, names: Container[str]) -> bool:
    """Whether a name is a matrix that the optimizer thor keeps, of no parameter in particular."""
    return "cov_step" in names and _SECOND_ORDER.fullmatch(name) is not None
