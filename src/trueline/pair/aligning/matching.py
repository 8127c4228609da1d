"""Which call of the port is which of the benchmark's: with weights by alignment, others by their place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from trueline.apitable.layers import layer_of_class
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.ops.input_mapping import given_again
from trueline.pair.questions.described import Described
from trueline.pair.questions.recording import Call, Recording

_FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    "activation": (
        *("relu", "relu6", "gelu", "silu", "swish", "sigmoid", "tanh", "elu", "selu", "celu", "leakyrelu", "mish"),
        *("hardswish", "hswish", "hardsigmoid", "hsigmoid", "hardtanh", "softplus", "softsign", "logsigmoid"),
        *("quickgelu", "newgelu", "newgeluactivation", "glu", "prelu", "rrelu", "hshrink", "tanhshrink"),
    ),
    "pool": ("maxpool", "avgpool", "adaptiveavgpool", "adaptivemaxpool"),
    "softmax": ("softmax", "logsoftmax", "softmin"),
}
_SAME: Final = {"swish": "silu", "hswish": "hardswish", "hsigmoid": "hardsigmoid"}


@dataclass(frozen=True, slots=True)
class Matched:
    """One call on both sides; a ``unit`` has no matched call inside, a ``silent`` one no weights, nor below.

    ``own`` is the place of what the benchmark's layer itself makes, where it holds modules that act on that before it
    is given out (a normalisation with its activation in it) and the port's does not: there they stand behind it.
    ``taken`` are the places of the port's inputs among the benchmark's, where some are given it
    more or less often.
    """

    bench: Call
    port: Call
    unit: bool
    silent: bool
    own: int | None = None
    taken: tuple[int, ...] | None = None

    @property
    def ins(self) -> tuple[int, ...]:
        """What the port's call is given, as places among the benchmark's arrays."""
        return self.bench.ins if self.taken is None else tuple(self.bench.ins[place] for place in self.taken)

    @property
    def called(self) -> tuple[str, int]:
        """Which call of the port it is."""
        return self.port.path, self.port.call


def match_calls(
    aligned: Aligned, bench: Recording, port: Recording, without: Collection[tuple[str, int]] = ()
) -> list[Matched]:
    """Every pair of calls, in the port's order; ``without`` are calls of the port that are not to be matched."""
    pairs = dict(_with_weights(aligned, bench, port))
    silent = dict(_silent(aligned, bench, port, pairs))
    both = {
        here: there
        for here, there in {**pairs, **silent}.items()
        if (port.calls[here].path, port.calls[here].call) not in without
    }
    # What a known layer holds on both sides is a part of it: its tensors are compared with the layer as a whole.
    layers = {here for here, there in pairs.items() if here in both and _is_layer(aligned, bench.calls[there].path)}
    both = {here: there for here, there in both.items() if here in pairs or not _is_inside(port, here, layers)}
    own = {
        here: _own_result(aligned, bench, there) if is_plain(aligned.port, port.calls[here].path) else None
        for here, there in both.items()
    }
    holding = (_holders(port, both.keys()), _holders(bench, both.values()))
    return [
        Matched(
            bench.calls[there],
            port.calls[here],
            here not in holding[0] and (there not in holding[1] or own[here] is not None),
            here in silent,
            own[here],
            _taken(bench, bench.calls[there], port, port.calls[here]),
        )
        for here, there in sorted(both.items())
    ]


def _taken(bench: Recording, there: Call, port: Recording, here: Call) -> tuple[int, ...] | None:
    kinds = [bench.shapes[place] for place in there.ins], [port.shapes[place] for place in here.ins]
    taken = given_again(there.ins, here.ins, kinds)
    return tuple(taken) if taken is not None else None


def _is_layer(aligned: Aligned, path: str) -> bool:
    return layer_of_class(aligned.bench.classes.get(path, "")) is not None


def is_plain(described: Described, path: str) -> bool:
    """Whether a layer is the framework's own class, with nothing added."""
    whole = described.classes.get(path, "")
    return layer_of_class(whole) is not None and described.types.get(path) == whole.rpartition(".")[2]


def _is_inside(recording: Recording, place: int, layers: Collection[int]) -> bool:
    above = recording.calls[place].parent
    while above is not None and above not in layers:
        above = recording.calls[above].parent
    return above is not None


