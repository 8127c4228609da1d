"""The subjects, each imported once; a framework that is not installed is a failure, not a skip."""

from __future__ import annotations

import importlib
from typing import cast

import pytest
from adapters.observing import make_batches
from adapters.subjects.protocol import Subject

SUBJECTS = ("numpy", "torch", "mindspore")


@pytest.fixture(scope="session", params=SUBJECTS)
def subject(request: pytest.FixtureRequest) -> Subject:
    """One framework, used as its users use it, after the steps that may differ between two plain runs."""
    found = cast(Subject, importlib.import_module(f"adapters.subjects.{request.param}_subject").SUBJECT)
    network = found.make_network(9)
    optimizer = found.make_optimizer(network)
    for batch in make_batches(found.traits.quiet_steps):
        found.train_step(network, [optimizer], batch)
    return found
