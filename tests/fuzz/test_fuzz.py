"""A fixed small share of ``make fuzz``, and that it would see what it looks for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_RUN = Path(__file__).with_name("run.py")
_PROBES = {
    "pass": "accepted",
    "from trueline.model.trouble import BadFile; raise BadFile('a', 'b')": "refused",
    "raise ValueError": "error",
    "eval('1 + 1')": "broken",
    "import os; os.system('true')": "broken",
    "open('/etc/hostname')": "broken",
    "open('../x', 'w')": "broken",
    "import importlib; importlib.import_module('this')": "broken",
    "import pickle; pickle.loads(b'cposix\\nsystem\\n.')": "broken",
    "import socket; socket.socket()": "broken",
    "import torch": "broken",
    "bytes(b'a') * (1 << 28)": "memory",
    "bytearray(1 << 31)": "memory",
    "while True: pass": "slow",
    "print('a\\x1b[31mb')": "control",
}
_PROBE = """
import sys
sys.path.insert(0, {tests!r})
from fuzz.case import Target
from fuzz.judging import Judge
from fuzz.worker import scratch

code = None
target = Target("probe", lambda folder: None, lambda folder, whole: code(), lambda name: {{}})
judge = Judge(target, scratch())
judge.limit_memory()
for text in {probes!r}:
    made = {{}}
    exec("def code():\\n    " + text, made)
    code = made["code"]
    print(judge.execute({{"a": b"x"}}, whole=False).ending)
"""


def _output(line: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=250, env=environment)


def test_a_few_damaged_files_of_every_format_are_read_or_refused() -> None:
    done = _output([sys.executable, str(_RUN), "--all", "--share", "--executions", "40", "--seed", "20"])
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "0 findings" in done.stdout


def test_what_no_reader_does_is_a_finding() -> None:
    tests = str(Path(__file__).resolve().parents[1])
    done = _output([sys.executable, "-c", _PROBE.format(tests=tests, probes=list(_PROBES))])
    assert dict(zip(_PROBES, done.stdout.split(), strict=False)) == _PROBES, done.stdout + done.stderr[-2000:]
