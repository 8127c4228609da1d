"""A framework is recognised where it is used, and never imported to find out."""

from __future__ import annotations

import os
import subprocess
import sys

from adapters.subjects.protocol import Subject

from trueline.adapters import FRAMEWORKS, adapter_of, adapters_present


def test_looking_for_frameworks_imports_none() -> None:
    code = (
        "import sys; from trueline.adapters import adapters_present; assert adapters_present() == [];"
        "print(sorted({'torch', 'mindspore', 'numpy_toy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=_environment())
    assert done.stdout.strip() == "[]"


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def test_a_framework_that_is_in_use_is_present(subject: Subject) -> None:
    if subject.adapter.name in FRAMEWORKS:
        assert adapter_of(subject.adapter.name) is subject.adapter
        assert subject.adapter in adapters_present()
    else:
        assert subject.adapter not in adapters_present()
