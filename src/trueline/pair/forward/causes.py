"""From a fault to its causes: what a layer is built with, tried; else what happens between operators."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from trueline.adapters.guest.trouble import SideTrouble
from trueline.apitable.layers import layer_of_class
from trueline.kernel.array import Array
from trueline.model.key import Kind
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.aligning.matching import Matched, is_plain
from trueline.pair.attributes.causes import find_causes
from trueline.pair.attributes.difference import Modules
from trueline.pair.attributes.differences import differences
from trueline.pair.attributes.latent_causes import latent_causes
from trueline.pair.attributes.reference import Reference as TryReference
from trueline.pair.attributes.reference import by_port_leaf
from trueline.pair.blame import EDIT_AT, Blame, Cause, Stage, counterpart_name, module_name
from trueline.pair.coarse import coarse_kinds
from trueline.pair.forward.faults import Fault
from trueline.pair.forward.forced import Called, Reference
from trueline.pair.forward.missing_input import lacking_input
from trueline.pair.ops.constants import confirmed_by_holding, explained_by_constant
from trueline.pair.ops.explaining import Explanation, explain_graphs
from trueline.pair.ops.input_mapping import Given, is_unclear, own_places, taken
from trueline.pair.ops.op_graph import Graph
from trueline.pair.ops.op_level import BlockCall, InnerCall, op_graph, op_graphs
from trueline.pair.questions.blocks import Alteration
from trueline.pair.questions.described import Described
from trueline.pair.questions.model import AssignedAt, GetWeights
from trueline.pair.questions.recording import Call, Recording
from trueline.pair.sides.side import Side

_CONTAINERS = ("Sequential", "SequentialCell", "ModuleList", "CellList")
_ESTIMATE = 1e-5
# A block as a whole rounds more often than what lies between its layers.
_DEEPER = 5.0
# Floors of shorter floats, below which whole operators hide.
_WIDE = 1e-3
_NARROWER = 4.0
# So many settings of one block are put right one after the other.
_MOST_SETTLED = 4
_NOTHING: Mapping[str, Array] = MappingProxyType({})
_NONE_MADE: Mapping[int, Array] = MappingProxyType({})
_KINDS = {"in": Kind.IN, "out": Kind.OUT, "gin": Kind.GIN, "grad": Kind.GRAD, "buffer": Kind.BUFFER}


@dataclass(frozen=True)
class Causes:
    """Finds causes on two live sides whose last recordings were made in the mode of the faults.

    ``together`` are calls that only together with the code around them are the benchmark's: they are looked into.
    ``reshaped`` are layers of the benchmark whose inputs have another shape in the port, and come to the same.
    """

    bench: Side
    port: Side
    aligned: Aligned
    faults: tuple[Fault, ...]
    together: frozenset[Called] = frozenset()
    reshaped: frozenset[str] = frozenset()
    _explained: dict[tuple[Called, float], list[Explanation]] = field(default_factory=dict, init=False)

    def of(self, fault: Fault, recording: Recording) -> list[Blame]:
        """The causes of one fault, confirmed ones first; one that says so where nothing explains it."""
        built = self.built(fault, recording)
        return built if any(blame.confirmed for blame in built) else self.inside(fault, recording, built)

    def built(self, fault: Fault, recording: Recording) -> list[Blame]:
        """What a module is built with otherwise than the benchmark's, tried; confirmed ones first."""
        return [_with_others(blame, fault) for blame in self._built(fault, recording, _stage(fault))]

    def inside(self, fault: Fault, recording: Recording, built: Sequence[Blame]) -> list[Blame]:
        """What operators do where nothing that a module is built with, ``built``, explains it."""
        stage = _stage(fault)
        blames = self._tried_inside(fault, recording, stage, built)
        if not any(blame.confirmed for blame in blames):
            blames = [self._unknown(fault, stage, blames), *blames]
        known = {id(blame) for blame in built}
        return [blame if id(blame) in known else _with_others(blame, fault) for blame in blames]

    def latent(
        self,
        reference: Reference,
        known: Collection[tuple[str, Cause]],
        floor: float = _ESTIMATE,
        unlike: frozenset[Called] = frozenset(),
    ) -> list[Blame]:
        """What is built otherwise in modules that agree; ``known`` are causes already found, by the port's path.

        A layer among ``unlike`` is left out: whose input the port's code prepares otherwise than the benchmark's does,
        as by a border of its own, that input may be what makes up for how it is built; or it is no counterpart.
        """
        return latent_causes(self.bench, self.port, self._built_otherwise(reference, floor, unlike), known)

    def _built_otherwise(
        self, reference: Reference, floor: float, unlike: frozenset[Called]
    ) -> Iterator[tuple[Modules, TryReference]]:
        seen: set[str] = set()
        for matched in reference.matched:
            if not matched.unit or matched.port.path in seen or matched.called in unlike | reference.masks.keys():
                continue
            seen.add(matched.port.path)
            modules = Modules.of(self.aligned.bench, self.aligned.port, (matched.bench.path, matched.port.path))
            shapes = [reference.recording.shapes[place][1] for place in matched.bench.ins]
            if differences(modules, shapes[0] if shapes else None):
                yield modules, replace(self._reference(matched, reference, {}, modules), floor=floor)

    def _built(self, fault: Fault, recording: Recording, stage: Stage) -> list[Blame]:
        bench, port = fault.matched.bench, fault.matched.port
        modules = Modules.of(self.aligned.bench, self.aligned.port, (bench.path, port.path))
        shapes = [fault.reference.recording.shapes[place][1] for place in bench.ins]
        blames: list[Blame] = []
        fewer = fault.forward and len(port.ins) < len(bench.ins)
        if fewer or not fault.between or differences(modules, shapes[0] if shapes else None):
            floors = (
                {kind: _DEEPER * number for kind, number in fault.floors.items()} if fault.between else fault.floors
            )
            reference = self._reference(fault.matched, fault.reference, floors, modules)
            blames = [self._where_set(blame) for blame in find_causes(self.port, modules, reference, stage=stage)]
            if fewer:
                blames += self._lacking(fault, recording, reference, stage, blames)
        own = fault.forward and any(map(_another_class, blames)) and not self._is_framework_layer(fault.matched)
        inside = [blame for blame in self._between(fault, recording, stage) if blame.confirmed] if own else []
        # Code of the user's own is corrected, not replaced by a layer.
        return inside or blames

    def _tried_inside(self, fault: Fault, recording: Recording, stage: Stage, built: Sequence[Blame]) -> list[Blame]:
        alone = not fault.between and self._is_plain(fault.matched) and not _holds(fault, recording)
        if not fault.forward or alone:
            return list(built)
        # A module of the user's own, or code between layers: what it does inside.
        inside = self._between(fault, recording, stage)
        return [
            *(blame for blame in inside if blame.confirmed),
            *built,
            *(blame for blame in inside if not blame.confirmed),
        ]

    def _where_set(self, blame: Blame) -> Blame:
        """An attribute that a class of the user's works out by itself is changed there, not where it is built."""
        change = blame.change
        if change is None or not change.sets or change.arguments or change.build:
            return blame
        name = next(iter(change.sets))
        lines = [
            side.answer(AssignedAt(path, name))
            for side, path in ((self.port, blame.module), (self.bench, blame.other_module))
        ]
        edit, line = blame.edit_alone, lines[0]
        if line is not None and edit is not None:
            blame = replace(blame, line=line, edit=message(EDIT_AT, place=f"{line.file}:{line.line}", edit=edit))
        return replace(blame, other_line=lines[1] or blame.other_line)

    def _lacking(
        self, fault: Fault, recording: Recording, reference: TryReference, stage: Stage, blames: Collection[Blame]
    ) -> list[Blame]:
        """An input that the code around leaves out, where the module is the benchmark's once it has it."""
        lacking = lacking_input(self.port, fault, reference, recording)
        if lacking is None or not (lacking.left.within or any(blame.confirmed for blame in blames)):
            return []
        here, there = (
            _caller(calls, call)
            for calls, call in ((recording, fault.matched.port), (fault.reference.recording, fault.matched.bench))
        )
        params = {"module": module_name(here), "at": fault.matched.port.path, "place": lacking.place + 1}
        return [
            Blame(
                stage,
                lacking.cause,
                message("pair_stage.lacking_input", shape="x".join(map(str, lacking.shape)), **params),
                here,
                there,
                confirmed=True,
                measured=lacking.effect,
                limit=reference.limit(Kind.OUT),
                left=lacking.left.level,
                line=built_at(self.aligned.port, here),
                other_line=built_at(self.aligned.bench, there),
                edit=message("pair_stage.lacking_input_edit", other=counterpart_name(there), **params),
            )
        ]

    def _is_plain(self, matched: Matched) -> bool:
        """Whether both are layers of their frameworks, with no code of the user's in them."""
        sides = (self.aligned.bench, matched.bench.path), (self.aligned.port, matched.port.path)
        return all(is_plain(described, path) for described, path in sides)

    def _is_framework_layer(self, matched: Matched) -> bool:
        """Whether the port's layer is the framework's own, whose code is not the user's to change."""
        return layer_of_class(self.aligned.port.classes.get(matched.port.path, "")) is not None

    def _reference(
        self, matched: Matched, known: Reference, floors: Mapping[str, float], modules: Modules
    ) -> TryReference:
        path, call = matched.bench.path, matched.bench.call
        ins, outs, gouts, gins = (known.all(path, call, kind) for kind in ("in", "out", "gout", "gin"))
        train = known.recording.train
        floating = [index for index, array in outs.items() if array.dtype.kind not in "biu"]
        masks = known.masks.get(matched.called, {})
        return TryReference(
            [masks.get(place, array) for place, array in enumerate(ins.values())],
            list(outs.values()),
            [gouts.get(index) for index in floating] if train and gouts else None,
            [gins.get(index) for index in ins] if train and len(gins) == len(set(matched.bench.ins)) else (),
            by_port_leaf(modules, known.all(path, call, "grad")) if train else {},
            by_port_leaf(modules, known.all(path, call, "buffer")) if train else {},
            by_port_leaf(modules, self._tensors(path)),
            train,
            matched.port.call,
            max(floors.values(), default=_ESTIMATE),
            {_KINDS[kind]: floor for kind, floor in floors.items()},
        )

    def _tensors(self, path: str) -> dict[str, Array]:
        """The benchmark's own tensors of a module, by leaf."""
        described = self.aligned.bench
        names = {
            full[len(path) + bool(path) :]: name
            for name, full in described.paths.items()
            if full.rpartition(".")[0] == path
        }
        if not names:
            return {}
        weights = self.bench.answer(GetWeights(list(names.values())))
        return {leaf: weights[name] for leaf, name in names.items()}

    def _between(self, fault: Fault, recording: Recording, stage: Stage) -> list[Blame]:
        matched = fault.matched
        # Whole numbers have no noise, but what is made of them has.
        limit = max((check.floor for check in fault.checks), default=0.0) or _ESTIMATE
        # A block with faults at several of its layers is looked into once.
        explanations = self._explained.get((fault.called, limit))
        if explanations is None:
            explanations = self._looked_into(fault, recording, limit)
            if limit > _WIDE and not any(explanation.confirmed for explanation in explanations):
                # Between two operators less is rounded than between two layers.
                narrow = self._looked_into(fault, recording, limit / _NARROWER)
                explanations = narrow if any(explanation.confirmed for explanation in narrow) else explanations
            self._explained[fault.called, limit] = explanations
        return [explanation.blame(stage, matched.port.path, matched.bench.path, limit) for explanation in explanations]

    def _looked_into(self, fault: Fault, recording: Recording, limit: float) -> list[Explanation]:
        wrong = {candidate.called for candidate in self.faults if not candidate.between}
        if fault.matched.taken is None and is_unclear(*_kinds(fault.matched, fault.reference, recording)):
            return []
        block = block_of(fault.matched, fault.reference, recording, wrong, self.together)
        try:
            graphs = op_graphs(self.bench, self.port, block)
        except SideTrouble:
            return []
        return list(self._explained_block(block, *graphs, limit))

    def _explained_block(
        self, block: BlockCall, bench: Graph, port: Graph, limit: float, settled: Sequence[Alteration] = ()
    ) -> Iterator[Explanation]:
        """What a setting explains is put right, and the rest explained from there."""
        coarse = coarse_kinds(self.aligned.bench.framework, self.aligned.port.framework)

        def run(
            alterations: Sequence[Alteration] = (),
            held: Mapping[str, Array] = _NOTHING,
            made: Mapping[int, Array] = _NONE_MADE,
        ) -> Graph:
            altered = [*settled, *alterations]
            return op_graph(self.port, block, of_port=True, alterations=altered, held=held, made=made)

        right = self.reshaped | {*self.aligned.unlike.values()}
        found = explain_graphs(
            bench, port, limit, coarse, lambda made: run(made=made), whole=not block.path, right=right
        )
        found = confirmed_by_holding(bench, port, limit, lambda held: run(held=held), found)
        constant = explained_by_constant(bench, port, limit, run, found)
        if constant is None or len(settled) >= _MOST_SETTLED:
            yield from found
            return
        yield from constant.explanations
        after = [*settled, *constant.alterations]
        yield from self._explained_block(block, bench, run(constant.alterations), limit, after)

    def _unknown(self, fault: Fault, stage: Stage, suspects: Sequence[Blame]) -> Blame:
        """That there is a difference, how large, and which causes were tried without success."""
        matched, worst = fault.matched, fault.worst
        tried = list(dict.fromkeys(blame.cause.value for blame in suspects if blame.cause is not Cause.UNKNOWN))
        params: dict[str, object] = {
            "module": module_name(matched.port.path),
            "other": counterpart_name(matched.bench.path),
            "level": f"{worst.level:.2g}",
            "tried": message("pair_stage.tried", names=", ".join(tried)) if tried else "",
        }
        text: Message
        if not fault.between:
            text = message("pair_stage.unknown_unit", **params)
        elif fault.at is not None:
            text = message("pair_stage.unknown_between", at=fault.at.port.path, **params)
        else:
            text = message("pair_stage.unknown_output", **params)
        return Blame(
            stage,
            Cause.UNKNOWN,
            text,
            matched.port.path,
            matched.bench.path,
            measured=worst.level,
            limit=worst.floor,
            line=built_at(self.aligned.port, matched.port.path),
            other_line=built_at(self.aligned.bench, matched.bench.path),
        )


