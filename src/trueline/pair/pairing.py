"""Two live networks, stage by stage."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from trueline.adapters.guest.entry import Entry
from trueline.adapters.guest.trouble import SideTrouble
from trueline.compare.align import Rules
from trueline.compare.noise import epsilon
from trueline.kernel.array import Array
from trueline.model.json_value import Json
from trueline.model.message import Message, message
from trueline.pair.aligning.aligned import Aligned, align_sides, carry_over
from trueline.pair.aligning.borne_out import with_cuts
from trueline.pair.aligning.by_values import align_by_values
from trueline.pair.aligning.divided import with_pieces
from trueline.pair.aligning.random_weights import move_weights
from trueline.pair.backward.stage import backward_stage
from trueline.pair.blame import Blame, Stage, StageResult, StageVerdict, moves_curve
from trueline.pair.curve_stage import curve_stage
from trueline.pair.data.stage import data_stage
from trueline.pair.forward.precision import Shorter
from trueline.pair.forward.stage import Forward, Progress, forward_result, no_progress, run_forward
from trueline.pair.graft.places import check_module
from trueline.pair.graft.run import Grafted, run_grafts
from trueline.pair.grouping import sized
from trueline.pair.loss.stage import loss_stage
from trueline.pair.metrics.stage import metric_stage
from trueline.pair.parameters.cut_otherwise import undecided_beside
from trueline.pair.parameters.initial_stage import built_weights, initial_stage
from trueline.pair.parameters.stage import parameter_stage, table_blames
from trueline.pair.places import placed
from trueline.pair.questions.described import Described
from trueline.pair.questions.recording import Record
from trueline.pair.sides.inputs import guess_inputs
from trueline.pair.sides.parts import Parts, load_parts
from trueline.pair.sides.side import Side
from trueline.pair.update.schedule_stage import schedule_stage
from trueline.pair.update.stage import update_stage
from trueline.pair.written_tests import Kept, keep_cases

Tell: TypeAlias = Callable[[Message], None]

_NOTHING: Mapping[str, Json] = MappingProxyType({})
# A training of the user's shows what many steps do; plain steps on made-up values say all they can after two updates.
_CURVE_STEPS = 10
_PLAIN_STEPS = 3


@dataclass(frozen=True, slots=True)
class Wish:
    """One side as a user asks for it: the entry point, its arguments, the interpreter."""

    entry: Entry
    args: Sequence[Json] = ()
    kwargs: Mapping[str, Json] = field(default_factory=lambda: _NOTHING)
    python: str = sys.executable

    def start(self, role: str, folder: Path | None, timeout: float | None) -> Side:
        """Begin to build it; ``role`` is bench or port."""
        return Side.start(
            self.entry,
            python=self.python,
            folder=folder,
            timeout=timeout,
            args=self.args,
            kwargs=self.kwargs,
            name=f"{role} {self.entry}",
        )


@dataclass(frozen=True, slots=True)
class Options:
    """How to go about it: ``weights`` are the benchmark's real ones, ``module`` keeps to one of the port's modules.

    ``steps`` is the length of the curve; None is what suits the parts.

    ``keep_cases`` keeps what tests of sub-networks are written from; ``grafts`` are modules of the port whose output
    the benchmark's takes the place of in a live run.
    """

    inputs: Sequence[Array] | None = None
    weights: Path | None = None
    parts: Path | None = None
    module: str = ""
    seed: int = 0
    steps: int | None = None
    rules: Rules | None = None
    folder: Path | None = None
    timeout: float | None = None
    keep_cases: bool = False
    grafts: Sequence[str] = ()


@dataclass(frozen=True)
class Paired:
    """All stages in order, and what they rest on; ``notes`` say what was not run."""

    bench: str
    port: str
    aligned: Aligned
    forward: Forward
    inputs: Sequence[Array]
    stages: Sequence[StageResult]
    kept: Kept | None = None
    notes: Sequence[Message] = ()
    module: str = ""
    grafts: Sequence[Grafted] = ()

    @property
    def shorter(self) -> Shorter | None:
        """The format that the port as a whole computes in, where it is shorter than the benchmark's."""
        found = self.forward.evaluated.shorter
        return found if found is not None and found.whole else None

    @property
    def blames(self) -> list[Blame]:
        """What all stages blame, in their order."""
        return [blame for stage in self.stages for blame in stage.blames]


