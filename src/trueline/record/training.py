"""What is known of the training that is recorded: its networks, parameters, optimizers, loaders and circumstances."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trueline.adapters.identity import ByIdentity, Reference, reference
from trueline.adapters.nouns import Group, Loader, Optimizer
from trueline.adapters.protocol import Adapter
from trueline.model.json_value import JsonObject
from trueline.model.key import Phase
from trueline.model.location import Location
from trueline.model.numbers import plain
from trueline.model.run import CallInfo, ModuleInfo, ParamInfo
from trueline.record.networks import Networks, Place
from trueline.record.project import Project
from trueline.record.tables import Modules, Parameters


class Training:
    """Grows while the training runs; ``changed`` until its tables are written."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.adapters: list[Adapter] = []
        self.networks = Networks()
        self.parameters = Parameters()
        self.hyper: dict[str, list[JsonObject]] = {"optimizers": [], "loaders": []}
        self.circumstances: Mapping[str, Any] = {}
        self.changed = True
        self._modules = Modules(project)
        self._calls: list[CallInfo] = []
        self._optimizers: list[Reference] = []
        # How many parameters each group of an optimizer held when they were looked at.
        self._held: dict[int, list[int]] = {}
        self._built: list[Location | None] = []
        self._loaders: ByIdentity[int] = ByIdentity()
        self._looked_in_training = False

    def look_around(self, adapter: Adapter, training: bool) -> None:
        """Ask for device, precision and flags from within a forward call, where autocast and modes are in force."""
        if not self.circumstances or (training and not self._looked_in_training):
            self._looked_in_training = training
            self.circumstances = adapter.state.circumstances()

    def optimizer_index(self, optimizer: Optimizer, adapter: Adapter) -> int:
        """An optimizer's number; a new one is looked at."""
        for index, known in enumerate(self._optimizers):
            if known() is optimizer:
                return index
        self._optimizers.append(reference(optimizer))
        index = len(self._optimizers) - 1
        groups = adapter.values.groups(optimizer)
        self.hold(index, groups)
        line = self.project.line(adapter.build.line_of(optimizer))
        self._built.append(line)
        self.hyper["optimizers"].append(
            {
                "kind": type(optimizer).__name__,
                "groups": [dict(group.settings) for group in groups],
                "parameters": [len(group.parameters) for group in groups],
                "line": None if line is None else line.line_json(),
            }
        )
        self.changed = True
        return index

    def built_at(self, optimizer: int) -> Location | None:
        """The user's line that has built an optimizer."""
        return self._built[optimizer]

    def hold(self, optimizer: int, groups: Sequence[Group]) -> None:
        """What an optimizer holds now: a group may have been added since it was looked at."""
        counts = [len(group.parameters) for group in groups]
        if self._held.get(optimizer) == counts:
            return
        self._held[optimizer] = counts
        for number, group in enumerate(groups):
            for parameter in group.parameters:
                self.parameters.held(parameter, optimizer, number)
        self.changed = True

    def optimizers_alive(self) -> Iterator[Optimizer]:
        """The optimizers that have been seen, in the order of their numbers."""
        return (optimizer for known in self._optimizers if (optimizer := known()) is not None)

    def loader_index(self, loader: Loader, facts: Mapping[str, object]) -> int:
        """A loader's number, the same for loaders of which the same is known."""
        described, loaders = plain(facts), self.hyper["loaders"]
        if described not in loaders:
            loaders.append(described)
            self.changed = True
        number = loaders.index(described)
        self._loaders.set(loader, number)
        return number

    def loader_known(self, loader: Loader) -> int | None:
        """The number of a loader whose iteration was seen to begin."""
        return self._loaders.get(loader)

    def name_roots(self) -> None:
        """Decide the prefixes of networks that are new."""
        if self.networks.name_roots():
            self.changed = True

    def remember_calls(self, calls: Sequence[tuple[Place, CallInfo]], phase: Phase) -> None:
        """The calls of a phase's first step, in order."""
        before = len(self._calls)
        for place, call in calls:
            feeds = [before + source for source in call.feeds_from]
            self._calls.append(dataclasses.replace(call, path=place.full, phase=phase.value, feeds_from=feeds))
            self.changed = True

    def parameter_table(self) -> list[ParamInfo]:
        """Every parameter and buffer."""
        return self.parameters.table(self.networks)

    def module_table(self) -> tuple[list[ModuleInfo], Sequence[CallInfo]]:
        """Every module, and the calls."""
        return self._modules.table(self.networks), self._calls