def _stage(fault: Fault) -> Stage:
    return Stage.FORWARD if fault.forward or fault.exceeds_in("buffer") else Stage.BACKWARD


def block_of(
    matched: Matched,
    reference: Reference,
    recording: Recording,
    silent: Collection[Called] | None = None,
    without: Collection[Called] = (),
) -> BlockCall:
    """A call with the calls inside it that both sides have: of layers with weights, and of ``silent`` ones.

    None stands for all that have none; ``without`` are calls that are part of the code around them; ``recording`` is
    the port's.
    """
    inside = [call_pair for call_pair in reference.matched if call_pair is matched or call_pair.called not in without]
    by_call = {call_pair.called: call_pair for call_pair in inside}
    inner = [
        InnerCall(
            call_pair.port.path,
            call_pair.bench.path,
            list(reference.all(call_pair.bench.path, call_pair.bench.call, "out").values()),
            _taken(call_pair, reference, recording),
            [recording.shapes[place][1] for place in call_pair.port.outs],
            [reference.recording.shapes[place][1] for place in call_pair.bench.ins],
        )
        for call_pair in ([] if matched.unit else inside)
        if (not call_pair.silent or silent is None or call_pair.called in silent)
        # What the benchmark's layer holds is to be seen: both are looked into.
        and call_pair.own is None
        and _holder(recording, call_pair, by_call) is matched
    ]
    inputs = list(reference.all(matched.bench.path, matched.bench.call, "in").values())
    train = reference.recording.train
    calls = (matched.port.call, matched.bench.call)
    # What the whole network is given is the same on both sides.
    shapes = [recording.shapes[place][1] for place in matched.port.ins] if matched.port.path else []
    masks = reference.masks.get(matched.called, {})
    like = [reference.recording.shapes[place][1] for place in matched.bench.outs] if matched.port.path else []
    paths = matched.port.path, matched.bench.path
    first = [matched.bench.ins.index(place) for place in matched.bench.ins]
    kinds = _kinds(matched, reference, recording)
    fewer = list(matched.taken) if matched.taken is not None else taken(*kinds)
    places = own_places(*kinds) if matched.taken is None else None
    return BlockCall(*paths, inputs, inner, *calls, train, fewer, shapes, masks, like, first, places)


