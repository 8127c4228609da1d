"""Shapes across layouts: which are the same tensor written in another way."""

from __future__ import annotations

from trueline.compare.align.result import Layout

Shape = tuple[int, ...]


def squeezed(shape: Shape) -> Shape:
    """The shape without its sides of length 1."""
    return tuple(side for side in shape if side != 1)


def untransposed(shape: Shape) -> Shape:
    """The shape without its sides of length 1, and the same for a matrix and its transpose."""
    short = squeezed(shape)
    return (min(short), max(short)) if len(short) == 2 else short


def layout(a: Shape | None, b: Shape | None) -> Layout | None:
    """How a lies in b; None where the shapes contradict. An unknown shape contradicts nothing."""
    if a is None or b is None or a == b:
        return Layout.SAME
    if squeezed(a) == squeezed(b):
        return Layout.SQUEEZED
    if len(a) == len(b) == 2 and a == b[::-1]:
        return Layout.TRANSPOSED
    return None
