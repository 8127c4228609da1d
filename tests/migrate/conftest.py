"""The networks are importable as a user's modules are, and run on one thread."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "networks"))


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Networks this small only wait for each other's threads."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
