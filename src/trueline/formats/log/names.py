"""What a name in a log stands for: a counter, a scalar worth a curve, or nothing."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple


class Role(StrEnum):
    """What the number beside a name is."""

    STEP = "step"
    EPOCH = "epoch"
    SCALAR = "scalar"
    NOTHING = "nothing"


class Meaning(NamedTuple):
    """A name's role; for a scalar its curve's name, for a step how surely it counts steps (0 is surest)."""

    role: Role
    curve: str = ""
    doubt: int = 0


NOTHING: Final = Meaning(Role.NOTHING)

# Chinese words are written together: each is taken apart before the words are looked at.
_CHINESE: Final = {
    "训练": " train ",
    "验证": " val ",
    "评估": " eval ",
    "测试": " test ",
    "损失值": " loss ",
    "损失": " loss ",
    "学习率": " lr ",
    "准确率": " acc ",
    "精度": " acc ",
    "困惑度": " ppl ",
    "梯度范数": " grad norm ",
    "平均": " avg ",
    "总": " total ",
    "步数": " step ",
    "步": " step ",
    "迭代次数": " iter ",
    "迭代": " iter ",
    "批次": " batch ",
    "轮次": " epoch ",
    "轮数": " epoch ",
    "轮": " epoch ",
}
_CHINESE_WORD: Final = re.compile("|".join(_CHINESE))
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD: Final = re.compile(r"[^\W_]+(?:@\d+)?")

EVALUATION: Final = {
    "val": "val",
    "valid": "val",
    "validation": "val",
    "validating": "val",
    "eval": "val",
    "evaluation": "val",
    "evaluating": "val",
    "dev": "val",
    "test": "test",
    "testing": "test",
}
_STEPS: Final = {
    "global_step": 0,
    "step": 1,
    "steps": 1,
    "iteration": 1,
    "iterations": 1,
    "iter": 1,
    "iters": 1,
    "it": 1,
    "updates": 1,
    "update": 1,
    "batch": 2,
    "batches": 2,
    "minibatch": 2,
}
_EPOCHS: Final = frozenset({"epoch", "epochs"})
# A number beside such a word is a setting or a measure of something else, whatever else the name says.
_NOT_COUNTERS: Final = frozenset(
    {
        "per",
        "time",
        "size",
        "max",
        "total",
        "warmup",
        "save",
        "log",
        "every",
        "interval",
        "freq",
        "accumulation",
        "skipped",
    }
)
_NOT_SCALARS: Final = frozenset(
    {"py", "cc", "cpp", "h", "weight", "weights", "coef", "coefficient", "fn", "function", "type", "min", "max", "name"}
    | {
        "ratio",
        "best",
        "patience",
        "delta",
        "decay",
        "time",
        "class",
        "criterion",
        "index",
        "id",
        "schedule",
        "scheduler",
    }
)
_LEVELS: Final = frozenset({"info", "debug", "warning", "warn", "error"})
_TRAILING: Final = frozenset({"is", "value", "now", "current", "scalar"})
_PREPOSITIONS: Final = frozenset({"at", "after", "of", "for", "in", "on"})


def words(name: str) -> list[str]:
    """The lower-case words of a name such as ``train/lossStep`` or ``验证损失``."""
    apart = _CHINESE_WORD.sub(lambda found: _CHINESE[found.group()], name)
    return [word.lower() for word in _WORD.findall(_CAMEL.sub("_", apart))]


@lru_cache(maxsize=4096)
def meaning(name: str) -> Meaning:
    """What a name stands for."""
    found = words(name.partition("(")[0])
    while found and found[-1] in _TRAILING:
        found.pop()
    place = max((place for place, word in enumerate(found) if word in _PREPOSITIONS), default=-1)
    found = found[place + 1 :]
    return (_counter(found) or _scalar(found)) if found else NOTHING


def _counter(found: list[str]) -> Meaning | None:
    last = found[-1]
    if last not in _STEPS and last not in _EPOCHS:
        return None
    # "loss step" is the loss of a step, as Lightning calls it.
    if _is_loss(found):
        return None
    if not _NOT_COUNTERS.isdisjoint(found):
        return NOTHING
    if last in _EPOCHS:
        return Meaning(Role.EPOCH)
    return Meaning(Role.STEP, doubt=0 if "global" in found else _STEPS[last])


def _is_loss(found: list[str]) -> bool:
    return any(word.startswith("loss") or word.endswith("loss") for word in found)


def _scalar(found: list[str]) -> Meaning:
    if not _NOT_SCALARS.isdisjoint(found):
        return NOTHING
    stage = next((EVALUATION[word] for word in found if word in EVALUATION), "")
    rest = [word for word in found if word not in EVALUATION and word not in _LEVELS and word.isascii()]
    while rest and (rest[0] in _STEPS or rest[0] in _EPOCHS):
        rest.pop(0)
    name = _family(rest) if rest else ""
    if not name:
        return NOTHING
    return Meaning(Role.SCALAR, f"{stage}_{name}" if stage else name)


def _family(found: list[str]) -> str:
    """The curve's name without the word for evaluation; "" for what deserves no curve."""
    joined = "_".join(found)
    if "lossscale" in joined or ("loss" in found and found[-1] in ("scale", "scaler")):
        return "loss_scale"
    if _is_loss(found):
        return joined
    if "lr" in found or "learningrate" in found or ("learning" in found and "rate" in found):
        return "lr"
    if ("norm" in found and ("grad" in found or "gradient" in found)) or "gnorm" in found:
        return "grad_norm"
    if found[-1] in ("acc", "accuracy"):
        return "_".join([*found[:-1], "acc"])
    if found[-1] in ("acc1", "acc5", "acc@1", "acc@5", "top1", "top5", "ppl", "perplexity", "miou", "map"):
        return joined
    return ""


def evaluated(curve: str, stage: str) -> str:
    """A curve's name on a line that speaks of evaluation."""
    return curve if curve.startswith(("val_", "test_")) or curve == "lr" else f"{stage}_{curve}"
