"""``trueline.pair(...)``: the stages from Python."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from trueline.adapters.guest.entry import Entry
from trueline.compare.align import Rules
from trueline.kernel.array import Array
from trueline.model.json_value import Json
from trueline.pair.pairing import Options, Paired, Wish, pair_sides
from trueline.pair.sides.inputs import make_inputs, parse_input

Path_ = str | os.PathLike[str]


def pair(
    bench: str,
    port: str,
    input: str | Sequence[str | Array] | None = None,
    *,
    args: Sequence[Json] = (),
    kwargs: Mapping[str, Json] | None = None,
    bench_kwargs: Mapping[str, Json] | None = None,
    port_kwargs: Mapping[str, Json] | None = None,
    bench_python: Path_ | None = None,
    port_python: Path_ | None = None,
    parts: Path_ | None = None,
    weights: Path_ | None = None,
    module: str = "",
    graft: Sequence[str] = (),
    map: Path_ | None = None,
    seed: int = 0,
    steps: int | None = None,
    folder: Path_ | None = None,
    timeout: float | None = None,
) -> Paired:
    """Put two networks side by side, stage by stage; ``bench`` and ``port`` are ``module:factory``.

    ``input`` is one shape (``"2x3x224x224"``), several, or arrays; ``graft`` names modules of the port whose output
    the benchmark's takes the place of. Raises a Trouble with one clear sentence.
    """
    wishes = [
        Wish(Entry.parse(one), args, {**(kwargs or {}), **(own or {})}, os.fspath(python or sys.executable))
        for one, own, python in ((bench, bench_kwargs, bench_python), (port, port_kwargs, port_python))
    ]
    options = Options(
        _arrays(input, seed),
        Path(weights) if weights is not None else None,
        Path(parts) if parts is not None else None,
        module,
        seed,
        steps,
        Rules.read(Path(map)) if map is not None else None,
        Path(folder) if folder is not None else None,
        timeout,
        grafts=[graft] if isinstance(graft, str) else list(graft),
    )
    return pair_sides(wishes[0], wishes[1], options)


def _arrays(given: str | Sequence[str | Array] | None, seed: int) -> list[Array] | None:
    if given is None:
        return None
    listed = [given] if isinstance(given, str) else list(given)
    made = iter(make_inputs([parse_input(one) for one in listed if isinstance(one, str)], seed))
    return [next(made) if isinstance(array, str) else np.asarray(array) for array in listed]
