"""Processes that frameworks and Python start for themselves: none of them trains."""

from __future__ import annotations

import re
from typing import Final

_LOADING: Final = ("torch.utils.data.", "mindspore.dataset.")
# Compilers of kernels, and what multiprocessing keeps beside a script; a server's forks are the script's.
_HELPERS: Final = (
    re.compile(r"/(site|dist)-packages/torch/_inductor/"),
    re.compile(r"/(site|dist)-packages/mindspore/_(extends|akg)/"),
    re.compile(r"from multiprocessing\.(resource_tracker|forkserver) import main"),
)
_SERVER: Final = "from multiprocessing.forkserver import main"


def works_for(process: object, modules: tuple[str, ...]) -> bool:
    """Whether a process of multiprocessing that is about to start has its task from one of these modules."""
    return str(getattr(getattr(process, "_target", None), "__module__", "")).startswith(modules)


def loads_data(process: object) -> bool:
    """Whether it only reads data for the script."""
    return works_for(process, _LOADING)


def is_helper(command: str, parent: str) -> bool:
    """Whether a command line is one of theirs, with the command line of the process that started it."""
    if _SERVER in command and _SERVER in parent:
        return False
    return any(pattern.search(command) for pattern in _HELPERS)
