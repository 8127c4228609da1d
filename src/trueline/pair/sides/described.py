"""What a side's process tells of its model, and of loading a file into it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from trueline.model.fields import may, naturals, need, text_by_text, texts
from trueline.model.numbers import plain
from trueline.model.run import ModuleInfo, ParamInfo


@dataclass(frozen=True, slots=True)
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
    takes: Sequence[str] | None = None
    classes: Mapping[str, str] = field(default_factory=dict)

    @property
    def types(self) -> dict[str, str]:
        """The type of each module, by path."""
        return {one.path: one.type for one in self.modules}

    def module_of(self, name: str) -> ModuleInfo | None:
        """The module that a parameter, by its name in a checkpoint, belongs to."""
        path = self.paths.get(name, name).rpartition(".")[0]
        return next((one for one in self.modules if one.path == path), None)

    def own(self, module: ModuleInfo) -> Iterator[ParamInfo]:
        """The parameters and buffers of one module itself, without those of the modules in it."""
        for one in self.parameters:
            if self.paths.get(one.name, one.name).rpartition(".")[0] == module.path:
                yield one

    def to_json(self) -> dict[str, Any]:
        """The JSON shape."""
        return {
            "framework": self.framework,
            "version": self.version,
            "parameters": [one.to_json() for one in self.parameters],
            "modules": [one.to_json() for one in self.modules],
            "paths": dict(self.paths),
            "aliases": dict(self.aliases),
            "left_out": list(self.left_out),
            "takes": plain(self.takes),
            "classes": dict(self.classes),
        }

    @classmethod
    def from_json(cls, found: Any) -> Self:
        """Read the JSON shape; a ValueError says what is wrong."""
        return cls(
            need(found, "framework", str),
            need(found, "version", str),
            [ParamInfo.from_json(one) for one in need(found, "parameters", list)],
            [ModuleInfo.from_json(one) for one in need(found, "modules", list)],
            text_by_text(found, "paths"),
            text_by_text(found, "aliases"),
            texts(found, "left_out"),
            texts(found, "takes") if may(found, "takes", list) is not None else None,
            text_by_text(found, "classes"),
        )


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

    def to_json(self) -> dict[str, Any]:
        """The JSON shape."""
        misfits = [
            {"name": one.name, "in_file": list(one.in_file), "in_model": list(one.in_model)} for one in self.misfits
        ]
        lists = {"missing": list(self.missing), "unexpected": list(self.unexpected), "misfits": misfits}
        return {"by": self.by, "count": self.count, **lists}

    @classmethod
    def from_json(cls, found: Any) -> Self:
        """Read the JSON shape; a ValueError says what is wrong."""
        misfits = [
            Misfit(need(one, "name", str), naturals(one, "in_file"), naturals(one, "in_model"))
            for one in need(found, "misfits", list)
        ]
        by, count = need(found, "by", str), need(found, "count", int)
        return cls(by, count, texts(found, "missing"), texts(found, "unexpected"), misfits)
