"""Whatever happens to a recording, the training is the same: its numbers, its weights, its files and its exit code."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from launching import IN_ORDER, python, script, trueline

from trueline.formats.run_folder.reader import open_run
from trueline.model.events import NoticeEvent
from trueline.report.run.state import Ending, state_of

_HERE: Final = Path(__file__).parent / "faults"
_ALL: Final = ("--tensors", "--steps", "all", "--inputs", "--weights")
# The part of what is said of it, or the id of a notice in the run.
_FAULTS: Final = {
    "no descriptors": "Too many open files",
    "descriptors": "Too many open files",
    "closed": "closed files that it did not open",
    "recursion": "",
    "full": "no space left",
    "objects": "",
    "deleted": "cannot be written",
    "expanded": "record.expanded",
    "buffers": "",
    "threads": "record.other_thread",
    "memory": "MemoryError",
}
# MindSpore itself needs a descriptor for its first step, and more memory than it says for each.
_TORCH_ONLY: Final = ("no descriptors", "memory")
_BOTH: Final = [one for one in _FAULTS if one not in _TORCH_ONLY]
_FRAMEWORKS: Final = ("torch", "mindspore")
# Every fault in both frameworks, side by side: the first of each two is the part of this table that always runs.
_CASES: Final = [(_FRAMEWORKS[(place + turn) % 2], one) for place, one in enumerate(_BOTH) for turn in range(2)]
_GOES_OFF: Final = ("no descriptors", "descriptors", "closed", "full", "deleted", "memory")


@pytest.mark.parametrize(("framework", "fault"), _CASES)
def test_a_training_is_bitwise_the_same_under_every_fault(tmp_path: Path, framework: str, fault: str) -> None:
    _is_the_same(tmp_path, framework, fault)


@pytest.mark.parametrize("fault", _TORCH_ONLY)
def test_and_under_those_that_mindspore_itself_does_not_survive(tmp_path: Path, fault: str) -> None:
    _is_the_same(tmp_path, "torch", fault)


def _is_the_same(tmp_path: Path, framework: str, fault: str) -> None:
    line = (str(_HERE / "training.py"), fault, framework)
    (tmp_path / "plain").mkdir()
    (tmp_path / "recorded").mkdir()
    plain = python(*line, cwd=tmp_path / "plain", env=IN_ORDER, forked=framework)
    recorded = trueline("run", "-o", "run", *_ALL, *line, cwd=tmp_path / "recorded", env=IN_ORDER, forked=framework)
    assert plain.returncode == 0, plain.stderr
    assert (recorded.returncode, recorded.stdout) == (0, plain.stdout), recorded.stderr
    assert _files(tmp_path / "recorded") == _files(tmp_path / "plain")
    said = recorded.stderr
    if fault not in _GOES_OFF:
        assert "recording is off" not in said
        run = open_run(tmp_path / "recorded/run")
        # In MindSpore the threads train one after the other, and all of them are recorded.
        assert run.rank(0).finished == (24 if (framework, fault) == ("mindspore", "threads") else 6)
        notices = [event.message.id for event in run.rank(0).events(NoticeEvent)]
        if _FAULTS[fault] and framework == "torch":
            assert notices.count(_FAULTS[fault]) == 1
        return
    assert said.count("recording is off") == 1
    assert _FAULTS[fault] in said
    if fault not in ("no descriptors", "deleted"):
        state = state_of(open_run(tmp_path / "recorded/run"))
        assert state.ending is Ending.FINISHED
        assert state.off is not None, "and that it is a part of the run is told where the run is shown"
        assert state.word.id == "runs.in_part"


def _files(folder: Path) -> dict[str, str]:
    return {one.name: one.read_text() for one in folder.iterdir() if one.is_file()}


_ENDINGS: Final = (
    "both streams closed",
    "stdout's descriptor closed with a line in the buffer",
    "both descriptors closed",
    "no stderr, and a last word",
    "stderr closed, and an error",
    "printed after stdout was closed",
)


_VERBS: Final = (("run", "-o", "run"), ("watch",))
_ENDED: Final = [(_VERBS[(place + turn) % 2], one) for place, one in enumerate(_ENDINGS) for turn in range(2)]


@pytest.mark.parametrize(("verb", "ending"), _ENDED)
def test_a_script_without_its_streams_ends_as_it_does_plainly(
    tmp_path: Path, verb: tuple[str, ...], ending: str
) -> None:
    line = (str(_HERE / "ending.py"), ending)
    plain = python(*line, cwd=tmp_path, forked="torch")
    observed = trueline(*verb, *line, cwd=tmp_path, forked="torch")
    assert (observed.returncode, observed.stdout) == (plain.returncode, plain.stdout)
    if verb[0] == "run":
        assert open_run(tmp_path / "run").rank(0).finished == 3


_AUDITED: Final = """
import errno, json, pathlib, sys
import torch
from trueline.cli.script_verb import say
from trueline.formats.run_folder.writer import RankWriter
from trueline.model.descriptor import DescriptorLost
from trueline.record.recorder import Recorder
from trueline.record.recording import Recording
from trueline.record.wanted import Wanted

heard, listening = [], []
FORBIDDEN = ("open", "import", "exec", "compile", "os.listdir", "os.scandir", "subprocess.Popen", "os.mkdir")
sys.addaudithook(lambda event, args: heard.append((event, str(args))) if listening and event in FORBIDDEN else None)

