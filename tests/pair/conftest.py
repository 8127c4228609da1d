"""Sides that are started once for all stages that ask them, as ``pair`` itself does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import pytest
import warm
from pair import gradient_sides, optimizer_parts
from pair.parts_project import asking

from trueline.pair.sides.side import Side

# How processes begin and end is their matter: theirs are started as they are for users.
STARTED = {"test_pair_entry", "test_pair_failures", "test_pair_models"}


@pytest.fixture(scope="module", autouse=True)
def forked_sides(request: pytest.FixtureRequest) -> None:
    """Sides begin with their framework imported."""
    if request.path.stem not in STARTED:
        request.getfixturevalue("warm_guests")


@pytest.fixture(scope="session")
def trained_sides() -> Iterator[optimizer_parts.Sides]:
    """The network of ``update_project`` in both frameworks, aligned, with the same weights."""
    with ExitStack() as stack:
        # Only while they are started: others of this session may want to start their own.
        with warm.guests():
            found = stack.enter_context(optimizer_parts.both_sides())
        yield found


@pytest.fixture(scope="session")
def part_sides() -> Iterator[asking.Sides]:
    """The network of ``parts_project`` in both frameworks."""
    with ExitStack() as stack:
        with warm.guests():
            found = stack.enter_context(asking.both_sides())
        yield found


@pytest.fixture(scope="session")
def gradient_side() -> Iterator[Callable[[str], Side]]:
    """The sides of ``gradient_project`` by their entries."""
    with ExitStack() as stack:

        @cache
        def started(entry: str) -> Side:
            with warm.guests():
                return stack.enter_context(gradient_sides.side(entry)).ready()

        yield started