def _taken(matched: Matched, reference: Reference, recording: Recording) -> list[int] | None:
    """The places of the port's inputs among the benchmark's; of those that only the port takes behind them all."""
    if matched.taken is not None:
        return list(matched.taken)
    theirs, ours = _kinds(matched, reference, recording)
    places = own_places(theirs, ours)
    if places is None:
        return taken(theirs, ours)
    rest = iter(range(len(theirs), len(ours)))
    return [places.index(place) if place in places else next(rest) for place in range(len(ours))]


def _kinds(matched: Matched, reference: Reference, recording: Recording) -> tuple[list[Given], list[Given]]:
    """Types and shapes of what a call is given on both sides."""
    theirs = [reference.recording.shapes[place] for place in matched.bench.ins]
    return theirs, [recording.shapes[place] for place in matched.port.ins]


def _another_class(blame: Blame) -> bool:
    """Whether a cause is that another class is to be built."""
    return blame.confirmed and blame.edit is not None and blame.edit.id == "pair_attr.edit_class"


def _holds(fault: Fault, recording: Recording) -> bool:
    """Whether a layer of either side calls modules that it holds."""
    sides = (fault.reference.recording, fault.matched.bench), (recording, fault.matched.port)
    return any(side.children.get(side.calls.index(call)) for side, call in sides)


