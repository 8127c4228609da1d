"""Recorded statistics as tables: one tensor over the steps, or the tensors of one step."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from fnmatch import translate

from trueline.formats.run_folder.reader import RankFolder
from trueline.kernel import UnsupportedDtype, summarise
from trueline.model.curve import Curve
from trueline.model.key import Key
from trueline.model.message import message
from trueline.model.report import Block, Curves, Table
from trueline.model.summary import Summary

MAX_PLOTTED = 4  # curves in one plot


def matching(keys: Iterable[Key], pattern: str) -> list[Key]:
    """The keys that a pattern with * and ? fits, as a whole or anywhere in them."""
    whole = re.compile(translate(pattern))
    somewhere = re.compile(translate(f"*{pattern}*"))
    names = [(key, str(key)) for key in keys]
    exact = [key for key, name in names if whole.match(name)]
    return exact or [key for key, name in names if somewhere.match(name)]


def summaries_of_step(folder: RankFolder, step: int) -> dict[Key, Summary]:
    """One step's numbers: as recorded, else computed where whole tensors were kept."""
    found = folder.stats(step)
    for key, array in folder.tensors(step).items():
        if key not in found:
            with suppress(UnsupportedDtype):
                found[key] = summarise(array)
    return found


def size_curves(folder: RankFolder, keys: Sequence[Key]) -> list[Curve]:
    """The mean absolute value of each tensor over the steps."""
    curves = []
    for key in keys:
        history = folder.history(key)
        curves.append(Curve(str(key), history["step"].tolist(), history["abs_mean"].tolist()))
    return curves


def history_blocks(folder: RankFolder, keys: Sequence[Key]) -> list[Block]:
    """The size of tensors over the steps: a plot of a few, a row for each."""
    curves = size_curves(folder, keys)
    blocks: list[Block] = []
    if 0 < len(curves) <= MAX_PLOTTED:
        blocks.append(Curves(message("show.sizes"), curves))
    rows: list[list[object]] = []
    marked = set()
    for key, curve in zip(keys, curves, strict=True):
        history = folder.history(key)
        broken = history["nan"] + history["pos_inf"] + history["neg_inf"]
        if broken.any():
            marked.add(len(rows))
        ends = [curve.values[0], curve.values[-1]] if len(curve) else [None, None]
        rows.append([key, curve, *ends, len(curve), int((broken > 0).sum())])
    columns = [
        message("show.tensor"),
        message("show.course"),
        message("show.first"),
        message("show.last"),
        message("show.steps"),
        message("show.non_finite_steps"),
    ]
    return [*blocks, Table(message("show.sizes"), columns, rows, frozenset(marked))]


def step_blocks(step: int, stats: Mapping[Key, Summary]) -> list[Block]:
    """The tensors of one step in the order they were computed."""
    if not stats:
        return []
    columns = [
        message("show.tensor"),
        message("show.minimum"),
        message("show.maximum"),
        message("show.mean"),
        message("show.std"),
        message("show.zeros"),
        message("show.non_finite"),
    ]
    rows = [
        [
            key,
            summary.minimum,
            summary.maximum,
            summary.mean,
            summary.std,
            f"{summary.zero_share:.0%}",
            summary.non_finite,
        ]
        for key, summary in stats.items()
    ]
    marked = frozenset(place for place, summary in enumerate(stats.values()) if summary.non_finite)
    return [Table(message("show.tensors_of_step", step=step), columns, rows, marked)]
