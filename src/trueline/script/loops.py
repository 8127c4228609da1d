"""Where a script trains and where it evaluates: loops, and what happens in each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trueline.script.roles import Role
from trueline.script.trace import LOOP, UNCALLED, Event, Scope, Trace, iterated
from trueline.script.values import Const, Derived, Made, Seq, Unknown, Value, options

_STEPS = (Role.STEP, Role.SCALER_STEP)


@dataclass(eq=False, slots=True)
class TrainingLoop:
    """The innermost loop that has both backward and the optimizer's step in it."""

    scope: Scope
    events: Sequence[Event]
    # The loops around it, as that over epochs, outermost first.
    around: Sequence[Scope]

    def of(self, *roles: Role) -> list[Event]:
        """Its events of these roles, in order."""
        return [event for event in self.events if event.role in roles]

    @property
    def loader(self) -> Value | None:
        """The data that it goes through, where it is cut into pieces what the loop around goes through."""
        for scope in (self.scope, *reversed(self.around)):
            value = _in_pieces(iterated(scope.value))
            if any(is_loader(part) for part in options(value)):
                return value
        return iterated(self.scope.value)

    @property
    def is_certain(self) -> bool:
        """Whether the script itself leads here, so that what is passed in is known."""
        return not any(scope.kind == UNCALLED for scope in self.events[0].scopes)


@dataclass(eq=False, slots=True)
class EvaluationLoop:
    """A loop, or a stretch without one, in which a network is called and nothing is trained."""

    scope: Scope | None
    events: Sequence[Event]

    @property
    def loader(self) -> Value | None:
        """What it goes through."""
        return iterated(self.scope.value) if self.scope is not None else None

    def of(self, *roles: Role) -> list[Event]:
        """Its events of these roles, in order."""
        return [event for event in self.events if event.role in roles]


def _in_pieces(value: Value | None) -> Value | None:
    """The loader that a generator of the project takes several batches of at a time."""
    if isinstance(value, Seq) and value.kind == "generator" and len(value.items) == 1:
        inner = iterated(value.items[0])
        return inner if inner is not None and is_loader(inner) else value
    return value


def is_loader(value: Value) -> bool:
    return isinstance(value, Made) and (
        value.event.role is Role.BUILD_LOADER or value.name.startswith("mindspore.dataset.")
    )


def training_loops(trace: Trace) -> list[TrainingLoop]:
    """The loops that train, in the order of their first backward."""
    return trace.once(_training_loops)


def _training_loops(trace: Trace) -> list[TrainingLoop]:
    by_id: dict[int, TrainingLoop] = {}
    stepped = {id(scope) for step in trace.of_role(*_STEPS) for scope in step.scopes}
    for backward in trace.of_role(Role.BACKWARD):
        # The innermost loop that a backward shares with a step.
        scope = next(
            (scope for scope in reversed(backward.scopes) if scope.kind == LOOP and id(scope) in stepped), None
        )
        if scope is None:
            loops = backward.loops()
            scope = loops[-1] if loops else None
        if scope is not None and id(scope) not in by_id:
            at = backward.scopes.index(scope)
            around = [scope for scope in backward.scopes[:at] if scope.kind == LOOP]
            by_id[id(scope)] = TrainingLoop(scope, list(trace.within(scope)), around)
    # A loop that only holds another one that trains is not a second place of training.
    outer = {id(scope) for loop in by_id.values() for scope in loop.around}
    return [loop for loop in by_id.values() if id(loop.scope) not in outer]


def evaluation_loops(trace: Trace) -> list[EvaluationLoop]:
    """Loops with a network's call and no backward in them, the outermost ones that go through data."""
    return trace.once(_evaluation_loops)


def _evaluation_loops(trace: Trace) -> list[EvaluationLoop]:
    training = {id(scope) for event in trace.of_role(Role.BACKWARD) for scope in event.scopes if scope.kind == LOOP}
    by_id: dict[int, EvaluationLoop] = {}
    for event in trace.of_role(Role.FORWARD):
        for scope in event.loops():
            if id(scope) not in training and _is_of_data(scope):
                if id(scope) not in by_id:
                    by_id[id(scope)] = EvaluationLoop(scope, list(trace.within(scope)))
                break
    return list(by_id.values())


def _is_of_data(scope: Scope) -> bool:
    """Not a comprehension, nor a loop over layers or numbers."""
    value = iterated(scope.value)
    if scope.name == "comprehension" or value is None or isinstance(value, Seq | Derived | Unknown | Const):
        return False
    return not (
        isinstance(value, Made) and value.name.rpartition(".")[2] in ("ModuleList", "CellList", "range", "unbind")
    )


def without_uncalled(events: Sequence[Event]) -> Iterator[Event]:
    """Events that the script itself leads to."""
    return (event for event in events if not any(scope.kind == UNCALLED for scope in event.scopes))
