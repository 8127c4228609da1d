"""What a recording is to keep, as asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from trueline.model.json_value import Json
from trueline.model.steps import Steps
from trueline.model.trouble import BadUsage
from trueline.record.keeping.keep import Keep

FIRST_STEPS = "0,1"


def chosen_steps(text: str | None, *, tensors: bool) -> Steps:
    """The steps a user asked for, or where nothing was said all of them, of full tensors the first two."""
    if text is None:
        text = FIRST_STEPS if tensors else "all"
    try:
        return Steps.parse(text)
    except ValueError as error:
        raise BadUsage("record.bad_steps", steps=text) from error


@dataclass(frozen=True, slots=True)
class Wanted:
    """Where a run is recorded to and what of it, beyond the default.

    ``stats`` and ``tensors`` speak of module outputs, with ``inputs`` of inputs too, with ``grads`` of
    gradients (of parameters as the optimizer gets them, and of module outputs), with ``weights`` of parameters
    and buffers after the step. ``steps`` and ``modules`` narrow all of these. So many ``batches`` of training and of
    evaluation are kept whole.
    """

    folder: Path
    stats: bool = False
    tensors: bool = False
    inputs: bool = False
    grads: bool = False
    weights: bool = False
    steps: Steps = field(default_factory=Steps.every)
    modules: tuple[str, ...] = ()
    source: bool = True
    graph_dump: bool = False
    seed: int | None = None
    keep: Keep = field(default_factory=Keep)
    manifest: bool = False
    data_roots: tuple[str, ...] = ()
    batches: int = 0

    @property
    def deep(self) -> bool:
        """Whether anything beyond the default is wanted."""
        return self.stats or self.tensors

    def captures(self, step: int) -> bool:
        """Whether tensors of this step are wanted."""
        return self.deep and step in self.steps

    def module(self, path: str) -> bool:
        """Whether a module's tensors are wanted."""
        return not self.modules or any(fnmatchcase(path, pattern) for pattern in self.modules)

    def to_json(self) -> dict[str, Json]:
        """What run.json says was recorded."""
        return {
            "stats": self.stats,
            "tensors": self.tensors,
            "inputs": self.inputs,
            "grads": self.grads,
            "weights": self.weights,
            "steps": [list(part) for part in self.steps.parts] if self.deep else [],
            "modules": list(self.modules),
            "graph_dump": self.graph_dump,
            "seed": self.seed,
            "keep_state": self.keep.to_json(),
            "manifest": self.manifest,
            "batches": self.batches,
        }