def _own_result(aligned: Aligned, bench: Recording, place: int) -> int | None:
    """Where that lies which a layer gives to the first module that it holds; None for one that holds none."""
    call = bench.calls[place]
    if not _is_layer(aligned, call.path) or len(call.outs) != 1:
        return None
    held = (inner for child in bench.children.get(place, ()) for inner in bench.calls[child].ins)
    own = next(held, None)
    return own if own is not None and bench.shapes[own] == bench.shapes[call.outs[0]] and own not in call.ins else None


def _with_weights(aligned: Aligned, bench: Recording, port: Recording) -> Iterator[tuple[int, int]]:
    """Calls of modules that have weights, themselves or below, and are called equally often."""
    owners = {path for pair in aligned.pairs for path in _above(pair.port_path)}
    places = {(called.path, called.call): place for place, called in enumerate(bench.calls)}
    claims = Counter(other for path, other in aligned.modules.items() if path in owners)
    for place, call in enumerate(port.calls):
        other = aligned.modules.get(call.path)
        if call.path not in owners or other is None or claims[other] > 1:
            continue
        if bench.counts.get(other) == port.counts[call.path]:
            yield place, places[other, call.call]


def _above(path: str) -> Iterator[str]:
    """The paths of the modules that hold a parameter."""
    while path:
        path = path.rpartition(".")[0]
        yield path


def _holders(recording: Recording, places: Iterable[int]) -> set[int]:
    """The calls that one of these calls is inside of."""
    found: set[int] = set()
    for place in places:
        above = recording.calls[place].parent
        while above is not None and above not in found:
            found.add(above)
            above = recording.calls[above].parent
    return found


def _silent(aligned: Aligned, bench: Recording, port: Recording, pairs: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Calls without weights that stand between the same two others on both sides, in the same order."""
    back = {there: here for here, there in pairs.items()}
    groups_there = _segments(bench, back)
    for key, here in _segments(port, pairs).items():
        place = (pairs[key[0]] if key[0] is not None else None, pairs[key[1]] if key[1] is not None else None)
        there = [one for one in groups_there.get(place, []) if bench.calls[one].path not in aligned.in_pieces[0]]
        here = [one for one in here if port.calls[one].path not in aligned.in_pieces[1]]
        kinds = (
            [_kind(aligned.port, port.calls[one]) for one in here],
            [_kind(aligned.bench, bench.calls[one]) for one in there],
        )
        yield from _in_order(here, there, *kinds)


Segment = tuple[int | None, int | None]


def _segments(recording: Recording, pairs: Mapping[int, int]) -> dict[Segment, list[int]]:
    """Calls without a counterpart and with none inside, by the matched call they are in and the last one before."""
    holders = _holders(recording, pairs)
    found: dict[Segment, list[int]] = {}
    last: dict[int | None, int | None] = {}
    inside: dict[int, bool] = {}
    for place, call in enumerate(recording.calls):
        above = call.parent
        # Below another that is listed as a whole.
        within = above is not None and inside.get(above, False)
        while above is not None and above not in pairs:
            above = recording.calls[above].parent
        if place in pairs:
            last[above] = place
        elif place not in holders and not within:
            found.setdefault((above, last.get(above)), []).append(place)
        inside[place] = within or (place not in pairs and place not in holders)
    return found


def _in_order(
    here: Sequence[int], there: Sequence[int], kinds_here: Sequence[str], kinds_there: Sequence[str]
) -> Iterator[tuple[int, int]]:
    if len(here) == len(there) and all(_family(a) == _family(b) for a, b in zip(kinds_here, kinds_there, strict=True)):
        yield from zip(here, there, strict=True)
        return
    for block in SequenceMatcher(None, kinds_here, kinds_there, autojunk=False).get_matching_blocks():
        yield from zip(here[block.a : block.a + block.size], there[block.b : block.b + block.size], strict=True)


def _kind(described: Described, call: Call) -> str:
    """What a module is, in both frameworks' word."""
    layer = layer_of_class(described.classes.get(call.path, ""))
    name = layer.kind if layer is not None else described.types.get(call.path, "").lower().replace("_", "")
    return _SAME.get(name, name)


def _family(kind: str) -> str:
    bare = kind.rstrip("123d")
    return next((name for name, kinds in _FAMILIES.items() if kind in kinds or bare in kinds), kind)
