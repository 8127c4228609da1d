"""Holds the model, and answers questions about it."""

from __future__ import annotations

import gc
import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from trueline.adapters.guest.definitions.loaded import told
from trueline.adapters.guest.importing import Asked
from trueline.adapters.guest.wire import Content
from trueline.adapters.nouns import Network
from trueline.adapters.protocol import Adapter
from trueline.kernel.array import Array
from trueline.pair.child.building import build
from trueline.pair.child.templates import GivenOut, Template
from trueline.pair.questions.blocks import CustomBackwards, GradientsBetween, MeasureSlopes, WatchOperators
from trueline.pair.questions.corrected import RunCorrected
from trueline.pair.questions.described import Describe, Load
from trueline.pair.questions.forced import Force
from trueline.pair.questions.live import RunLive
from trueline.pair.questions.model import (
    AssignedAt,
    BuiltWeights,
    Compiler,
    DrawWeights,
    Forward,
    GetWeights,
    Operators,
    PutWeights,
    RunCompiled,
    Settle,
    Trace,
)
from trueline.pair.questions.module_run import RunModule
from trueline.pair.questions.parts import GiveBatches, LoadParts, Loss, Metric, Optimize, Schedule, Train, Transform
from trueline.pair.questions.question import pack, unpack
from trueline.pair.questions.recording import Record

# What a function of the user's file with parts is, or gives: a loss, a metric, a dataset, a schedule.
UserObject: TypeAlias = Any

# The file beside this one, and the function in it, that answers a question: imported when asked.
_ANSWERED_IN: Final[Mapping[type[object], str]] = {
    Describe: "describing.describe",
    Load: "loading.load",
    Forward: "running.run_forward",
    Operators: "running.operators",
    GetWeights: "weights.get_weights",
    PutWeights: "weights.put_weights",
    Settle: "settling.settle",
    Record: "recording.record",
    Trace: "tracing.trace",
    Force: "forcing.force",
    RunLive: "live.run_live",
    RunModule: "module_run.run_module",
    AssignedAt: "assigned.assigned_at",
    RunCorrected: "corrected.run_corrected",
    WatchOperators: "op_level.watch_operators",
    GradientsBetween: "block_gradients.gradients_between",
    MeasureSlopes: "finite_differences.measure_slopes",
    CustomBackwards: "finite_differences.custom_backwards",
    BuiltWeights: "initial_weights.built_weights",
    DrawWeights: "initial_weights.draw_weights",
    LoadParts: "parts.load_parts",
    Loss: "losses.compute_losses",
    Optimize: "optimizing.optimize",
    Schedule: "optimizing.scheduled_rates",
    Train: "curves.train",
    GiveBatches: "samples.give_batches",
    Transform: "samples.transform",
    Metric: "metrics.compute_metrics",
    Compiler: "compiled.compiler",
    RunCompiled: "compiled.run_compiled",
}
_QUESTIONS: Final = {question.__name__: question for question in _ANSWERED_IN}


@dataclass(frozen=True, slots=True)
class Part:
    """One part of this side: the name it was found under in the user's file, and what stands there."""

    name: str
    found_as: str
    value: UserObject


class Host:
    """The model of this process, once it is built, and what one question leaves for a later one.

    ``parts`` are what the user's file has for this side, by name, and ``made`` the objects that they gave. Of the last
    recording: ``templates`` say how each module's call was made, ``taken`` in which shapes, ``outputs`` how what it
    gave was put together, ``recorded`` are the arrays. Of the last forced run: ``own_inputs`` are what calls
    take that the benchmark's do not, by place.
    """

    def __init__(self) -> None:
        self.side = ""
        self.model: Network = None
        self.asked: Asked | None = None
        self.by_factory = False
        self.parts: Mapping[str, Part] = {}
        self.made: dict[str, UserObject] = {}
        self.templates: Mapping[tuple[str, int], Template] = {}
        self.taken: Mapping[tuple[str, int], Sequence[tuple[int, ...]]] = {}
        self.outputs: dict[str, GivenOut] = {}
        self.recorded: list[Array] = []
        self.own_inputs: dict[tuple[str, int], dict[int, Array]] = {}
        self._adapter: Adapter | None = None

    @property
    def adapter(self) -> Adapter:
        """The adapter of the model's framework."""
        assert self._adapter is not None
        return self._adapter

    def answer(self, content: Content, arrays: list[Array]) -> tuple[Content, list[Array]]:
        """Answer the question that ``do`` names."""
        if content["do"] == "build":
            return self._build(content)
        kind = _QUESTIONS[content["do"]]
        module, _, function = _ANSWERED_IN[kind].partition(".")
        room = importlib.import_module(f"trueline.pair.child.{module}")
        packed, given = pack(getattr(room, function)(self, unpack(kind, content["question"], arrays)))
        return {"answer": packed}, given

    def _build(self, content: Content) -> tuple[Content, list[Array]]:
        self.side = content["side"]
        self.asked = Asked.arrived(content)
        made = build(self.asked)
        self.model, self._adapter, self.by_factory = made.model, made.adapter, made.by_factory
        self._adapter.steady.work_in_order()
        # What is there now stays; looking through all of a framework for garbage again and again costs a tenth of all.
        gc.freeze()
        return {"left_out": told()}, []
