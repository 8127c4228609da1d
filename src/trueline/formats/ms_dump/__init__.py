"""The folders of MindSpore's own dump."""

from trueline.formats.ms_dump.nodes import read_ms_nodes
from trueline.formats.ms_dump.reader import looks_like_ms_dump, read_ms_dump

__all__ = ["looks_like_ms_dump", "read_ms_dump", "read_ms_nodes"]
