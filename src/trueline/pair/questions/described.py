"""A model as its side describes it, and what came of loading a file into it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from trueline.model.location import Location
from trueline.model.run import ModuleInfo, ParamInfo
from trueline.pair.questions.question import Question


@dataclass(frozen=True)
class Described:
    """A model as its framework's checkpoints see it.

    ``parameters`` are what a checkpoint holds, buffers too, in its order and under its names; ``initial`` is their
    Summary where that was asked for. ``paths`` is the attribute path of each. ``aliases`` are further paths to a
    parameter that is kept under one name only. ``left_out`` are the paths of tensors that no checkpoint holds.
    ``classes`` are the whole names of the modules' types by path.
    ``takes`` are the inputs that a call must give, None where that cannot be told.
    """

    framework: str
    version: str
    parameters: Sequence[ParamInfo]
    modules: Sequence[ModuleInfo]
    paths: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    left_out: Sequence[str] = ()
    takes: tuple[str, ...] | None = None
    classes: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def types(self) -> dict[str, str]:
        """The type of each module, by path."""
        return {module.path: module.type for module in self.modules}

    def module_of(self, name: str) -> ModuleInfo | None:
        """The module that a parameter, by its name in a checkpoint, belongs to."""
        path = self.paths.get(name, name).rpartition(".")[0]
        return next((module for module in self.modules if module.path == path), None)

    def built_at(self, path: str | None) -> Location | None:
        """The user's line that built a module."""
        return self._lines.get(path) if path is not None else None

    def place_of(self, path: str) -> Location | None:
        """The line that built a module, or else the nearest one around it of which that is known."""
        while path and self._lines.get(path) is None:
            path = path.rpartition(".")[0]
        return self._lines.get(path)

    @cached_property
    def _lines(self) -> dict[str, Location | None]:
        return {module.path: module.built_at for module in self.modules}

    def own(self, module: ModuleInfo) -> Iterator[ParamInfo]:
        """The parameters and buffers of one module itself, without those of the modules in it."""
        for parameter in self.parameters:
            if self.paths.get(parameter.name, parameter.name).rpartition(".")[0] == module.path:
                yield parameter


@dataclass(frozen=True, slots=True)
class Misfit:
    """A parameter whose shape in the file is not the model's."""

    name: str
    in_file: tuple[int, ...]
    in_model: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Loaded:
    """What came of loading a file, and ``by`` whom: what the file lacks, what the model lacks, what does not fit."""

    by: str
    count: int
    missing: Sequence[str] = ()
    unexpected: Sequence[str] = ()
    misfits: Sequence[Misfit] = ()

    @property
    def complete(self) -> bool:
        """Whether the file and the model hold the same parameters."""
        return not (self.missing or self.unexpected or self.misfits)


@dataclass(frozen=True, slots=True)
class Describe(Question[Described]):
    """What the model consists of; with ``summaries`` the numbers of its values too."""

    summaries: bool = False


@dataclass(frozen=True, slots=True)
class Load(Question[Loaded]):
    """Load a weight file the framework's own way; with ``strict`` another shape than the model's is a trouble."""

    path: str
    strict: bool = True
