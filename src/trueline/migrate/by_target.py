"""A plan towards the names of a target: aligned with the file's, what is left over named on both sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Final

import numpy as np

from trueline.apitable.layers import layers
from trueline.compare.align import Item, Layout, Leftover, Pair, Reason, Rules, Structure, align
from trueline.formats.outgoing import Outgoing
from trueline.formats.stored import Stored
from trueline.migrate.folding import fold
from trueline.migrate.held import Held
from trueline.migrate.modules import Naming, Recognised
from trueline.migrate.plan import Dropped, Lacking, Move, Plan, Sorting
from trueline.migrate.recognising import recognise
from trueline.migrate.target import Target, Wanted
from trueline.migrate.unfolding import Joined, join, part
from trueline.model.finding import Certainty
from trueline.model.key import Key, Kind
from trueline.model.message import Message, message

_COUNTER: Final = "num_batches_tracked"
_STATISTICS: Final = frozenset({"moving_mean", "moving_variance", "running_mean", "running_var"})


def plan_by_target(
    arrays: Sequence[Held],
    target: Target,
    naming: tuple[Naming, Naming],
    types: Mapping[str, str] | None = None,
    rules: Rules | None = None,
) -> Plan:
    """Every array of the file under the name that it has in the target; ``naming`` is the file's and the target's."""
    joined = join(target.wanted)
    names = {wanted.name for wanted in target.wanted}
    folded = fold(arrays)
    kept = {array.name for array in folded}
    if any(array.name in names for array in arrays if array.name not in kept):
        # Both sides keep the parts.
        joined = Joined(target.wanted, {})
    else:
        arrays = folded
    here = {Key.of_parameter(array.name, Kind.PARAM): array for array in arrays}
    there = {Key.of_parameter(wanted.name, Kind.PARAM): wanted for wanted in joined.wanted}
    alignment = align(
        Structure([Item(key, array.shape, str(array.dtype)) for key, array in here.items()], types or {}),
        Structure([Item(key, wanted.shape) for key, wanted in there.items()], target.types),
        rules or Rules(),
    )
    if rules is not None:
        rules.need_used([alignment])
    sorting = Sorting()
    for pair in alignment.pairs:
        _sort(pair, here[pair.a], there[pair.b], sorting)
    moved = _with_tied(sorting, [there[left_over.key] for left_over in alignment.only_b])
    layers_there = recognise([_placeholder(wanted) for wanted in target.wanted], naming[1], target.types or None)
    for leftover in alignment.only_b:
        if leftover.key.parameter not in moved:
            _lack(there[leftover.key], leftover, layers_there, sorting)
    known = recognise(arrays, naming[0], types)
    instances = {
        move.held.path for move in sorting.moves if _is_instance(layers_there.get(move.name.rpartition(".")[0]))
    }
    for leftover in alignment.only_a:
        held = here[leftover.key]
        if held.path in instances and held.leaf in _STATISTICS:
            why = message("convert.no_counterpart", leaf=held.leaf, layer="InstanceNorm")
            sorting.dropped.extend(Dropped(name, why) for name in held.names)
        else:
            _leave(held, leftover, known, sorting)
    sorting.moves = [
        piece
        for move in sorting.moves
        for piece in (part(move, joined.pairs[move.name]) if move.name in joined.pairs else [move])
    ]
    order = {wanted.name: place for place, wanted in enumerate(target.wanted)}
    sorting.moves.sort(key=lambda move: order[move.name])
    return Plan(sorting.moves, naming[1], sorting.dropped, sorting.missing, sorting.unexpected)


def _is_instance(known: Recognised | None) -> bool:
    return known is not None and known.layer is not None and known.layer.kind == "instancenorm"


def _sort(pair: Pair, held: Held, wanted: Wanted, sorting: Sorting) -> None:
    fits = prod(held.shape) == prod(wanted.shape) and (held.shape == wanted.shape or pair.layout is not Layout.SAME)
    if not fits:
        why = message("convert.does_not_fit", here=list(held.shape), there=list(wanted.shape))
        sorting.unexpected.append(Lacking(held.name, held.shape, wanted.name, why))
        sorting.missing.append(Lacking(wanted.name, wanted.shape, held.name, why))
        return
    done = [*held.done, *_done(pair, held, wanted)]
    transposed = pair.layout is Layout.TRANSPOSED
    sorting.moves.append(
        Move(held, wanted.name, wanted.shape, pair.reason.text, _sure(pair), tuple(done), transposed=transposed)
    )


def _done(pair: Pair, held: Held, wanted: Wanted) -> Iterator[Message]:
    if pair.layout is Layout.TRANSPOSED:
        yield message("convert.transposed", before=list(held.shape), after=list(wanted.shape))
    elif pair.layout is Layout.SQUEEZED:
        yield message("convert.reshaped", before=list(held.shape), after=list(wanted.shape))
    if held.name != wanted.name:
        yield message("convert.moved", before=held.name, after=wanted.name)


def _sure(pair: Pair) -> Certainty:
    return Certainty.POSSIBLE if pair.reason is Reason.ORDER else pair.certainty


def _with_tied(sorting: Sorting, left: Sequence[Wanted]) -> set[str]:
    """Second names of a tensor in the target: they get the elements of the first."""
    moves = {move.name: move for move in sorting.moves}
    found = set()
    for wanted in left:
        first = moves.get(wanted.shared_with or "")
        if first is not None:
            done = message("convert.tied", name=first.name)
            sorting.moves.append(Move(first.held, wanted.name, wanted.shape, done, first.certainty, (done,)))
            found.add(wanted.name)
    return found


def _placeholder(wanted: Wanted) -> Held:
    """A name of the target as the layers are recognised by."""
    return Held(
        wanted.name, wanted.shape, np.dtype(np.float32), np.zeros(0, np.float32), shared_with=wanted.shared_with
    )


def _lack(wanted: Wanted, left: Leftover, layers: Mapping[str, Recognised], sorting: Sorting) -> None:
    path, _, leaf = wanted.name.rpartition(".")
    known = layers[path]
    if leaf == _COUNTER:
        sorting.dropped.append(Dropped(wanted.name, message("convert.no_counterpart", leaf=leaf, layer=known.label)))
        return
    value = _neutral(leaf, known)
    if value is not None and _others_came(path, sorting):
        done = message("convert.filled", value=value)
        # One number, seen as many.
        array = np.broadcast_to(np.float32(value), wanted.shape)
        held = Held(wanted.name, wanted.shape, array.dtype, array, parts=(), done=(done,))
        why = message("convert.why_neutral", layer=known.label)
        sorting.moves.append(Move(held, wanted.name, wanted.shape, why, known.certainty, (done,)))
        return
    nearest = left.nearest.parameter if left.nearest is not None else None
    sorting.missing.append(Lacking(wanted.name, wanted.shape, nearest))


def _neutral(leaf: str, known: Recognised) -> float | None:
    """What a tensor means that only one framework's layer has."""
    layer = known.layer
    if layer is not None and layer.kind == "batchnorm":
        # By names alone it is no other than an InstanceNorm, which needs no statistics in torch.
        layer = layers()["instancenorm"]
    ours = layer.torch_leaf(leaf) if layer is not None else None
    return layer.neutral.get(ours) if layer is not None and ours is not None else None