turn_off, finish_step = Recorder.turn_off, RankWriter.finish_step
def listened(self, error):
    listening.append(1)
    try:
        turn_off(self, error)
    finally:
        listening.clear()
Recorder.turn_off = listened

def said(message):
    say(message)
    if type(errors[place]) is KeyError:
        raise OSError("and saying it fails too")

class Odd(Exception):
    def __str__(self):
        raise RuntimeError("has no text")

errors = [OSError(errno.EMFILE, "no descriptors"), OSError(errno.ENOSPC, "full"), FileNotFoundError("gone"),
          DescriptorLost(), MemoryError(), RecursionError(), KeyError("ours"), Odd()]
off = []
for place, error in enumerate(errors):
    def fails(self, step, *args, **kwargs):
        if step == 1:
            raise error
        finish_step(self, step, *args, **kwargs)
    RankWriter.finish_step = fails
    recording = Recording(Wanted(pathlib.Path(f"run-{place}").absolute(), stats=True), said)
    recording.begin()
    net = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for step in range(4):
        optimizer.zero_grad()
        net(torch.ones(1, 2)).sum().backward()
        optimizer.step()
    recording.finish(0)
    off.append(recording.off.id)
print(json.dumps({"heard": heard, "off": off}))
"""


def test_turning_off_opens_and_imports_nothing(tmp_path: Path) -> None:
    done = python(script(tmp_path, _AUDITED), cwd=tmp_path, forked="torch")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["heard"] == []
    reasons = ["unwritable", "disk_full", "unwritable", "descriptor_lost", *["error"] * 4]
    assert found["off"] == [f"record.off_{one}" for one in reasons]
    assert done.stderr.count("recording is off") == len(reasons)
    for place in range(len(reasons)):
        state = state_of(open_run(tmp_path / f"run-{place}"))
        assert (state.ending, state.off is not None) == (Ending.FINISHED, True)


_HELD: Final = """
import atexit, os, resource, sys
import torch

@atexit.register
def imports():
    # As torch's own does; where a folder of modules has changed it is looked through anew, with a descriptor.
    try:
        import no_such_module
    except ImportError:
        print("not there")

weight = torch.zeros(2, requires_grad=True)
optimizer = torch.optim.SGD([weight], 0.1)
imports()
held = []
for step in range(4):
    if step == int(sys.argv[1]):
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        try:
            while True:
                held.append(os.dup(0))
        except OSError:
            pass
    optimizer.zero_grad()
    ((weight - 1) ** 2).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize("at", [0, 2])
def test_without_a_descriptor_the_script_says_the_same_and_the_run_is_told_as_what_it_is(
    tmp_path: Path, at: int
) -> None:
    line = (script(tmp_path, _HELD), str(at))
    plain = python(*line, cwd=tmp_path, forked="torch")
    recorded = trueline("run", "-o", "run", *line, cwd=tmp_path, forked="torch")
    assert (recorded.returncode, recorded.stdout) == (plain.returncode, plain.stdout) == (0, "not there\n" * 2)
    # Torch's own logging has times and numbers of processes in it.
    said, as_ever = (
        [re.sub(r"^W.*?torch/", "", one) for one in done.stderr.splitlines()] for done in (recorded, plain)
    )
    assert [one for one in said if not one.startswith("trueline:")] == as_ever
    state = state_of(open_run(tmp_path / "run"))
    assert (state.ending, state.exit_code) == (Ending.FINISHED, 0)
    assert state.word.id == ("runs.in_part" if at else "runs.nothing")
    assert "Too many open files" in state.word.text("en")


_FORKING: Final = """
import os, sys
import torch
weight = torch.zeros(2, requires_grad=True)
optimizer = torch.optim.SGD([weight], 0.1)
for step in range(4):
    if step == 2:
        child = os.fork()
        if not child:
            sys.exit(3)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    optimizer.zero_grad()
    ((weight - 1) ** 2).sum().backward()
    optimizer.step()
"""


def test_a_fork_of_the_script_ends_without_a_word_and_without_touching_the_run(tmp_path: Path) -> None:
    done = trueline("run", "-o", "run", script(tmp_path, _FORKING), cwd=tmp_path, forked="torch")
    assert (done.returncode, done.stdout) == (0, "3\n"), done.stderr
    assert done.stderr.count("trueline:") == 1
    assert open_run(tmp_path / "run").rank(0).finished == 4


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KB, where one may be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    line = ("mount", "-t", "tmpfs", "-o", "size=64k", "none", str(place))
    if (
        os.geteuid()
        or shutil.which("mount") is None
        or subprocess.run(line, capture_output=True, check=False).returncode
    ):
        pytest.skip("nothing may be mounted here")
    try:
        yield place
    finally:
        subprocess.run(("umount", "-l", str(place)), check=True)


_LONG: Final = _FORKING.replace("range(4)", "range(400)").replace("step == 2", "False") + "print(weight.tolist())"


def test_a_disk_that_is_really_full_ends_the_recording_and_not_the_training(tmp_path: Path, small_disk: Path) -> None:
    name = script(tmp_path, _LONG)
    plain = python(name, cwd=tmp_path, forked="torch")
    recorded = trueline("run", "-o", "disk/run", name, cwd=tmp_path, forked="torch")
    assert (recorded.returncode, recorded.stdout) == (0, plain.stdout), recorded.stderr
    assert recorded.stderr.count("no space left") == 1
    run = open_run(small_disk / "run")
    assert 0 < run.rank(0).finished < 400
    assert state_of(run).word.id == "runs.in_part"
