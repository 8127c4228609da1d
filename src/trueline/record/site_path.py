"""How Python processes that a run starts come to look for TrueLine before the user's code."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

_SITE = Path(__file__).parent / "site"


def with_site(environment: Mapping[str, str]) -> dict[str, str]:
    """PYTHONPATH with the folder in front that has our ``sitecustomize``."""
    paths = [str(_SITE), *filter(None, [environment.get("PYTHONPATH")])]
    return {"PYTHONPATH": os.pathsep.join(paths)}
