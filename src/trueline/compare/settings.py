"""What two runs were told: seeds, optimizer, learning rates, batch size, precision."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.curve import Curve
from trueline.model.run import RunInfo

# One name for what the frameworks call differently; what only one of them has is left out.
_NAMES: Final[Mapping[str, str]] = {
    "learning_rate": "lr",
    "use_nesterov": "nesterov",
    "use_amsgrad": "amsgrad",
    "decay": "alpha",
    "epsilon": "eps",
}
_COMPARED: Final = (
    "lr",
    "momentum",
    "weight_decay",
    "nesterov",
    "beta1",
    "beta2",
    "eps",
    "dampening",
    "amsgrad",
    "alpha",
)
# The same algorithm under two names; anything else with another name is another algorithm.
_FAMILIES: Final[Mapping[str, str]] = {"Momentum": "SGD"}
_LOADER: Final = ("batch_size", "samples", "drop_last")


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting and both sides' values; ``step`` where it is a schedule that parts."""

    name: str
    a: object
    b: object
    step: int | None = None


def other_seeds(a: RunInfo, b: RunInfo) -> list[Setting]:
    """Seeds that are set on one side only, or to another value: only those that both frameworks have."""
    shared = {"torch": "framework", "mindspore": "framework"}
    here = {shared.get(name, name): value for name, value in a.seeds.items()}
    there = {shared.get(name, name): value for name, value in b.seeds.items()}
    names = sorted(here.keys() & there.keys()) if a.framework != b.framework else sorted(here.keys() | there.keys())
    found = [Setting(name, here.get(name), there.get(name)) for name in names]
    # A seed that nobody set is no seed.
    return [setting for setting in found if setting.a != setting.b and None not in (setting.a, setting.b)]


def other_hyper(a: Run, b: Run, here: RankFolder, there: RankFolder) -> list[Setting]:
    """Optimizers, their settings, batch sizes and learning rates that differ."""
    found = list(_optimizers(_listed(a.info, "optimizers"), _listed(b.info, "optimizers")))
    for name, one, other in zip(("loader",), _listed(a.info, "loaders"), _listed(b.info, "loaders"), strict=False):
        found += [
            Setting(f"{name}.{what}", one[what], other[what])
            for what in _LOADER
            if one.get(what) is not None and other.get(what) is not None and one[what] != other[what]
        ]
    if not any(setting.name.endswith(".lr") for setting in found):
        found += _schedule(here.curve("lr"), there.curve("lr"))
    return found


def other_precision(a: RunInfo, b: RunInfo, here: RankFolder, there: RankFolder) -> list[Setting]:
    """Number formats that differ: of the computation, or of the parameters."""
    found = [Setting("precision", precision(a), precision(b))] if precision(a) and precision(b) else []
    found += [Setting("parameters", _held(here), _held(there))] if _held(here) and _held(there) else []
    return [setting for setting in found if setting.a != setting.b]


def _held(rank: RankFolder) -> str:
    """The number format of most of the trained parameters."""
    count = Counter(param.dtype.rpartition(".")[2].lower() for param in rank.params if param.trainable)
    return count.most_common(1)[0][0] if count else ""


def precision(info: RunInfo) -> str:
    """A run's number format; frameworks write it with and without a prefix: torch.float32, Float32."""
    return (info.precision or "").rpartition(".")[2].lower()


def _listed(info: RunInfo, name: str) -> Sequence[Mapping[str, object]]:
    found = info.hyper.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _optimizers(a: Sequence[Mapping[str, object]], b: Sequence[Mapping[str, object]]) -> Iterator[Setting]:
    if a and b and len(a) != len(b):
        yield Setting("optimizers", len(a), len(b))
    for place, (one, other) in enumerate(zip(a, b, strict=False)):
        name = "optimizer" if len(a) == 1 else f"optimizer{place}"
        kinds = [_FAMILIES.get(str(each.get("kind")), str(each.get("kind"))) for each in (one, other)]
        if kinds[0] != kinds[1]:
            yield Setting(f"{name}.kind", one.get("kind"), other.get("kind"))
        groups = [_groups(each) for each in (one, other)]
        if len(groups[0]) != len(groups[1]):
            yield Setting(f"{name}.groups", len(groups[0]), len(groups[1]))
        for number, (here, there) in enumerate(zip(*groups, strict=False)):
            prefix = name if len(groups[0]) == 1 else f"{name}.group{number}"
            for what in _COMPARED:
                if what in here and what in there and not _same(here[what], there[what]):
                    yield Setting(f"{prefix}.{what}", here[what], there[what])


def _groups(optimizer: Mapping[str, object]) -> list[dict[str, object]]:
    groups = optimizer.get("groups")
    return [_spelled(group) for group in groups if isinstance(group, dict)] if isinstance(groups, list) else []


def _spelled(group: Mapping[str, object]) -> dict[str, object]:
    found = {_NAMES.get(name, name): value for name, value in group.items()}
    betas = found.pop("betas", None)
    if isinstance(betas, list) and len(betas) == 2:
        found["beta1"], found["beta2"] = betas
    return found


def _same(a: object, b: object) -> bool:
    if isinstance(a, int | float) and isinstance(b, int | float):
        return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-12)
    # A schedule or a tensor on one side has no plain value to compare.
    return a == b or not (isinstance(a, int | float | str) and isinstance(b, int | float | str))


def _schedule(a: Curve, b: Curve) -> list[Setting]:
    there = dict(zip(b.steps, b.values, strict=True))
    for step, value in zip(a.steps, a.values, strict=True):
        if step in there and not _same(value, there[step]):
            return [Setting("lr", value, there[step], step)]
    return []
