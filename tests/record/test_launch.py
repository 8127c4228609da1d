"""A script under ``trueline run`` finds the world as it is under ``python``."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from launching import python, script, trueline

from trueline.formats.run_folder.reader import open_run

WORLD = """
import json, sys
def annotated(number: int) -> float: ...
before = [name for name in ("numpy", "torch", "mindspore") if name in sys.modules]
print(json.dumps({
    "argv": sys.argv, "name": __name__, "file": __file__, "path0": sys.path[0],
    "spec": __spec__ and __spec__.name, "package": __package__, "before": before,
    "main": sys.modules["__main__"].__dict__ is globals(),
    "annotations": str(annotated.__annotations__), "flags": annotated.__code__.co_flags,
}))
"""


def test_argv_paths_and_main_are_pythons_own_and_nothing_heavy_is_imported_before(tmp_path: Path) -> None:
    name = script(tmp_path, WORLD)
    options = ("a", "--steps", "3", "-o", "x")
    plain = json.loads(python(name, *options, cwd=tmp_path).stdout)
    recorded = json.loads(trueline("run", "-o", "run", name, *options, cwd=tmp_path).stdout)
    assert recorded == plain
    assert recorded["before"] == []
    assert recorded["main"]


def test_a_module_runs_as_with_python_m(tmp_path: Path) -> None:
    script(tmp_path / "package", "", "__init__.py")
    script(tmp_path / "package", WORLD, "__main__.py")
    plain = json.loads(python("-m", "package", "a", cwd=tmp_path).stdout)
    recorded = json.loads(trueline("run", "-o", "run", "-m", "package", "a", cwd=tmp_path).stdout)
    assert recorded == plain


TEED = """
import sys, torch
class Tee:
    def __init__(self, name):
        self.stream, self.file = sys.stdout, open(name, "a")
    def write(self, text):
        self.stream.write(text)
        self.file.write(text)
    def flush(self):
        self.file.flush()
sys.stdout, sys.stderr = Tee("out.txt"), Tee("err.txt")
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for scale in (1.0, float(sys.argv[1])):
    optimizer.zero_grad()
    (net(torch.ones(3, 2)).mean() * scale).backward()
    optimizer.step()
print("over", file=sys.stderr)
"""


@pytest.mark.parametrize("scale", ["1", "nan"])
def test_what_is_said_goes_to_stderr_and_not_where_the_script_has_turned_it(tmp_path: Path, scale: str) -> None:
    name = script(tmp_path, TEED)
    for line in (("run", "-o", "run"), ("watch", "--no-replay")):
        done = trueline(*line, name, scale, cwd=tmp_path, forked="torch")
        assert done.stderr
        # A watched script is stopped where it goes wrong.
        assert {*done.stdout.split(), *(tmp_path / "err.txt").read_text().split()} == {"over"}


def test_exit_codes_and_tracebacks_are_the_scripts_own(tmp_path: Path) -> None:
    for ending, code in (("import sys; sys.exit(7)", 7), ("raise SystemExit('enough')", 1), ("1 / 0", 1)):
        name = script(tmp_path, ending)
        plain = python(name, cwd=tmp_path)
        recorded = trueline("run", "--quiet", "-o", "run", name, cwd=tmp_path)
        assert (recorded.returncode, plain.returncode) == (code, code)
        assert (
            recorded.stderr.splitlines()[:20]
            == plain.stderr.splitlines() + recorded.stderr.splitlines()[len(plain.stderr.splitlines()) : 20]
        )


def test_bad_input_is_one_line_and_exit_code_2_and_nothing_is_written(tmp_path: Path) -> None:
    good = script(tmp_path, "print('ran')")
    (tmp_path / "folder").mkdir()
    (tmp_path / "begun" / "rank-00000").mkdir(parents=True)
    (tmp_path / "dangling").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    cases = [
        ("run", "missing.py"),
        ("run", "folder"),
        ("run", "-m", "no_such_module_anywhere"),
        ("run", "--steps", "x", good),
        ("run", "--no-such-option", good),
        ("run", "-o", good, good),
        ("run", "-o", "begun", good),
        ("watch", "-o", "begun", good),
        ("run", "-o", "dangling", good),
        ("run", "-o", "pipe", good),
        ("run", "-o", "long" * 80, good),
        ("watch", "-o", "long" * 80, good),
        ("run", "--json", "long" * 80, good),
        ("run", "--json", f"{good}/answer.json", good),
        ("repro", "--json", "nowhere/answer.json", good),
        ("repro", "--keep", "long" * 80, good),
        ("run",),
    ]
    for case in cases:
        done = trueline(*case, cwd=tmp_path)
        assert done.returncode == 2, (case, done)
        assert done.stdout == ""
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert sorted(one.name for one in tmp_path.iterdir()) == ["begun", "dangling", "folder", "pipe", good]


SMALL = """
import os, torch, helper
print("from the script", helper.WIDTH)
os.system("echo from a child")
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A script of two files that only loads a framework: where it was recorded into ``run``, and how that ended."""
    folder = tmp_path_factory.mktemp("small")
    script(folder, "WIDTH = 4", "helper.py")
    return folder, trueline("run", "-o", "run", "--json", "-", script(folder, SMALL), cwd=folder)


def test_a_folder_with_a_run_in_it_is_never_written_over(
    small: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    folder, recorded = small
    assert recorded.returncode == 0
    before = (folder / "run" / "run.json").read_bytes()
    done = trueline("run", "-o", "run", "train.py", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert (folder / "run" / "run.json").read_bytes() == before


TRAIN = """
import os, random, sys
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

