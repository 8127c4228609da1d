"""Every test of the kernel runs with the native code and with its twin."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from trueline.kernel import backend, native

# Where there is no native code there is nothing to run; test_native_build says whether that is right.
BACKENDS = {"twin": backend.TWIN, **({"native": backend.NATIVE} if native.is_loaded() else {})}


@pytest.fixture(params=BACKENDS, autouse=True)
def kernel_backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """The backend of this run of the test."""
    before = backend.current()
    backend.use(BACKENDS[request.param])
    yield request.param
    backend.use(before)
