"""Stages 1 and 2: the parameters of both sides put side by side, and weights carried over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from trueline.model.finding import Certainty
from trueline.model.message import Message, message
from trueline.model.report import Table
from trueline.model.run import ParamInfo
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.aligning.param_pair import ParamPair
from trueline.pair.aligning.whole_and_pieces import Pieces
from trueline.pair.blame import Blame, Cause, Setting, Stage, StageResult, StageVerdict, also_in
from trueline.pair.forward.precision import shorter_weights
from trueline.pair.parameters.cut_otherwise import cut_otherwise, is_cut_otherwise
from trueline.pair.parameters.shapes import shape_blames
from trueline.pair.parameters.unmatched import partly_lone, unmatched_blames, unmatched_table
from trueline.pair.questions.described import Described
from trueline.pair.questions.model import GetWeights
from trueline.pair.sides.side import Side


def parameter_stage(aligned: Aligned) -> StageResult:
    """Counts, shapes, dtypes, what is trained, what is shared, what only one side has."""
    lone_blames = [*unmatched_blames(aligned), *_each_once(_only(aligned))]
    if is_cut_otherwise(aligned):
        lone_blames = [cut_otherwise(aligned)]
    blames = [*lone_blames, *shape_blames(aligned), *_pairs(aligned)]
    here, there = (_counts(described) for described in (aligned.bench, aligned.port))
    text = message(
        "pair_stage.parameters",
        pairs=len(aligned.pairs),
        bench=here[0],
        port=there[0],
        elements=here[1],
        others=there[1],
    )
    verdict = StageVerdict.FOUND if any(not blame.unfelt for blame in blames) else StageVerdict.PASSED
    lone = unmatched_table(aligned)
    tables = [lone, _table(aligned)] if lone is not None else [_table(aligned)]
    # Other numbers of tensors may be the same parts divided otherwise, and may not.
    rules_out = message("pair_stage.parameters_rule_out") if here == there else None
    return StageResult(Stage.PARAMETERS, verdict, text, blames, rules_out, tables)


def _each_once(blames: Iterable[Blame]) -> list[Blame]:
    """Parameters of one name that layers built by one line lack, or have more, are one fault."""
    found: dict[object, Blame] = {}
    for place, blame in enumerate(blames):
        line = blame.line or blame.other_line
        leaf = str(blame.evidence[0]["name"]).rpartition(".")[2]
        key = (blame.cause, line.file, line.line, leaf) if line is not None and blame.module else place
        if key not in found:
            found[key] = blame
        elif blame.module not in (found[key].module, *also_in(found[key])):
            found[key] = replace(found[key], evidence=[*found[key].evidence, {"also": [blame.module]}])
    return list(found.values())


def _counts(described: Described) -> tuple[int, int]:
    own = [parameter for parameter in described.parameters if not parameter.buffer and parameter.shared_with is None]
    return len(own), sum(prod(parameter.shape) for parameter in own)


def _only(aligned: Aligned) -> Iterator[Blame]:
    for parameter in partly_lone(aligned.bench, aligned.only_bench):
        other = _module(aligned.bench, parameter)
        module = _counterpart(aligned, other)
        yield Blame(
            Stage.PARAMETERS,
            Cause.MISSING_PARAMETER,
            message("pair_stage.missing_parameter", name=parameter.name, shape=_shape(parameter.shape)),
            module or "",
            other,
            _shape(parameter.shape),
            None,
            confirmed=True,
            line=aligned.port.built_at(module),
            other_line=aligned.bench.built_at(other),
            evidence=[{"name": parameter.name}],
            general=message("pair_stage.missing_any", **_leaf(aligned.bench, parameter)),
        )
    for parameter in partly_lone(aligned.port, aligned.only_port):
        module = _module(aligned.port, parameter)
        yield Blame(
            Stage.PARAMETERS,
            Cause.EXTRA_PARAMETER,
            message("pair_stage.extra_parameter", name=parameter.name, shape=_shape(parameter.shape)),
            module,
            aligned.modules.get(module, ""),
            None,
            _shape(parameter.shape),
            confirmed=True,
            line=aligned.port.built_at(module),
            other_line=aligned.bench.built_at(aligned.modules.get(module)),
            evidence=[{"name": parameter.name}],
            general=message("pair_stage.extra_any", **_leaf(aligned.port, parameter)),
        )


def _pairs(aligned: Aligned) -> Iterator[Blame]:
    frozen: dict[Cause, list[ParamPair]] = {}
    typed: dict[tuple[str, str], list[ParamPair]] = {}
    for pair in aligned.pairs:
        if not pair.bench.buffer and not pair.port.buffer and pair.bench.trainable is not pair.port.trainable:
            frozen.setdefault(Cause.FROZEN if pair.bench.trainable else Cause.NOT_FROZEN, []).append(pair)
        if pair.bench.dtype != pair.port.dtype:
            typed.setdefault((pair.bench.dtype, pair.port.dtype), []).append(pair)
        if (pair.bench.shared_with is None) is not (pair.port.shared_with is None) and _tells_sharing(aligned, pair):
            text = message("pair_stage.sharing", name=pair.port.name)
            yield _of_pair(aligned, pair, Cause.SHARING, text, pair.bench.shared_with, pair.port.shared_with)
    for pieces in aligned.pieces:
        if _trained_otherwise(pieces):
            # Of some frozen pieces, too: the whole is trained, or not, as one.
            cause = Cause.FROZEN if any(tensor.trainable for tensor in pieces.bench) else Cause.NOT_FROZEN
            frozen.setdefault(cause, []).append(_as_pair(aligned, pieces))
    for (bench, port), pairs in typed.items():
        name, count = pairs[0].port.name, len(pairs)
        text = message("pair_stage.dtype", name=name, count=count, bench=bench, port=port)
        found = _of_pair(aligned, pairs[0], Cause.DTYPE, text, bench, port)
        # A format that all matrices have was given to the network as a whole: a choice, to be known.
        yield replace(found, confirmed=(bench, port) != shorter_weights(aligned))
    for cause, pairs in frozen.items():
        for group in _by_module(pairs):
            names = ", ".join(pairing.port.name for pairing in group)
            text = (
                message("pair_stage.frozen", names=names)
                if cause is Cause.FROZEN
                else message("pair_stage.not_frozen", names=names)
            )
            trained = cause is Cause.FROZEN
            yield _of_pair(aligned, group[0], cause, text, trained, not trained)


def _tells_sharing(aligned: Aligned, pair: ParamPair) -> bool:
    """MindSpore keeps a shared parameter under one name only."""
    return pair.port.name not in aligned.port.aliases.values() and pair.bench.name not in aligned.bench.aliases.values()


def _trained_otherwise(pieces: Pieces) -> bool:
    """Whether some of a tensor is trained on one side only."""
    tensors = (*pieces.bench, *pieces.port)
    return not any(tensor.buffer for tensor in tensors) and len({tensor.trainable for tensor in tensors}) > 1


def _as_pair(aligned: Aligned, pieces: Pieces) -> ParamPair:
    """The first of the pieces that is trained otherwise, beside what it is a piece of."""
    bench = pieces.bench[0]
    place = next((at for at, tensor in enumerate(pieces.port) if tensor.trainable is not bench.trainable), 0)
    paths = pieces.bench_paths(aligned.bench)[0], pieces.port_paths(aligned.port)[place]
    return ParamPair(bench, pieces.port[place], *paths, None, Certainty.LIKELY)


def _by_module(pairs: Iterable[ParamPair]) -> list[list[ParamPair]]:
    found: dict[str, list[ParamPair]] = {}
    for pair in pairs:
        found.setdefault(pair.port_path.rpartition(".")[0], []).append(pair)
    return list(found.values())


def _of_pair(aligned: Aligned, pair: ParamPair, cause: Cause, text: Message, bench: Setting, port: Setting) -> Blame:
    module, other = pair.port_path.rpartition(".")[0], pair.bench_path.rpartition(".")[0]
    return Blame(
        Stage.PARAMETERS,
        cause,
        text,
        module,
        other,
        bench,
        port,
        confirmed=True,
        line=aligned.port.built_at(module),
        other_line=aligned.bench.built_at(other),
        evidence=[{"name": pair.port.name, "other": pair.bench.name}],
    )


def _module(described: Described, parameter: ParamInfo) -> str:
    return described.paths.get(parameter.name, parameter.name).rpartition(".")[0]


def _leaf(described: Described, parameter: ParamInfo) -> dict[str, str]:
    """What a parameter is called in its layer, and the layer's class."""
    module, _, leaf = described.paths.get(parameter.name, parameter.name).rpartition(".")
    return {"leaf": leaf, "type": described.types.get(module, "")}