if "--seed" in sys.argv:
    torch.manual_seed(0); np.random.seed(0); random.seed(0)

class Noisy(torch.utils.data.Dataset):
    def __len__(self):
        return 48
    def __getitem__(self, at):
        image = torch.full((1, 8, 8), float(at)) / 48 + torch.randn(1, 8, 8) * np.random.rand() * random.random()
        return image, at % 10

net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(0.3), nn.Flatten(), nn.Linear(144, 10))
class Descent:
    # Half of a process's time is the import of what torch's own optimizers need.
    def zero_grad(self):
        net.zero_grad()
    @torch.no_grad()
    def step(self):
        for one in net.parameters():
            one -= 0.01 * one.grad

optimizer = torch.optim.Adam(net.parameters(), 1e-2) if "--adam" in sys.argv else Descent()
order = list({str(one) for one in range(20)})
if __name__ == "__main__":
    for epoch in range(2):
        for x, y in torch.utils.data.DataLoader(Noisy(), 8, shuffle=True, num_workers=2):
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            print(repr(loss.item()), order[0] if "--seed" not in sys.argv else "", flush=True)
            if "--slowly" in sys.argv:
                import time; time.sleep(0.05)
"""


def trained(folder: Path, *options: str) -> str:
    """What the seeded training prints under ``python``."""
    done = python(script(folder, TRAIN), "--seed", *options, cwd=folder, forked="torch")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 12
    return done.stdout


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> str:
    return trained(tmp_path_factory.mktemp("plain"))


def test_losses_are_bitwise_equal_with_and_without_recording(tmp_path: Path) -> None:
    plain = trained(tmp_path, "--adam")
    everything = ("--stats", "--inputs", "--grads", "--weights", "--tensors")
    for options, forked in (((), None), (everything, "torch")):
        line = ("run", "-o", f"run{len(options)}", *options, "train.py", "--seed", "--adam")
        recorded = trueline(*line, cwd=tmp_path, forked=forked)
        assert recorded.stdout == plain
        rank = open_run(tmp_path / f"run{len(options)}").rank(0)
        assert [float(line) for line in plain.split()] == list(rank.curve("loss").values)


def test_deterministic_fixes_everything_down_to_the_hash_order(tmp_path: Path) -> None:
    name = script(tmp_path, TRAIN)
    runs = [trueline("run", "--deterministic", "5", "-o", f"r{at}", name, cwd=tmp_path).stdout for at in range(2)]
    assert runs[0] == runs[1]
    assert len(runs[0].splitlines()) == 12
    info = open_run(tmp_path / "r0").info
    assert info.seeds["torch"] == 5
    assert info.flags["PYTHONHASHSEED"] == "5"
    assert info.flags["deterministic_algorithms"] is True


def test_json_has_stdout_to_itself_and_the_scripts_output_goes_to_stderr(
    small: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    _, done = small
    found = json.loads(done.stdout)
    assert (found["schema"], found["verb"], found["exit"], found["script_exit"]) == ("trueline/1", "run", 0, 0)
    assert "from the script 4" in done.stderr
    assert "from a child" in done.stderr


def test_json_on_stdout_leaves_what_is_already_in_the_file(tmp_path: Path) -> None:
    name = script(tmp_path, "print('from the script')")
    command = f"echo before; {sys.executable} -m trueline run --quiet -o run --json - {name} 2>/dev/null; echo after"
    subprocess.run(f"({command}) > out.txt", shell=True, cwd=tmp_path, check=True)
    lines = (tmp_path / "out.txt").read_text().splitlines()
    assert (lines[0], lines[-1]) == ("before", "after")
    assert json.loads("\n".join(lines[1:-1]))["verb"] == "run"


def test_a_script_that_changes_its_folder_is_recorded_where_it_was_started(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    change = "import os\nos.chdir('elsewhere')\n"
    name = script(tmp_path, change + TRAIN + "    print(os.listdir('.'))\n")
    done = trueline("run", "-o", "run", name, cwd=tmp_path, forked="torch")
    assert done.stdout.splitlines()[-1] == "[]"
    assert open_run(tmp_path / "run").rank(0).finished == 12


def test_ctrl_c_ends_the_script_as_always_and_leaves_a_finished_run(tmp_path: Path) -> None:
    name = script(tmp_path, TRAIN)
    command = [sys.executable, "-m", "trueline", "run", "-o", "run", name, "--slowly"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for _ in range(4):
        process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "KeyboardInterrupt" in errors
    run = open_run(tmp_path / "run")
    assert run.info.ended is not None
    assert run.rank(0).finished >= 3


def test_a_killed_training_opens_up_to_its_last_finished_step(tmp_path: Path) -> None:
    name = script(tmp_path, TRAIN)
    command = [sys.executable, "-m", "trueline", "run", "--stats", "-o", "run", name, "--slowly"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(5)]
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    time.sleep(0.2)
    rank = open_run(tmp_path / "run").rank(0)
    assert rank.finished >= 4
    assert list(rank.curve("loss").values)[:4] == [float(line.split()[0]) for line in lines[:4]]
    assert rank.stats(3)


def test_a_full_disk_turns_recording_off_with_one_warning_and_training_goes_on(tmp_path: Path, plain: str) -> None:
    limited = "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    limited += "resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))\n"
    name = script(tmp_path, limited + TRAIN)
    recorded = trueline("run", "--stats", "--tensors", "-o", "run", name, "--seed", cwd=tmp_path, forked="torch")
    assert (recorded.returncode, recorded.stdout) == (0, plain)
    assert recorded.stderr.count("recording is off") == 1
    open_run(tmp_path / "run")


def test_an_unwritable_folder_turns_recording_off_with_one_warning_and_training_goes_on(
    tmp_path: Path, plain: str
) -> None:
    name = script(tmp_path, TRAIN)
    script(tmp_path, "", "file")
    recorded = trueline("run", "-o", "file/run", name, "--seed", cwd=tmp_path, forked="torch")
    assert (recorded.returncode, recorded.stdout) == (0, plain)
    assert recorded.stderr.count("recording is off") == 1


def test_an_error_inside_the_recorder_never_reaches_the_training(tmp_path: Path, plain: str) -> None:
    broken = "import trueline.record.data_observer as observer\n"
    broken += "def broken(*args, **more): raise RuntimeError('planted')\nobserver.describe_batch = broken\n"
    name = script(tmp_path, "import torch\n" + broken + TRAIN)
    recorded = trueline("run", "-o", "run", name, "--seed", cwd=tmp_path, forked="torch")
    assert (recorded.returncode, recorded.stdout) == (0, plain)
    assert recorded.stderr.count("recording is off") == 1
    assert "planted" in recorded.stderr
    assert "nothing was recorded" in recorded.stderr


def test_sources_go_into_the_run_unless_left_out(small: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, _ = small
    trueline("run", "-o", "without", "--no-source", "train.py", cwd=folder, forked="torch")
    run = open_run(folder / "run")
    assert run.source(run.info.sources["helper.py"]) == ["WIDTH = 4"]
    assert "train.py" in run.info.sources
    assert not open_run(folder / "without").info.sources
