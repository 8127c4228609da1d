"""``trueline repro`` on real scripts: the verdict, and the free source with its line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import warm
from docs.json_schema import faults
from launching import script, trueline

SCHEMA: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parent.parent.parent / "docs" / "schema" / "trueline-1.schema.json").read_text("utf-8")
)

TORCH = """
import random, time
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset
BEFORE
x = torch.linspace(-1, 1, 96).reshape(24, 4)
data = TensorDataset(x, x.sum(1, keepdim=True))
loader = DataLoader(data, 4)
rate = 0.01
DATA
net = nn.Sequential(
    nn.Linear(4, 8),  # first
    nn.Tanh(),
)
NET
net.append(nn.Linear(8, 1))
WEIGHTS
class Descent:
    # Half of a process's time is the import of what torch's own optimizers need.
    def zero_grad(self):
        net.zero_grad()
    @torch.no_grad()
    def step(self):
        for one in net.parameters():
            one -= rate * one.grad
optimizer = OPTIMIZER
for inputs, wanted in loader:
    optimizer.zero_grad()
    loss = ((net(inputs) - wanted) ** 2).mean()
    loss.backward()
    optimizer.step()
"""
MINDSPORE = """
import numpy as np
import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn
BEFORE
x = np.linspace(-1, 1, 96, dtype=np.float32).reshape(24, 4)
data = ds.NumpySlicesDataset((x, x.sum(1, keepdims=True)), ["x", "y"], shuffle=False)
DATA
data = data.batch(4)
layers = [
    nn.Dense(4, 8),  # first
    nn.Tanh(),
]
NET
net = nn.SequentialCell(*layers, nn.Dense(8, 1)).set_train()
optimizer = nn.SGD(net.trainable_params(), 0.01)
step = ms.value_and_grad(lambda x, y: ((net(x) - y) ** 2).mean(), None, optimizer.parameters)
for inputs, wanted in data.create_tuple_iterator():
    loss, gradients = step(inputs, wanted)
    optimizer(gradients)
"""
SGD = "torch.optim.SGD(net.parameters(), rate)"
SEEDED = "random.seed(1); np.random.seed(1); torch.manual_seed(1)"
LOADED = "for one in net.parameters(): nn.init.constant_(one, 0.1)"
NOISY = """
class Noisy(Dataset):
    def __len__(self):
        return 24
    def __getitem__(self, at):
        return x[at] + float(DRAWN), x[at].sum(0, keepdim=True)
loader = DataLoader(Noisy(), 4, num_workers=WORKERS)
"""
NUMPY = NOISY.replace("DRAWN", "np.random.rand()").replace("keepdim=True)\n", "keepdim=True)  # free\n")
CLASSES = """
places = {}
for name in set("cat dog horse ship truck plane frog bird deer car".split()):  # free
    places[name] = len(places)
x = x + places["cat"] + 10 * places["ship"]
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), 4)
"""
SOURCE = """
class Source:
    def __len__(self):
        return 24
    def __getitem__(self, at):
        return x[at] + np.float32(np.random.rand()), x[at].sum(keepdims=True)
