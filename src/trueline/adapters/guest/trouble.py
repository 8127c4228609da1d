"""Errors of a user's model."""

from __future__ import annotations

from trueline.model.trouble import Trouble


class SideTrouble(Trouble):
    """Names the side and the failure; ``output`` is the tail of its process's output."""

    output: str = ""
