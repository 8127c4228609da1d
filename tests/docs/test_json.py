"""What the verbs print with --json is what the schema and its page say."""

from __future__ import annotations

import copy
import json
import subprocess
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warm
from cli.calling import call, environment
from docs.json_schema import faults
from replay.replaying import HAS_STARTED

from trueline.cli.verbs import every_verb
from trueline.compare.align import Layout, Reason
from trueline.compare.floors import Basis
from trueline.compare.stages import Stage, State
from trueline.compare.verdict import Verdict
from trueline.model.events import EventName
from trueline.model.finding import Certainty, Conclusion, Finding
from trueline.model.key import Kind
from trueline.model.location import Location
from trueline.model.message import Message
from trueline.model.result import SCHEMA, Exit, Result

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
THE_SCHEMA: dict[str, Any] = json.loads((DOCS / "schema" / "trueline-1.schema.json").read_text("utf-8"))
PAGE = (DOCS / "json.md").read_text("utf-8")
DUMPS = Path(__file__).resolve().parent.parent / "formats" / "msprobe"
TRAIN = """
import torch
net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
data = torch.utils.data.TensorDataset(torch.randn(12, 4), torch.randint(0, 2, (12,)))
for step, (x, y) in enumerate(torch.utils.data.DataLoader(data, 4)):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(x), y) * (float("nan") if step == 2 else 1.0)
    loss.backward()
    optimizer.step()
net.eval()
with torch.no_grad():
    net(x)
print("the script's own output")
"""


