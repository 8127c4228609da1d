"""What a replay puts in place and hands out, in order, and how far it has come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trueline.adapters.nouns import State, Stateful
from trueline.formats.run_folder.states import Kept, StatesReader
from trueline.kernel.array import Array
from trueline.model.trouble import Trouble


@dataclass(frozen=True, slots=True)
class Item:
    """A batch that a loader is to hand out for a step, or (without an entry) that it has no more.

    That may be before the step, at the end of an epoch, or ``within`` it, where the loop fetches ahead.
    """

    step: int
    loader: int
    entry: Mapping[str, Any] | None = None
    within: bool = True


@dataclass(slots=True)
class Parted:
    """Where a replay is not what the run was: the state before a step, by names."""

    step: int
    names: Sequence[str]


@dataclass(slots=True)
class Reenactment:
    """One replay. ``state`` is where it starts; the batches are those of ``steps``."""

    states: StatesReader
    state: int
    steps: Sequence[int]
    items: list[Item] = field(default_factory=list)
    began: bool = False
    trouble: Trouble | None = None
    parted: Parted | None = None
    compared: list[int] = field(default_factory=list)
    begins_at: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    iterations: Counter[int] = field(default_factory=Counter)
    passed: int = 0
    ended: bool = False
    loaders: set[int] = field(default_factory=set)
    ahead: dict[int, int] = field(default_factory=dict)
    at: int | None = None

    def __post_init__(self) -> None:
        handed: set[int] = set()
        told: list[int] = []
        for step in sorted(set(self.steps) & set(self.states.steps)):
            if step != self.steps[0]:
                before = self.kept(step).tree["ended_before"]
                self.items += [Item(step, number, within=False) for number in before if number not in told]
            for entry in self.states.fetches(step):
                # A batch that was fetched ahead is told with both steps.
                if entry["serial"] not in handed:
                    handed.add(entry["serial"])
                    self.items.append(Item(step, entry["loader"], entry))
            told = self.states.ends(step)
            self.items += [Item(step, number) for number in told]
        found = self.kept(self.state).tree["begins_at"]
        self.begins_at = {int(number): (at[0], at[1]) for number, at in found.items()}
        self.loaders = {item.loader for item in self.items}

    @property
    def framework(self) -> str:
        """The framework whose state was kept."""
        return str(self.kept(self.state).tree["framework"])

    def kept(self, step: int) -> Kept:
        """The state before a step."""
        return self.states.state(step)

    @property
    def goes_on_as_it_was(self) -> bool:
        """Whether the batches are the state's own, so that the run's states follow."""
        return self.state == self.steps[0]

    def iteration_began(self, loader: int) -> None:
        """An iteration over data begins."""
        self.iterations[loader] += 1
        self.passed = 0

    def is_set_up(self, loader: int) -> bool:
        """Whether a fetch belongs to what the script does before it trains."""
        if self.began or (self.iterations[loader], self.passed) >= self.begins_at.get(loader, (0, 0)):
            return False
        self.passed += 1
        return True

    def is_between(self, loader: int) -> bool:
        """Whether a fetch belongs to a pass over the data between two steps, such as an evaluation on them."""
        found = next((item for item in self.items if item.loader == loader), None)
        if found is None or found.entry is None:
            return False
        iteration = found.entry["iteration"]
        ahead = self.ahead.setdefault(loader, iteration - self.iterations[loader])
        return bool(self.iterations[loader] + ahead < iteration)

    def next_of(self, loader: int) -> Item | None:
        """What the loader is to give now."""
        found = next((item for item in self.items if item.loader == loader), None)
        if found is not None:
            self.items.remove(found)
        return found


def state_of(kept: Kept) -> State:
    """As adapters take it."""
    return State(kept.arrays, kept.tree["plain"], kept.tree["lost"])


def misfit(kept: Kept, things: Sequence[Stateful]) -> tuple[str, str] | None:
    """(what was kept, what is there) where these are not the same kinds of things in the same order."""
    before = [f"{thing['kind']} {thing['type']}" for thing in kept.tree["things"]]
    now = [f"{thing.kind} {thing.type}" for thing in things]
    return None if before == now else (", ".join(before), ", ".join(now))


def differences(kept: Kept, now: State) -> list[str]:
    """The names of what is not the same, bit for bit; random generators and gradients that are cleared aside."""
    before = state_of(kept)
    found = []
    for name, array in before.arrays.items():
        if _counts(name) and (name not in now.arrays or not _same(array, now.arrays[name])):
            found.append(name)
    found += [name for name in now.arrays if _counts(name) and name not in before.arrays]
    return found + [name for name, value in before.plain.items() if _counts(name) and now.plain.get(name) != value]


def _counts(name: str) -> bool:
    return not name.startswith("rng/") and not name.endswith("/grad")


def _same(before: Array, now: Array) -> bool:
    same_kind = before.shape == now.shape and before.dtype == now.dtype
    return bool(same_kind and before.tobytes() == now.tobytes())
