"""Which APIs of the frameworks a source uses, and on what: one pass over a file."""

from trueline.script.uses.reader import uses_of
from trueline.script.uses.use import Argument, Call, Use, UseKind

__all__ = ["Argument", "Call", "Use", "UseKind", "uses_of"]