def trueline(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return warm.python("torch", cwd, "-m", "trueline", *arguments, env=environment(**warm.restarted(3), **HAS_STARTED))


def answered(*arguments: str, cwd: Path) -> dict[str, Any]:
    """What a verb prints that needs no process of its own; its exit code is the answer's."""
    with chdir(cwd):
        ended = call(*arguments, "--json")
    answer: dict[str, Any] = json.loads(ended.stdout)
    assert ended.exit_code == answer["exit"], ended.stderr
    return answer


def wrong_with(answer: dict[str, Any]) -> list[str]:
    return list(faults(answer, THE_SCHEMA, THE_SCHEMA))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A folder with a real run in ``runs/one``, and the answer of the ``run`` that made it."""
    folder = tmp_path_factory.mktemp("json")
    (folder / "train.py").write_text(TRAIN, "utf-8")
    kept = ("--tensors", "--grads", "--weights", "--deterministic", "3", "--keep-state", "2")
    done = trueline("run", "-o", "runs/one", *kept, "--json", "-", "train.py", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


def test_run(recorded: tuple[Path, dict[str, Any]]) -> None:
    _, answer = recorded
    assert wrong_with(answer) == []
    assert (answer["steps"], answer["script_exit"], answer["random"]["seed"]) == (3, 0, 3)


def test_run_of_a_script_that_fails(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch, sys\nsys.exit(5)", "utf-8")
    done = trueline("run", "-o", "run", "--json", "answer.json", "train.py", cwd=tmp_path)
    answer = json.loads((tmp_path / "answer.json").read_text("utf-8"))
    assert wrong_with(answer) == []
    assert (done.returncode, answer["script_exit"]) == (5, 5)


def test_runs_with_one_that_cannot_be_read(recorded: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = recorded
    broken = folder / "runs" / "two" / "rank-00000"
    broken.mkdir(parents=True, exist_ok=True)
    (broken.parent / "run.json").write_text("{", "utf-8")
    answer = answered("runs", cwd=folder)
    assert wrong_with(answer) == []
    assert {one["name"]: one["state"] for one in answer["runs"]} == {"one": "finished", "two": "unreadable"}


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        ((), {"training", "modules", "strange", "first_step"}),
        (("--step", "1"), {"stats", "events"}),
        (("--key", "*#0/out/*"), {"history"}),
        (("--step", "1", "--key", "grad"), {"stats", "events"}),
        (("--events",), {"events"}),
    ],
)
def test_show(recorded: tuple[Path, dict[str, Any]], options: tuple[str, ...], fields: set[str]) -> None:
    folder, _ = recorded
    answer = answered("show", "runs/one", *options, cwd=folder)
    assert wrong_with(answer) == []
    assert fields <= answer.keys()
    for name in fields:
        assert answer[name], name


@pytest.fixture(scope="module")
def compared(recorded: tuple[Path, dict[str, Any]]) -> Path:
    """Two of every kind: the recorded run and one of other weights, arrays, weights, logs and dumps."""
    folder, _ = recorded
    other = TRAIN.replace("import torch", "import torch\ntorch.manual_seed(4)", 1)
    (folder / "other.py").write_text(other, "utf-8")
    done = trueline("run", "-o", "runs/other", "--tensors", "--grads", "--weights", "other.py", cwd=folder)
    assert done.returncode == 0, done.stderr
    for side, factor in (("a", 1.01), ("b", 1.0)):
        (folder / side).mkdir()
        weight = np.linspace(-1, 1, 24, dtype=np.float32).reshape(4, 6)
        arrays = {"fc.weight": weight * np.float32(factor), f"fc.{side}.extra": weight}
        for name, array in arrays.items():
            np.save(folder / side / f"{name}.npy", array)
        np.savez(folder / f"{side}.npz", **arrays)
        losses = [2.301939, 2.105926, 1.928877 * factor]
        log = "".join(f"step {step} loss {loss:.6f}\n" for step, loss in enumerate(losses))
        (folder / f"{side}.log").write_text(log, "utf-8")
    return folder


@pytest.mark.parametrize(
    ("a", "b", "kind", "stopped"),
    [
        ("runs/one", "runs/other", "run", "data"),
        ("runs/one", "runs/one", "run", "curve"),
        ("a", "b", "arrays", "tensors"),
        ("a.npz", "b.npz", "weights", "tensors"),
        ("b.npz", "b.npz", "weights", None),
        ("a.log", "b.log", "curves", "curve"),
        (DUMPS / "mindspore_tensor_L0", DUMPS / "torch_tensor_L0", "dump", "tensors"),
        (DUMPS / "mindspore_statistics_L0", DUMPS / "torch_statistics_mix", "dump", "tensors"),
    ],
)
def test_compare(compared: Path, a: str | Path, b: str | Path, kind: str, stopped: str | None) -> None:
    answer = answered("compare", str(a), str(b), cwd=compared)
    assert wrong_with(answer) == []
    assert (answer["kind"], answer["stopped_at"]) == (kind, stopped)
    assert answer["exit"] == (0 if stopped is None else 1)
    named = set(THE_SCHEMA["$defs"]["compared_tensors"]["properties"]) | set(
        THE_SCHEMA["$defs"]["distance"]["required"]
    )
    assert all(row.keys() <= named for row in answer.get("tensors", []))


def test_a_finding() -> None:
    found = Finding(
        "cmp.03", Conclusion.FOUND, Message("conclusion.found"), where=Location(step=3), measured=float("inf")
    )
    follows = Finding("cmp.05", Conclusion.SUSPECT, Message("conclusion.na"), Certainty.LIKELY, because="cmp.03")
    answer = Result("none yet", Message("conclusion.found"), Exit.PROBLEM, [found, follows]).to_json("en")
    assert wrong_with(json.loads(json.dumps(answer))) == []


def places(schema: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(schema, dict):
        for name, one in schema.items():
            if name == "required":
                yield at
            yield from places(one, (*at, name))


def test_an_answer_that_lacks_any_required_field_is_refused(recorded: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = recorded
    answer = answered("show", "runs/one", cwd=folder)
    for name in (*THE_SCHEMA["required"], *THE_SCHEMA["$defs"]["show_overview"]["required"]):
        lacking = copy.deepcopy(answer)
        del lacking[name]
        assert wrong_with(lacking), name
    for field, value in (("exit", 7), ("steps", "3"), ("state", "asleep"), ("schema", "trueline/2"), ("rank", True)):
        assert wrong_with({**answer, field: value}), field


def test_every_required_field_is_described() -> None:
    for at in places(THE_SCHEMA):
        part: Any = THE_SCHEMA
        for name in at:
            part = part[name]
        assert set(part["required"]) <= part["properties"].keys(), at


def test_the_schema_speaks_of_the_contract_as_the_code_has_it() -> None:
    defined = THE_SCHEMA["$defs"]
    assert THE_SCHEMA["properties"]["schema"]["const"] == SCHEMA
    assert set(defined["event"]["properties"]["event"]["enum"]) == {one.value for one in EventName}
    assert set(defined["finding"]["properties"]["conclusion"]["enum"]) == {one.value for one in Conclusion}
    assert set(defined["finding"]["properties"]["certainty"]["enum"]) == {one.value for one in Certainty}
    assert all(f"{kind.value}" in defined["key"]["pattern"] for kind in Kind)
    for part, words in (("verdict", Verdict), ("basis", Basis)):
        assert {one for one in defined[part]["enum"] if one is not None} == {one.value for one in words}
    stages = defined["compare_runs"]["properties"]["procedure"]["items"]["properties"]
    assert stages["stage"]["enum"] == [one.value for one in Stage]
    assert set(stages["state"]["enum"]) == {one.value for one in State}
    assert {*stages["stage"]["enum"], "tensors", None} == set(defined["compare"]["properties"]["stopped_at"]["enum"])
    assert set(defined["compared_tensors"]["properties"]["reason"]["enum"]) == {one.value for one in Reason}
    assert set(defined["compared_tensors"]["properties"]["layout"]["enum"]) == {one.value for one in Layout}
    finding = Finding("cmp.01", Conclusion.NONE, Message("conclusion.none")).to_json("en")
    assert set(defined["finding"]["required"]) == finding.keys()


def test_every_field_and_event_of_the_schema_is_on_the_page() -> None:
    named: set[str] = {one.value for one in EventName}
    for part in ("finding", "where", "run", "summary"):
        named |= THE_SCHEMA["$defs"][part]["properties"].keys()
    for part in ("show_overview", "show_part"):
        named |= THE_SCHEMA["$defs"][part]["properties"].keys()
    for part in (
        "compare",
        "compare_runs",
        "compare_arrays",
        "compared_loss",
        "compared_tensors",
        "distance",
        "leftover",
    ):
        named |= THE_SCHEMA["$defs"][part]["properties"].keys()
    named |= THE_SCHEMA["$defs"]["runs"]["properties"]["runs"]["items"]["properties"].keys()
    assert {name for name in named if f"`{name}`" not in PAGE} == set()


def test_replay(recorded: tuple[Path, dict[str, Any]]) -> None:
    done = trueline("replay", "runs/one", "--watch", "--json", "-", cwd=recorded[0])
    answer = json.loads(done.stdout)
    assert wrong_with(answer) == []
    assert (answer["from"], answer["step"], answer["bitwise"], answer["first"]["step"]) == (1, 2, True, 2)


def test_every_verb_with_json_has_its_part_of_the_schema() -> None:
    speaking = {
        name for name, command in every_verb().items() if any("--json" in param.opts for param in command.params)
    }
    described = {part["if"]["properties"]["verb"]["const"] for part in THE_SCHEMA["allOf"]}
    assert speaking == described
