"""The frameworks that a process uses, detected through ``sys.modules``."""

from __future__ import annotations

import importlib
import sys
from functools import cache
from typing import cast

from trueline.adapters.protocol import Adapter

FRAMEWORKS = ("torch", "mindspore")


@cache
def adapter_of(framework: str) -> Adapter:
    """The adapter of a framework; imports the framework, so call it only where that is in use."""
    return cast(Adapter, importlib.import_module(f"trueline.adapters.{framework}").ADAPTER)


def adapters_present() -> list[Adapter]:
    """The adapters of the frameworks that this process has already imported."""
    return [adapter_of(name) for name in FRAMEWORKS if name in sys.modules]
