"""A whole project, read from its entries on; what nothing calls is read at the end."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

from trueline.model.location import Location
from trueline.script.entries import entries_first
from trueline.script.project import Project, resolved
from trueline.script.reading.machine import Frame, Machine, TooLongError, method_of
from trueline.script.reading.statements import Statements
from trueline.script.roles import is_network
from trueline.script.source import SourceFile
from trueline.script.trace import UNCALLED, Scope, Trace
from trueline.script.values import Class, Const, Function, Instance, ModuleRoom, Names, Value

# How a dataset of the project gives its samples.
_GIVING: Final = ("__getitem__", "__iter__", "__next__")
# Datasets of a project whose samples are read.
MAX_DATASETS: Final = 24


class Reader(Statements):
    """Reads a project."""

    def body(self, function: Function, frame: Frame) -> None:
        """Read a function's body in its frame."""
        if isinstance(function.node, ast.Lambda):
            frame.returned.append(self.evaluate(function.node.body))
        else:
            self.block(function.node.body)

    def module(self, path: Path) -> ModuleRoom | None:
        """A module of the project, read once; one that is being read is as far as it has come."""
        path = resolved(path)
        known = self.machine.modules.get(path)
        if known is not None:
            return known
        source = self.machine.project.source(path)
        return self._read(source, path.stem) if source.trouble is None else None

    def _read(self, source: SourceFile, name: str) -> ModuleRoom:
        self.machine.budget.widen(len(source.text))
        room = ModuleRoom(
            name, source.shown, Names({"__name__": Const(name), "__file__": Const(source.shown)}), source.tree
        )
        self.machine.modules[resolved(source.path)] = room
        self.machine.frames.append(Frame(room, room.names))
        scopes, self.machine.scopes = self.machine.scopes, []
        try:
            self.block(source.tree.body)
        finally:
            self.machine.frames.pop()
            self.machine.scopes = scopes
        return room

    def whole(self) -> Trace:
        """All entries, then whatever was not called."""
        try:
            for source in entries_first(self.machine.project.entries):
                if resolved(source.path) not in self.machine.modules and source.trouble is None:
                    self._read(source, "__main__")
            self._uncalled()
            self._samples()
        except (TooLongError, RecursionError):
            self.machine.trace.cut_short = True
        return self.machine.trace

    def _uncalled(self) -> None:
        """Methods of the objects there are, then of classes of which there are none, then functions."""
        for instance in list(self.machine.instances):
            for cls in instance.cls.lineage():
                for value in list(cls.attributes.values()):
                    if isinstance(value, Function) and id(value.node) not in self.machine.read_functions:
                        self._alone(value, instance)
        for room in list(self.machine.modules.values()):
            for value in list(room.names.held.values()):
                if isinstance(value, Class) and value.module is room:
                    self._class_alone(value)
        for function in list(self.machine.functions):
            if id(function.node) not in self.machine.read_functions and function.owner is None:
                self._alone(function, None)

    def _samples(self) -> None:
        """What each dataset gives by itself: two of one class, for training and for evaluation, give different things.

        The calls on the way have been taken down before, once for all objects of the class.
        """
        trace = self.machine.trace
        datasets = [given for given in self.machine.instances if _gives_samples(given)]
        for dataset in datasets[:MAX_DATASETS]:
            classes = next((given for name in _GIVING if (given := method_of(dataset.cls, name)) is not None), None)
            if classes is None or not isinstance(classes[0], Function):
                continue
            events, lost = len(trace.events), len(trace.lost)
            returned = {name: list(values) for name, values in trace.returned.items()}
            self._alone(classes[0], dataset)
            trace.samples[id(dataset)] = trace.returned.get(id(classes[0].node), [])[
                len(returned.get(id(classes[0].node), ())) :
            ]
            del trace.events[events:], trace.lost[lost:]
            trace.returned = returned

    def _class_alone(self, cls: Class) -> None:
        methods = [value for value in cls.attributes.values() if isinstance(value, Function)]
        if not any(id(function.node) not in self.machine.read_functions for function in methods):
            return
        if id(cls) in self.machine.built_classes:
            return
        place = Location.of(cls.module.file, cls.node)
        self.machine.frames.append(Frame(cls.module, cls.module.names))
        try:
            with self.machine.within(Scope(UNCALLED, place, cls, name=cls.name)):
                made = self.call(cls, (), {}, cls.node)
        finally:
            self.machine.frames.pop()
        if isinstance(made, Instance):
            for function in methods:
                if id(function.node) not in self.machine.read_functions:
                    self._alone(function, made)

    def _alone(self, function: Function, owner: Value | None) -> None:
        place = Location.of(function.module.file, function.node)
        bound = owner if function.kind != "staticmethod" else None
        alone = Function(
            function.node,
            function.module,
            function.around,
            function.owner,
            bound,
            function.contexts,
            function.kind,
            function.defaults,
        )
        self.machine.frames.append(Frame(function.module, function.module.names))
        try:
            with self.machine.within(Scope(UNCALLED, place, alone, name=function.name)):
                self.call(alone, (), {}, function.node)
        finally:
            self.machine.frames.pop()


def _gives_samples(instance: Instance) -> bool:
    if is_network(instance):
        return False
    return any(method_of(instance.cls, name) is not None for name in _GIVING)


def read_trace(project: Project) -> Trace:
    """What happens when the project's scripts run."""
    return Reader(Machine(project)).whole()
