"""What stands around a difference, on both sides."""

from __future__ import annotations

from collections.abc import Sequence

from trueline.checks.of_pair.contexts import Contexts
from trueline.checks.of_pair.difference import Difference, Kind
from trueline.checks.of_pair.naming import word_of
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import Event
from trueline.script.values import Made, ancestry


class Surroundings:
    """Both scripts, and all that differs between them."""

    def __init__(self, script: Script, bench: Script, found: Sequence[Difference]) -> None:
        self.mine, self.bench = Contexts(script), Contexts(bench)
        self.found = found
        # Items that were named so far.
        self.codes: set[str] = set()

    def event_of(self, one: Difference) -> tuple[Event | None, Contexts]:
        """The event that a difference happens at, and the side that it is of."""
        if one.mine is not None and one.mine.event is not None and one.kind is not Kind.MISSING:
            return one.mine.event, self.mine
        if one.bench is not None and one.bench.event is not None and one.kind is Kind.MISSING:
            return one.bench.event, self.bench
        if one.owner is not None:
            return one.owner[0], self.mine
        thing = one.mine or one.bench
        side = self.mine if one.mine is not None else self.bench
        return (thing.event if thing is not None else None), side

    def lacks(self, word: str) -> bool:
        """Whether the script does not do what the benchmark does."""
        return any(one.kind is Kind.MISSING and one.bench is not None and one.bench.name == word for one in self.found)

    def has_more(self, word: str) -> bool:
        """Whether the script does what the benchmark does not."""
        return any(one.kind is Kind.EXTRA and one.mine is not None and one.mine.name == word for one in self.found)

    def is_given_to_optimizer(self, event: Event) -> bool:
        """Whether the parameters that a call gives are an optimizer's."""
        for other in self.mine.script.trace.of_role(Role.BUILD_OPTIMIZER):
            given = [*other.args, *other.kwargs.values()]
            if any(isinstance(value, Made) and value.event is event for value in ancestry(*given, most=200)):
                return True
        return False

    def _built(self, one: Difference) -> Event | None:
        value = one.mine.value if one.mine is not None else None
        return getattr(value, "event", None)

    def is_built_later(self, one: Difference) -> bool:
        """Whether the script builds a network again, after the one that is used first."""
        built = self._built(one)
        if built is None or one.bench is None:
            return False
        return bool(self._before(built))

    def _before(self, built: Event) -> list[Event]:
        """What was done with another network before this one was built."""
        return [
            event
            for event in self.mine.script.trace.events[: built.index]
            if event.role is Role.BUILD_OPTIMIZER or word_of(event.name) in ("loadstatedict", "loadparamintonet")
        ]

    def later_item(self, one: Difference) -> str:
        """An optimizer holds the first one's weights, or a checkpoint was loaded into it."""
        built = self._built(one)
        done = self._before(built) if built is not None else []
        return "tr.06" if done and done[-1].role is Role.BUILD_OPTIMIZER else "wi.02"
