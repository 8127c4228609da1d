"""Hostile files by format: every module of this folder has its CASES."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path

from .case import Case

# What tests make of hostile files is used here, too.
sys.path.append(str(Path(__file__).resolve().parents[2]))


def cases() -> list[Case]:
    """All of them, module by module."""
    names = sorted(one.name for one in pkgutil.iter_modules(__path__))
    return [case for name in names for case in getattr(importlib.import_module(f"{__name__}.{name}"), "CASES", ())]
