"""Found first by the Python processes below a launcher; hands on to the environment's own sitecustomize."""

import importlib.util
import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path

_HERE = str(Path(__file__).parent)


def _hand_on() -> None:
    spec = PathFinder.find_spec("sitecustomize", [path for path in sys.path if path != _HERE])
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if os.environ.get("TRUELINE_RECORD"):
    try:
        from trueline.record.launchers import attach
    except ImportError as error:
        sys.stderr.write(f"trueline: not recorded: {error}\n")
    else:
        attach()
elif os.environ.get("TRUELINE_OPENED"):
    try:
        from trueline.record.opened.hearing import attach as hear
    except ImportError as error:
        sys.stderr.write(f"trueline: the files opened here are not listed: {error}\n")
    else:
        hear()
_hand_on()
