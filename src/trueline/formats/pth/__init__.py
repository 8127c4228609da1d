"""Files of torch.save, read without torch: nothing in them is imported or called."""

from __future__ import annotations

from trueline.formats.pth.reader import read_pth

__all__ = ["read_pth"]