def _caller(recording: Recording, call: Call) -> str:
    """The module whose code makes a call."""
    return recording.calls[call.parent].path if call.parent is not None else ""


def block_kinds(
    aligned: Aligned, reference: Reference, recording: Recording, silent: Collection[Called] | None = None
) -> Iterator[BlockCall]:
    """Calls that call others, one of each kind, but for those that only hand on from one to the next."""
    seen: set[object] = set()
    for matched in reference.matched:
        if matched.unit or aligned.port.types.get(matched.port.path) in _CONTAINERS:
            continue
        if matched.taken is None and is_unclear(*_kinds(matched, reference, recording)):
            continue
        block = block_of(matched, reference, recording, silent)
        inside = tuple(layer.path.removeprefix(matched.port.path) for layer in block.inner)
        kind = (aligned.port.classes.get(matched.port.path), aligned.bench.classes.get(matched.bench.path), inside)
        if kind not in seen:
            seen.add(kind)
            yield block


def built_at(described: Described, path: str) -> Location | None:
    """The user's line that built a module."""
    return described.built_at(path)


def _holder(recording: Recording, matched: Matched, by_call: dict[tuple[str, int], Matched]) -> Matched | None:
    """The innermost matched call that a call is made in; one that is the same fault elsewhere counts as itself."""
    place = matched.port.parent
    while place is not None:
        call = recording.calls[place]
        found = by_call.get((call.path, call.call))
        if found is not None and not found.silent:
            return found
        place = call.parent
    return None


def _with_others(blame: Blame, fault: Fault) -> Blame:
    """Where else the same is: modules that the same line has built."""
    if not fault.also:
        return blame
    return replace(blame, evidence=[*blame.evidence, {"also": [matched.port.path for matched in fault.also]}])
