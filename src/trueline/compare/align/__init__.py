"""Which tensor here is which tensor there, why, how sure, and what is left over on both sides."""

from trueline.compare.align.aligning import align, align_keys
from trueline.compare.align.matching import less_sure
from trueline.compare.align.result import Alignment, Item, Layout, Leftover, Pair, Reason, Structure
from trueline.compare.align.rules import Rules

__all__ = [
    "Alignment",
    "Item",
    "Layout",
    "Leftover",
    "Pair",
    "Reason",
    "Rules",
    "Structure",
    "align",
    "align_keys",
    "less_sure",
]
