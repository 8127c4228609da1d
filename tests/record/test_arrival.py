"""A package's import is heard however it comes, and the program that imports it sees nothing of that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from launching import python, script, trueline

from trueline.formats.run_folder.reader import open_run

_PARCEL: Final = """
import os
from parcel import part
SIZE = 3
1 / (not os.environ.get("FAIL"))
"""
_BEGIN: Final = """
import sys, importlib, importlib.util, pickle, threading, types
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from trueline.record.arrival import on_import
told, finders = [], list(sys.meta_path)
stop = on_import(["parcel"], lambda name: told.append(sys.modules[name].SIZE))
"""
_END: Final = """
import parcel
assert parcel.SIZE == 3, parcel
assert parcel.__spec__ == importlib.util.find_spec("parcel")
spec = parcel.__spec__
assert type(spec) is ModuleSpec and type(spec.loader) is SourceFileLoader
assert sorted(vars(spec.loader)) == ["name", "path"]
assert pickle.loads(pickle.dumps(spec)) == spec
assert spec.loader == SourceFileLoader("parcel", parcel.__file__)
importlib.reload(parcel)
print(told)
assert told == [3], told
assert sys.meta_path == finders or "finder" in globals()
"""
_FINDER: Final = """
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return PathFinder.find_spec(name, path) if name.startswith("parcel") else None
sys.meta_path.insert(0, finder := Finder)
import parcel
import colorsys
"""
_WAYS: Final = {
    "plainly": "import parcel.part",
    "by name": "importlib.import_module('parcel')",
    "looked for by a finder": "PathFinder.find_spec('parcel')\n__import__('parcel')",
    "by a finder in front": _FINDER.replace('.startswith("parcel")', ' == "parcel"'),
    "by a finder in front that finds every part": _FINDER,
    "before": "stop()\nimport parcel\nstop = on_import(['parcel'], lambda name: told.append(3))",
    "looked for": """
for _ in range(5):
    specs = importlib.util.find_spec("parcel"), importlib.util.find_spec("parcel")
    assert specs[0] == specs[1]
import parcel
assert specs[0] == parcel.__spec__ and specs[0].loader == parcel.__spec__.loader
""",
    "by hand": """
spec = importlib.util.find_spec("parcel")
sys.modules["parcel"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
""",
    "lazily": """
spec = importlib.util.find_spec("parcel")
spec.loader = importlib.util.LazyLoader(spec.loader)
sys.modules["parcel"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
import colorsys
assert told == []
assert module.SIZE == 3
assert told == [3]
# Its class is kept there, and has no name to be found by.
spec.loader_state = None
""",
    "at the second try": """
import os
os.environ["FAIL"] = "1"
for _ in range(3):
    try:
        import parcel
        raise SystemExit("imported")
    except ZeroDivisionError:
        assert told == []
del os.environ["FAIL"]
import parcel
""",
    "in threads": """
threads = [threading.Thread(target=importlib.import_module, args=["parcel.part"]) for _ in range(8)]
for one in threads:
    one.start()
for one in threads:
    one.join()
""",
    "by no finder": """
spec = PathFinder.find_spec("parcel")
sys.modules["parcel"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
import colorsys
""",
}


def test_every_way_to_import_is_heard_once_and_leaves_nothing_behind(tmp_path: Path) -> None:
    script(
        tmp_path / "parcel",
        _PARCEL,
        "__init__.py",
    )
    script(tmp_path / "parcel", "import wave", "part.py")
    for at, (way, text) in enumerate(_WAYS.items()):
        done = python(script(tmp_path, _BEGIN + text + _END, f"way{at}.py"), cwd=tmp_path)
        assert (done.returncode, done.stdout) == (0, "[3]\n"), (way, done.stderr)


def test_whoever_stops_waiting_is_not_told(tmp_path: Path) -> None:
    script(tmp_path / "parcel", "SIZE = 3", "__init__.py")
    text = _BEGIN + "other = []\non_import(['parcel'], other.append)\nstop()\nimport parcel\nprint(told, other)"
    assert python(script(tmp_path, text), cwd=tmp_path).stdout == "[] ['parcel']\n"


_LATE: Final = """
import importlib.util, json, sys
assert importlib.util.find_spec("torch") and importlib.util.find_spec("mindspore")
assert importlib.util.find_spec("torch")
import torch
net = torch.nn.Linear(2, 2)
for _ in range(3):
    net(torch.ones(1, 2)).sum().backward()
    with torch.no_grad():
        for one in net.parameters():
            one -= 0.1 * one.grad
spec = torch.__spec__
print(json.dumps([type(spec).__name__, type(spec.loader).__name__, sorted(vars(spec.loader)), torch.__file__]))
"""


def test_a_script_that_looks_for_a_framework_before_it_imports_it_is_recorded(tmp_path: Path) -> None:
    name = script(tmp_path, _LATE)
    plain, done = python(name, cwd=tmp_path), trueline("run", "-o", "run", name, cwd=tmp_path)
    assert (done.returncode, json.loads(done.stdout)) == (0, json.loads(plain.stdout)), done.stderr
    assert open_run(tmp_path / "run").rank(0).finished