def _untold(_: Message) -> None:
    """The answer has it too."""


def pair_sides(
    bench: Wish, port: Wish, options: Options, progress: Progress = no_progress, tell: Tell = _untold
) -> Paired:
    """Put two networks side by side; ``progress`` hears of each stage as it begins, ``tell`` of what is not run."""
    with ExitStack() as open_sides:
        sides = {
            role: open_sides.enter_context(wish.start(role, options.folder, options.timeout))
            for role, wish in (("bench", bench), ("port", port))
        }
        progress("building")
        notes: list[Message] = []
        for role, side in sides.items():
            _await(role, side)
            notes += [note for note in side.left_out() if note not in notes]
        for note in notes:
            tell(note)
        paired = _Pairing(sides["bench"], sides["port"], options, progress).run()
    stages = [
        replace(stage, blames=[placed(blame, paired.aligned) for blame in stage.blames])
        for stage in undecided_beside(paired.aligned, paired.stages)
    ]
    return replace(paired, stages=stages, notes=notes)


def _await(role: str, side: Side) -> None:
    """Until a side is built; a factory that wants arguments can be given them here."""
    try:
        side.ready()
    except SideTrouble as trouble:
        if trouble.message.id != "side.needs_arguments":
            raise
        raise SideTrouble("pair_stage.needs_arguments", role=role, **trouble.message.params) from None


