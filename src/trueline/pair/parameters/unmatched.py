"""What only one side has: the parameters without a counterpart, by the outermost module that has none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Final

from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.model.report import Table
from trueline.model.run import ParamInfo
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.blame import Blame, Cause, Stage
from trueline.pair.questions.described import Described

_SHOWN: Final = 4


@dataclass(frozen=True, slots=True)
class Lone:
    """Tensors of one module that the other side has not; ``whole``: the module has no other ones."""

    module: str
    kind: str
    tensors: Sequence[ParamInfo]
    whole: bool
    line: Location | None

    @property
    def shapes(self) -> str:
        """The tensors with their shapes, below the module; of many the first."""
        named = [
            f"{parameter.name.removeprefix(f'{self.module}.')} {shape_text(parameter.shape)}"
            for parameter in self.tensors[:_SHOWN]
        ]
        return ", ".join([*named, "…"] if len(self.tensors) > _SHOWN else named)

    @property
    def words(self) -> dict[str, str | int]:
        """What is said of it."""
        return {"module": self.module, "kind": self.kind, "count": len(self.tensors), "shapes": self.shapes}


def lone_modules(described: Described, lone: Sequence[ParamInfo]) -> list[Lone]:
    """The parameters without a counterpart by the outermost module of which all are."""
    left = {parameter.name for parameter in lone}
    having: dict[str, set[str]] = {}
    for parameter in described.parameters:
        if not parameter.buffer and parameter.shared_with is None:
            for above in _above(_path(described, parameter)):
                having.setdefault(above, set()).add(parameter.name)
    groups: dict[str, list[ParamInfo]] = {}
    for parameter in lone:
        path = _path(described, parameter)
        whole = [above for above in _above(path) if above and having.get(above, {""}) <= left]
        groups.setdefault(whole[0] if whole else path.rpartition(".")[0], []).append(parameter)
    kinds = {module.path: module for module in described.modules}
    return [
        Lone(
            path,
            kinds[path].type if path in kinds else "",
            tensors,
            bool(path) and having.get(path, {""}) <= left,
            kinds[path].built_at if path in kinds else None,
        )
        for path, tensors in groups.items()
    ]


def partly_lone(described: Described, lone: Sequence[ParamInfo]) -> list[ParamInfo]:
    """The parameters without a counterpart in modules that have one."""
    return [parameter for each in lone_modules(described, lone) if not each.whole for parameter in each.tensors]


def unmatched_blames(aligned: Aligned) -> Iterator[Blame]:
    """One for each module without a counterpart, with all that is in it; alike ones of one line are one."""
    found: dict[object, Blame] = {}
    for place, blame in enumerate(_each_unmatched(aligned)):
        own = blame.other_line if blame.cause is Cause.MISSING_PARAMETER else blame.line
        key = (blame.cause, (own.file, own.line) if own is not None else place, blame.bench, blame.port)
        before = found.get(key)
        also = [{"also": [blame.module]}]
        found[key] = replace(before, evidence=[*before.evidence, *blame.evidence, *also]) if before else blame
    yield from found.values()


def _each_unmatched(aligned: Aligned) -> Iterator[Blame]:
    back = {there: here for here, there in aligned.modules.items()}
    for lone in lone_modules(aligned.bench, aligned.only_bench):
        if lone.whole:
            module = _nearest(back, lone.module)
            text = message("pair_stage.missing_module", **lone.words)
            line, other = _built(aligned.port, module), lone.line
            yield _blame(Cause.MISSING_PARAMETER, text, lone, (module or "", lone.module), (line, other))
    for lone in lone_modules(aligned.port, aligned.only_port):
        if lone.whole:
            other_path = aligned.modules.get(lone.module, "")
            text = message("pair_stage.extra_module", **lone.words)
            lines = (lone.line, _built(aligned.bench, other_path))
            yield _blame(Cause.EXTRA_PARAMETER, text, lone, (lone.module, other_path), lines)


def _blame(
    cause: Cause,
    text: Message,
    lone: Lone,
    modules: tuple[str, str],
    lines: tuple[Location | None, Location | None],
) -> Blame:
    shapes = ", ".join(shape_text(parameter.shape) for parameter in lone.tensors)
    missing = cause is Cause.MISSING_PARAMETER
    return Blame(
        Stage.PARAMETERS,
        cause,
        text,
        modules[0],
        modules[1],
        shapes if missing else None,
        None if missing else shapes,
        confirmed=True,
        line=lines[0],
        other_line=lines[1],
        evidence=[{"name": parameter.name} for parameter in lone.tensors],
    )


def unmatched_table(aligned: Aligned) -> Table | None:
    """What has no counterpart on both sides, module by module; None where all has."""
    sides = (("bench", aligned.bench, aligned.only_bench), ("port", aligned.port, aligned.only_port))
    said = {"bench": message("pair_stage.column_bench"), "port": message("pair_stage.column_port")}
    rows = [
        [
            said[role],
            f"{lone.module or '-'} ({lone.kind})",
            lone.shapes,
            str(sum(prod(parameter.shape) for parameter in lone.tensors)),
            str(lone.line) if lone.line is not None else "-",
        ]
        for role, described, left in sides
        for lone in lone_modules(described, left)
    ]
    if not rows:
        return None
    names = ("side", "module", "tensors", "elements", "line")
    return Table(message("pair_stage.unmatched_table"), [message(f"pair_stage.column_{name}") for name in names], rows)


def shape_text(shape: Sequence[int]) -> str:
    """A shape as it is written everywhere."""
    return "x".join(map(str, shape)) or "()"


def _path(described: Described, parameter: ParamInfo) -> str:
    return described.paths.get(parameter.name, parameter.name)


def _above(path: str) -> list[str]:
    """The paths of the modules that hold a tensor, the whole network first."""
    parts = path.split(".")[:-1]
    return [".".join(parts[:count]) for count in range(len(parts) + 1)]


def _nearest(back: Mapping[str, str], path: str) -> str | None:
    """The port's module of one of the benchmark's, or the nearest above it that has one."""
    while path and path not in back:
        path = path.rpartition(".")[0]
    return back.get(path)


def _built(described: Described, path: str | None) -> Location | None:
    return next((module.built_at for module in described.modules if module.path == path), None)