data = ds.GeneratorDataset(Source(), ["x", "y"], shuffle=True, num_parallel_workers=2)
"""


@dataclass(frozen=True)
class Case:
    """A script, and what is to be said of it; its free line is marked."""

    name: str
    text: str
    reproducible: str
    sources: tuple[str, ...]
    phase: str | None


def torch_case(name: str, said: str, sources: tuple[str, ...], phase: str | None, **parts: str) -> Case:
    text, usual = TORCH, {"BEFORE": SEEDED, "DATA": "", "NET": "", "WEIGHTS": "", "OPTIMIZER": "Descent()"}
    for part, filled in {**usual, **parts}.items():
        text = text.replace(part, filled)
    return Case(name, text, said, sources, phase)


def mindspore_case(name: str, said: str, sources: tuple[str, ...], phase: str | None, **parts: str) -> Case:
    text = MINDSPORE
    for part, filled in {"BEFORE": "ms.set_seed(1)", "DATA": "", "NET": "", **parts}.items():
        text = text.replace(part, filled)
    return Case(name, text, said, sources, phase)


CASES = [
    torch_case(
        "dropout alone", "when_fixed", ("dropout",), "forward",
        BEFORE="", NET="net.append(nn.Dropout(0.5))  # free", WEIGHTS=LOADED,
    ),
    torch_case(
        "shuffle alone", "when_fixed", ("shuffle",), "data",
        BEFORE="", DATA="loader = DataLoader(data, 4, shuffle=True)  # free", WEIGHTS=LOADED,
    ),
    torch_case(
        "augmentation by numpy", "when_fixed", ("augmentation",), "data",
        BEFORE="torch.manual_seed(1)", DATA=NUMPY.replace("WORKERS", "0"),
    ),
    mindspore_case(
        "shuffle in mindspore", "when_fixed", ("shuffle",), "data",
        BEFORE="np.random.seed(1)", DATA="data = data.shuffle(24)  # free",
    ),
    torch_case("initial weights", "when_fixed", ("initial_weights",), "weights", BEFORE="", OPTIMIZER=SGD),
    torch_case(
        "a worker's numpy", "when_fixed", ("worker_seeds",), "data",
        BEFORE="", DATA=NUMPY.replace("WORKERS", "2"), WEIGHTS=LOADED,
    ),
    torch_case("order of a set", "when_fixed", ("set_order",), "data", DATA=CLASSES),
    mindspore_case(
        "dropout in mindspore", "when_fixed", ("dropout",), "forward",
        BEFORE="np.random.seed(1)", NET="layers.append(nn.Dropout(p=0.5))  # free",
    ),
    mindspore_case(
        "nothing seeded in mindspore", "when_fixed", ("dropout", "shuffle", "worker_seeds", "initial_weights"),
        "weights", BEFORE="", DATA=SOURCE, NET="layers.append(nn.Dropout(p=0.5))  # free",
    ),
    torch_case(
        "a seed from the time", "when_fixed", ("time_seed",), "weights",
        BEFORE="torch.manual_seed(time.time_ns() % 2**31)  # free",
    ),
    torch_case(
        "a generator without a seed", "when_fixed", ("unseeded_generator",), "data",
        DATA="own = np.random.default_rng()  # free\n"
        + NOISY.replace("DRAWN", "own.random()").replace("WORKERS", "0"),
    ),
    torch_case(
        "a random rate", "when_fixed", ("hyper_parameters",), "update",
        BEFORE="torch.manual_seed(1)", DATA="rate = random.uniform(0.01, 0.1)  # free", OPTIMIZER=SGD,
    ),
    torch_case(
        "the clock", "when_fixed", ("clock",), "data",
        DATA=NUMPY.replace("np.random.rand()", "time.perf_counter()").replace("WORKERS", "0"),
    ),
    # The fourth run, with another hash seed, parts sooner than the others: by the clock all the same.
    torch_case(
        "a clock that is no hash", "when_fixed", ("clock",), "data",
        DATA="""
with open("count", "a") as file:
    file.write("x")
x[0 if len(open("count").read()) == 4 else 8] += time.time_ns() % 1000  # free
""",
    ),
    torch_case(
        "nothing seeded", "when_fixed", ("dropout", "shuffle", "initial_weights"), "weights",
        BEFORE="", DATA="loader = DataLoader(data, 4, shuffle=True)", NET="net.append(nn.Dropout(0.5))  # free",
    ),
    torch_case(
        "a functional dropout", "when_fixed", ("dropout",), "forward", BEFORE="", WEIGHTS=LOADED
        + """
