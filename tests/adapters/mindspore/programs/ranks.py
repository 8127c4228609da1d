"""Writes this rank's number as seen before and after the process group is there; msrun starts it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import mindspore as ms
from mindspore import communication

from trueline.adapters.registry import adapter_of

state = adapter_of("mindspore").state
before = state.rank()
if os.environ.get("MS_ROLE") != "MS_SCHED":
    ms.set_device("CPU")
communication.init()
found = {"role": os.environ.get("MS_ROLE"), "before": before, "after": state.rank()}
(Path(sys.argv[1]) / f"{os.getpid()}.json").write_text(json.dumps(found), "utf-8")
