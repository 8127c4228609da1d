"""Inputs for a model: as a user writes them, or guessed from its first layer."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from trueline.kernel.array import Array
from trueline.model.run import ModuleInfo
from trueline.model.trouble import BadUsage
from trueline.pair.questions.described import Described

# A larger input is a slip of the pen, and no machine holds it.
_MAX_ELEMENTS: Final = 1 << 31
_SIZES: Final = re.compile(r"[1-9]\d{0,9}(x[1-9]\d{0,9}){0,7}")
_RANGE: Final = re.compile(r"(-?\d+(?:\.\d+)?)-(-?\d+(?:\.\d+)?)")
_FLOATS: Final = ("float16", "float32", "float64")
_WHOLE: Final = ("int8", "uint8", "int16", "int32", "int64", "bool")
_BATCH: Final = 2
_SIDE: Final = 64
_STEPS: Final = 16


@dataclass(frozen=True, slots=True)
class Input:
    """One input: its shape, its type, and from where to below where its values lie."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    low: float | None = None
    high: float | None = None

    def array(self, random: np.random.Generator) -> Array:
        """Values: floats around 0 with a spread of 1 where no range is given, whole numbers 0 and 1."""
        if self.dtype in _FLOATS:
            if self.low is None or self.high is None:
                return random.standard_normal(self.shape).astype(self.dtype)
            return random.uniform(self.low, self.high, self.shape).astype(self.dtype)
        low, high = (0, 2) if self.low is None or self.high is None else (int(self.low), int(self.high))
        return random.integers(low, high, self.shape).astype(self.dtype)


def parse_input(text: str) -> Input:
    """Read ``2x3x224x224``, ``2x16:int64`` or ``2x16:int64:0-1000`` (from 0 to 999); a BadUsage says what is wrong."""
    sizes, *more = text.strip().split(":")
    if _SIZES.fullmatch(sizes) is None or len(more) > 2:
        raise BadUsage("side.bad_input", text=text)
    shape = tuple(int(side) for side in sizes.split("x"))
    if math.prod(shape) > _MAX_ELEMENTS:
        raise BadUsage("side.large_input", text=text)
    dtype = more[0] if more else "float32"
    if dtype not in (*_FLOATS, *_WHOLE):
        raise BadUsage("side.bad_input_type", text=text, dtype=dtype, types=", ".join((*_FLOATS, *_WHOLE)))
    if len(more) < 2:
        return Input(shape, dtype)
    match = _RANGE.fullmatch(more[1])
    low, high = (float(match[1]), float(match[2])) if match is not None else (0.0, 0.0)
    whole = dtype in _WHOLE
    if not low < high or (whole and not _holds(dtype, low, high)):
        raise BadUsage("side.bad_input_range", text=text, range=more[1])
    return Input(shape, dtype, low, high)


def _holds(dtype: str, low: float, high: float) -> bool:
    if not (low.is_integer() and high.is_integer()):
        return False
    if dtype == "bool":
        return low >= 0 and high <= 2
    info = np.iinfo(dtype)
    return info.min <= low and high - 1 <= info.max


def make_inputs(inputs: Sequence[Input], seed: int = 0) -> list[Array]:
    """The same arrays for the same seed, for both sides."""
    random = np.random.default_rng(seed)
    return [input.array(random) for input in inputs]


def guess_inputs(described: Described, seed: int = 0) -> list[Array] | None:
    """Inputs that the model's first layer takes; None where nothing good can be guessed and a user must say."""
    if described.takes is not None and len(described.takes) != 1:
        return None
    holders = {path for inner in described.modules for path in _above(inner.path)}
    for module in described.modules:
        if module.path in holders and module.type not in _GUESSES:
            continue
        if module.type in _GUESSES:
            found = _GUESSES[module.type](module)
            return make_inputs([found], seed) if found is not None else None
        if any(True for _ in described.own(module)):
            return None
    return None


def _above(path: str) -> list[str]:
    """The paths of the modules that hold one of this path."""
    parts = path.split(".") if path else []
    return [".".join(parts[:count]) for count in range(len(parts))]


def _size(module: ModuleInfo, *names: str) -> int | None:
    for name in names:
        found = module.attributes.get(name)
        if isinstance(found, int) and not isinstance(found, bool) and 0 < found <= _MAX_ELEMENTS:
            return found
    return None


def _image(dimensions: int) -> Any:
    # Fewer to a side where there are more sides.
    sides = (_SIDE,) * dimensions if dimensions < 3 else (_STEPS,) * dimensions

    def guess(module: ModuleInfo) -> Input | None:
        channels = _size(module, "in_channels")
        return Input((_BATCH, channels, *sides)) if channels else None

    return guess


def _features(module: ModuleInfo) -> Input | None:
    count = _size(module, "in_features", "in_channels")
    return Input((_BATCH, count)) if count else None


def _tokens(module: ModuleInfo) -> Input | None:
    count = _size(module, "num_embeddings", "vocab_size")
    return Input((_BATCH, _STEPS), "int64", 0, count) if count else None


def _sequence(module: ModuleInfo) -> Input | None:
    size = _size(module, "input_size")
    first = bool(module.attributes.get("batch_first"))
    return Input((_BATCH, _STEPS, size) if first else (_STEPS, _BATCH, size)) if size else None


_GUESSES: Final[dict[str, Any]] = {
    **dict.fromkeys(("Conv1d", "ConvTranspose1d", "Conv1dTranspose"), _image(1)),
    **dict.fromkeys(("Conv2d", "ConvTranspose2d", "Conv2dTranspose"), _image(2)),
    **dict.fromkeys(("Conv3d", "ConvTranspose3d", "Conv3dTranspose"), _image(3)),
    **dict.fromkeys(("Linear", "Dense"), _features),
    "Embedding": _tokens,
    **dict.fromkeys(("LSTM", "GRU", "RNN"), _sequence),
}