class Drops(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = net[:2], net[2]
    def forward(self, given):
        given = self.first(given)
        given = torch.nn.functional.dropout(given, 0.5, self.training)  # free
        return self.last(given)
net = Drops()
""",
    ),
    mindspore_case(
        "generators in threads", "when_fixed", ("unseeded_generator",), "data",
        DATA="""
def noisy(one):
    return one + np.random.default_rng().random(4, np.float32)  # free
data = data.map(noisy, ["x"], num_parallel_workers=2)
""",
    ),
    mindspore_case(
        "all seeded in mindspore", "as_it_is", (), None,
        DATA="data = data.shuffle(24)", NET="layers.append(nn.Dropout(p=0.5))",
    ),
    torch_case("all seeded", "as_it_is", (), None, NET="net.append(nn.Dropout(0.5))", OPTIMIZER=SGD),
    torch_case(
        "never the same", "no", ("unknown",), "data",
        DATA="x = x + sum(map(int, open('/proc/self/schedstat').read().split())) % 99991\n"
        "loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), 4)",
    ),
]  # fmt: skip


def marked(text: str) -> int | None:
    return next((at for at, line in enumerate(text.splitlines(), 1) if line.endswith("# free")), None)


def repro(folder: Path, text: str, *options: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    script(folder, text)
    line = ("repro", "--steps", "3", "--runs", "2", "--json", "-", *options, "train.py")
    done = trueline(
        *line, cwd=folder, env={warm.ANY_HASH: "1"}, forked="torch" if "import torch" in text else "mindspore"
    )
    answer = json.loads(done.stdout) if done.stdout else {}
    assert not answer or list(faults(answer, SCHEMA, SCHEMA)) == []
    assert not answer or answer["exit"] == done.returncode
    return done, answer


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_the_free_source_is_named_with_its_line(case: Case, tmp_path: Path) -> None:
    done, answer = repro(tmp_path, case.text)
    assert done.returncode == (0 if case.reproducible == "as_it_is" else 1), done.stderr
    assert answer["reproducible"] == case.reproducible
    assert tuple(one["source"] for one in answer["free"]) == case.sources
    assert (answer["parts_at"] or {}).get("phase") == case.phase
    if marked(case.text) is not None:
        assert (answer["free"][0]["file"], answer["free"][0]["line"]) == ("train.py", marked(case.text))
    if "initial_weights" in case.sources:
        first = next(at for at, line in enumerate(case.text.splitlines(), 1) if line.endswith("# first"))
        assert answer["free"][-1]["line"] == first
    assert answer["problem"] is None
    assert "run 2 of 2" in done.stderr


@pytest.mark.parametrize(
    ("loss", "kind"), [("/ (inputs[0, 0] < 0.1)", "non_finite"), ("/ [1][int(inputs[0, 0] > 0.1)]", "crash")]
)
def test_a_problem_that_always_comes_at_the_same_step_and_a_report_for_people(
    loss: str, kind: str, tmp_path: Path
) -> None:
    script(tmp_path, torch_case("", "", (), None, OPTIMIZER=SGD).text.replace(".mean()", f".mean() {loss}"))
    kept = ("--steps", "6", "--runs", "2", "--keep", "kept", "--json", "answer.json")
    done = trueline(
        "repro", *kept, "train.py", cwd=tmp_path, env={"TRUELINE_LANG": "en", warm.ANY_HASH: "1"}, forked="torch"
    )
    answer = json.loads((tmp_path / "answer.json").read_text("utf-8"))
    assert list(faults(answer, SCHEMA, SCHEMA)) == []
    assert (done.returncode, answer["reproducible"], answer["parts_at"]) == (0, "as_it_is", None)
    assert answer["problem"] == {"kind": kind, "occurs": "always", "steps": [4, 4]}
    assert "Reproducible as it is: 2 runs of" in done.stdout
    assert "always at step 4" in " ".join(done.stdout.split())
    assert trueline("show", "kept/run-2", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("missing.py",), "missing.py"),
        (("--runs", "1", "train.py"), "--runs"),
        (("--keep", ".", "train.py"), "--keep"),
        (("--json", "no/such/folder.json", "train.py"), "--json"),
        ((str(Path(sys.executable).with_name("torchrun")), "train.py"), "one process"),
        (("train.py",), "no training step was seen: the script ended with code 0: nothing to do"),
    ],
)
def test_what_cannot_be_meant_is_one_clear_line(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    script(tmp_path, "print('nothing to do')")
    done = trueline("repro", "--quiet", *arguments, cwd=tmp_path, env={"TRUELINE_LANG": "en"})
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_script_that_neither_trains_nor_says_anything_is_a_whole_sentence(tmp_path: Path) -> None:
    script(tmp_path, "")
    done = trueline("repro", "--quiet", "train.py", cwd=tmp_path, env={"TRUELINE_LANG": "en"})
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.strip().endswith("ended with code 0 and has said nothing")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interruption_leaves_nothing_behind(number: signal.Signals, code: int, tmp_path: Path) -> None:
    script(tmp_path, "import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(600)")
    (tmp_path / "temporary").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    command = [sys.executable, "-m", "trueline", "repro", "train.py"]
    running = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL)
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert running.poll() is None
        time.sleep(0.05)
    running.send_signal(number)
    assert running.wait(60) == code
    assert list((tmp_path / "temporary").iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