class _Pairing:
    def __init__(self, bench: Side, port: Side, options: Options, progress: Progress) -> None:
        self.bench, self.port, self.options, self.progress = bench, port, options, progress
        self.parts = load_parts(bench, port, options.parts) if options.parts is not None else Parts()
        self.described: tuple[Described, Described] = (bench.describe(), port.describe())

    def run(self) -> Paired:
        bench, port, options, progress = self.bench, self.port, self.options, self.progress
        self._check_modules()
        inputs = self._inputs()
        progress("data")
        stages = [data_stage(bench, port, self.parts)]
        progress("parameters")
        # What the factories drew is to be seen before it is overwritten.
        built = built_weights((bench, port), self.described)
        self._give_weights(inputs)
        seen = (
            bench.answer(Record(inputs, train=False, send=True)),
            port.answer(Record(inputs, train=False, send=False)),
        )
        aligned = with_pieces(align_sides(*self.described, seen, options.rules), seen)
        aligned = align_by_values(port, aligned, seen, inputs) or aligned
        aligned = with_cuts((bench, port), aligned, seen)
        stages.append(parameter_stage(aligned))
        progress("weights")
        tables = table_blames(bench, port, aligned)
        stages.append(self._carried(aligned, tables))
        forward = run_forward(bench, port, aligned, inputs, seen, below=options.module, progress=progress)
        aligned = forward.aligned
        stages.append(forward_result(forward))
        grafts: list[Grafted] = []
        if options.grafts:
            progress("graft")
            grafts = run_grafts((bench, port), aligned, seen, inputs, options.grafts)
        kept = None
        if options.keep_cases:
            kept = keep_cases(port, aligned, forward.evaluated.reference, options.module)
        progress("backward")
        backward = backward_stage(bench, port, aligned, forward, forward.inputs, below=options.module)
        if options.module:
            # The other stages are about the whole.
            stages.append(backward)
            made = Paired(str(bench.entry), str(port.entry), aligned, forward, inputs, stages, kept, grafts=grafts)
            return replace(made, module=options.module)
        progress("initial")
        stages.append(initial_stage(bench, port, aligned, built))
        progress("loss")
        stages.append(loss_stage(bench, port, self.parts, outputs=forward.recordings[0].outputs, seed=options.seed))
        stages.append(backward)
        progress("update")
        stages.append(
            _as_one(
                update_stage(bench, port, aligned, self.parts, seed=options.seed),
                schedule_stage(bench, port, aligned, self.parts),
            )
        )
        progress("curve")
        if options.steps != 0:
            stages.append(self._curve(forward, inputs, stages))
        progress("metrics")
        stages.append(metric_stage(bench, port, self.parts, outputs=forward.recordings[0].outputs, seed=options.seed))
        return Paired(str(bench.entry), str(port.entry), aligned, forward, inputs, stages, kept, grafts=grafts)

    def _curve(self, forward: Forward, inputs: Sequence[Array], stages: Sequence[StageResult]) -> StageResult:
        """The first steps of a training: the user's own, or plain ones on the size that costs less."""
        blames = [blame for stage in stages for blame in stage.blames]
        short = forward.evaluated.shorter
        own = any(map(self.parts.both, ("loss", "optimizer", "batches")))
        # Where training refuses a single sample, the curve needs several too.
        other = sum(map(np.size, forward.inputs)) > sum(map(np.size, inputs)) or not (own or any(map(sized, blames)))
        steps = self.options.steps
        return curve_stage(
            self.bench,
            self.port,
            self.parts,
            forward.inputs if other else inputs,
            steps=steps if steps is not None else _CURVE_STEPS if own else _PLAIN_STEPS,
            seed=self.options.seed,
            explained=any(blame.confirmed and moves_curve(blame) for blame in blames),
            coarser=epsilon(short.port) / epsilon(short.bench) if short is not None and short.whole else 1.0,
        )

    def _check_modules(self) -> None:
        paths = [module.path for module in self.described[1].modules]
        for wanted in (*([self.options.module] if self.options.module else []), *self.options.grafts):
            check_module(self.port.name, wanted, paths)

    def _inputs(self) -> list[Array]:
        given = self.options.inputs
        if given is not None:
            return list(given)
        guessed = guess_inputs(self.described[0], self.options.seed)
        if guessed is None:
            raise SideTrouble("pair_stage.no_input", side=self.bench.name)
        return guessed

    def _give_weights(self, inputs: Sequence[Array]) -> None:
        file = self.options.weights
        if file is not None:
            loaded = self.bench.load(file)
            missing = [name for name in loaded.missing if not name.endswith("num_batches_tracked")]
            if missing:
                raise SideTrouble(
                    "pair_stage.weights_lack", side=self.bench.name, file=str(file), count=len(missing), name=missing[0]
                )
        else:
            move_weights(self.bench, self.described[0], inputs, self.options.seed)

    def _carried(self, aligned: Aligned, blames: Sequence[Blame]) -> StageResult:
        count = carry_over(self.bench, self.port, aligned)
        left = len(aligned.pairs) - count + len(aligned.only_bench) + len(aligned.only_port)
        given = self.options.weights
        text = (
            message("pair_stage.weights_given", count=count, left=left, file=given.name)
            if given is not None
            else message("pair_stage.weights_moved", count=count, left=left)
        )
        verdict = StageVerdict.FOUND if blames else StageVerdict.PASSED
        return StageResult(Stage.WEIGHTS, verdict, text, list(blames))


def _as_one(first: StageResult, second: StageResult) -> StageResult:
    """Two looks at one stage."""
    if second.verdict is StageVerdict.SKIPPED:
        return first
    if first.verdict is StageVerdict.SKIPPED:
        return second
    found = StageVerdict.FOUND in (first.verdict, second.verdict)
    return StageResult(
        first.stage,
        StageVerdict.FOUND if found else StageVerdict.PASSED,
        message("pair_stage.both", first=first.message, second=second.message),
        [*first.blames, *second.blames],
        first.rules_out,
        [*first.blocks, *second.blocks],
    )
