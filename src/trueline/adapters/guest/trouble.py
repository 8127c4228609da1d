"""What went wrong with a user's model."""

from __future__ import annotations

from trueline.model.trouble import Trouble


class SideTrouble(Trouble):
    """Names the side and what happened there; ``output`` is the end of what its process had written by then."""

    output: str = ""