def _others_came(path: str, sorting: Sorting) -> bool:
    """Whether a module's other tensors have found theirs: it is the same layer, with fewer tensors over there."""
    return any(move.name.rpartition(".")[0] == path for move in sorting.moves)


def _leave(held: Held, left: Leftover, known: Mapping[str, Recognised], sorting: Sorting) -> None:
    layer = known[held.path].layer
    if held.leaf == _COUNTER or (layer is not None and held.leaf in (*layer.only_torch, *layer.only_mindspore)):
        why = message("convert.no_counterpart", leaf=held.leaf, layer=known[held.path].label)
        sorting.dropped.extend(Dropped(name, why) for name in held.names)
        return
    same = _written_already(held, sorting)
    if same is not None:
        sorting.dropped.extend(Dropped(name, message("convert.same_as", name=same)) for name in held.names)
        return
    nearest = left.nearest.parameter if left.nearest is not None else None
    sorting.unexpected.extend(Lacking(name, held.shape, nearest) for name in held.names)


def _written_already(held: Held, sorting: Sorting) -> str | None:
    """The name of an array of the file that goes into the result and holds the same elements."""
    for move in sorting.moves:
        other = move.held
        if (other.shape, other.dtype) != (held.shape, held.dtype) or not isinstance(other.source, Stored):
            continue
        tied = held.shared_with in (other.name, other.shared_with) if held.shared_with else False
        if tied or other.shared_with == held.name or _same_elements(held, other):
            return other.name
    return None


def _same_elements(a: Held, b: Held) -> bool:
    if not isinstance(a.source, Stored) or not isinstance(b.source, Stored) or len(a.shape) < 2:
        # Vectors of zeros or ones are equal without being the same.
        return False
    here, there = Outgoing.of(a.source).pieces(), Outgoing.of(b.source).pieces()
    # A piece at a time: most differ in the first, and none needs memory.
    return all(np.array_equal(piece, its_like) for piece, its_like in zip(here, there, strict=True))
