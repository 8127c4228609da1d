"""Loss curves out of what trainers print or write: text, CSV, JSON lines."""

from trueline.formats.log.choice import loss_of
from trueline.formats.log.read import read_log
from trueline.formats.log.stream import looks_like_log

__all__ = ["looks_like_log", "loss_of", "read_log"]
