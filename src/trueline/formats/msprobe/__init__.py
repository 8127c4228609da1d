"""Dump folders of msprobe (mindstudio-probe), of PyTorch and of MindSpore."""

from trueline.formats.msprobe.places import looks_like_msprobe
from trueline.formats.msprobe.reader import read_msprobe

__all__ = ["looks_like_msprobe", "read_msprobe"]