def _counterpart(aligned: Aligned, path: str) -> str | None:
    """The port's module of one of the benchmark's, or the nearest above it that has one."""
    back = {there: here for here, there in aligned.modules.items()}
    while path and path not in back:
        path = path.rpartition(".")[0]
    return back.get(path)


def _shape(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "()"


def _table(aligned: Aligned) -> Table:
    columns = ("bench", "port", "shape", "dtype", "trained")
    rows: list[list[str]] = []
    marked: set[int] = set()
    for pair in aligned.pairs:
        same = pair.layout is not None and (pair.bench.buffer or pair.bench.trainable is pair.port.trainable)
        if not same:
            marked.add(len(rows))
        rows.append(
            [
                pair.bench.name,
                pair.port.name,
                _both(_shape(pair.bench.shape), _shape(pair.port.shape)),
                _both(pair.bench.dtype, pair.port.dtype),
                _both(_trained(pair.bench), _trained(pair.port)),
            ]
        )
    for pieces in aligned.pieces:
        if _trained_otherwise(pieces):
            marked.add(len(rows))
        sides = (pieces.bench, pieces.port)
        names, shapes, dtypes, trained = (
            [", ".join(dict.fromkeys(map(said, side))) for side in sides]
            for said in (_name, _shape_of, _dtype, _trained)
        )
        rows.append([*names, _both(*shapes), _both(*dtypes), _both(*trained)])
    for left, place in ((aligned.only_bench, 0), (aligned.only_port, 1)):
        for lone in left:
            marked.add(len(rows))
            names = [lone.name, "-"] if place == 0 else ["-", lone.name]
            rows.append([*names, _shape(lone.shape), lone.dtype, _trained(lone)])
    title = message("pair_stage.parameter_table")
    return Table(title, [message(f"pair_stage.column_{column}") for column in columns], rows, frozenset(marked))


def _name(parameter: ParamInfo) -> str:
    return parameter.name


def _shape_of(parameter: ParamInfo) -> str:
    return _shape(parameter.shape)


def _dtype(parameter: ParamInfo) -> str:
    return parameter.dtype


def _both(a: str, b: str) -> str:
    return a if a == b else f"{a} / {b}"


def _trained(parameter: ParamInfo) -> str:
    return "-" if parameter.buffer else "+" if parameter.trainable else "frozen"


def table_blames(bench: Side, port: Side, aligned: Aligned) -> list[Blame]:
    """Buffers that are no statistics, and so part of what a network computes: masks and tables with other values."""
    kept = [
        pair
        for pair in aligned.pairs
        if pair.bench.buffer and pair.layout is not None and not _statistics(pair.bench_path)
    ]
    if not kept:
        return []
    there = bench.answer(GetWeights([pair.bench.name for pair in kept]))
    here = port.answer(GetWeights([pair.port.name for pair in kept]))
    blames: list[Blame] = []
    for pair in kept:
        laid = pair.laid(there[pair.bench.name])
        if not np.allclose(laid, here[pair.port.name], rtol=1e-5, atol=1e-6, equal_nan=True):
            text = message("pair_stage.other_table", name=pair.port.name)
            blames.append(replace(_of_pair(aligned, pair, Cause.ATTRIBUTE, text, None, None), stage=Stage.WEIGHTS))
    return blames


def _statistics(path: str) -> bool:
    return path.rpartition(".")[2] in ("running_mean", "running_var", "moving_mean", "moving_variance")
