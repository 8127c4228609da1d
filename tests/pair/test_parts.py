"""The file with parts: each side takes its own, and what is wrong with it is one line that names the file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pair.parts_project.asking import Sides, both_sides, parts_of

from trueline.adapters.guest.trouble import SideTrouble
from trueline.model.trouble import BadFile
from trueline.pair.loss.stage import loss_stage
from trueline.pair.sides.parts import load_parts


@pytest.fixture(scope="module")
def sides() -> Iterator[Sides]:
    with both_sides("torch_side:net") as found:
        yield found


def test_each_side_has_its_own_parts_and_those_for_both(sides: Sides, tmp_path: Path) -> None:
    text = """
        def bench_loss(): ...
        def port_metric(): ...
        def batches(): ...
        def helper(x): ...
        epochs = 3
        bench_schedule_per = "epoch"
    """
    parts = parts_of(sides, tmp_path, text)
    assert parts.bench == {"loss", "batches", "epochs", "schedule_per"}
    assert parts.port == {"metric", "batches", "epochs"}
    assert parts.both("batches")
    assert parts.one_only("loss") == "bench"
    assert parts.one_only("epochs") is None
    assert parts.bench_lines["loss"].line == 2


@pytest.mark.parametrize(
    ("text", "id", "says"),
    [
        ("def bench_los(): ...", "pair_parts.near", "bench_loss"),
        ("def benchmark_loss(): ...\nepochs = 1", "pair_parts.near", "bench_loss"),
        ("step_per_epoch = 5", "pair_parts.near", "steps_per_epoch"),
        ("def unrelated(): ...", "pair_parts.none", "loss, metric"),
        ("epochs = 0", "pair_parts.wrong_kind", "int > 0"),
        ("bench_schedule_per = 'month'", "pair_parts.wrong_kind", "'step' | 'epoch'"),
        ("bench_loss = 5", "pair_parts.wrong_kind", "int"),
        ("def bench_loss(one): ...", "pair_parts.arguments", "one"),
        ("def bench_optimizer(): ...", "pair_parts.arguments", "bench_optimizer"),
        ("epochs = 1 / 0", "side.raised_parts", "parts.py:1"),
        ("import no_such_package", "side.no_package", "no_such_package"),
        ("def loss(:", "side.raised_parts", "SyntaxError"),
    ],
)
def test_a_bad_file_is_one_line(sides: Sides, tmp_path: Path, text: str, id: str, says: str) -> None:
    with pytest.raises(SideTrouble) as caught:
        parts_of(sides, tmp_path, text)
    assert caught.value.message.id == id
    assert says in str(caught.value)
    # The file is at fault, and neither side.
    assert str(caught.value).startswith(str(tmp_path / "parts.py"))
    assert "torch_side:net" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("body", "id", "says"),
    [
        ("raise ValueError('no such loss')", "side.raised_loss", "ValueError: no such loss"),
        ("return None", "pair_parts.gives_nothing", "bench_loss"),
        ("return 5", "pair_parts.gives_wrong_kind", "int"),
        ("return lambda output, labels: 'text'", "pair_parts.gives_wrong_kind", "str"),
    ],
)
def test_a_part_that_fails_is_one_line(sides: Sides, tmp_path: Path, body: str, id: str, says: str) -> None:
    parts = parts_of(sides, tmp_path, f"def bench_loss():\n    {body}\ndef port_loss(): return lambda a, b: a.sum()\n")
    with pytest.raises(SideTrouble) as caught:
        loss_stage(*sides, parts)
    assert caught.value.message.id == id
    assert says in str(caught.value)


def test_a_side_that_alone_cannot_import_the_file_is_named(sides: Sides, tmp_path: Path) -> None:
    marked = f"import os\nif {sides[1].pid} in (os.getpid(), os.getppid()):\n    import no_such_package\nepochs = 1\n"
    with pytest.raises(SideTrouble) as caught:
        parts_of(sides, tmp_path, marked)
    assert str(caught.value).startswith(f"torch_side:net: {tmp_path / 'parts.py'}: ")
    assert "no_such_package" in str(caught.value)


def test_a_missing_file_is_named(sides: Sides, tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"absent\.py: No such file"):
        load_parts(*sides, tmp_path / "absent.py")


def test_a_loss_may_be_the_function_itself(sides: Sides, tmp_path: Path) -> None:
    text = """
        from torch.nn import functional
        def bench_loss(output, labels): return functional.cross_entropy(output, labels)
        port_loss = __import__("torch").nn.CrossEntropyLoss()
    """
    assert loss_stage(*sides, parts_of(sides, tmp_path, text)).verdict == "passed"


def test_helpers_with_names_near_a_part_s_are_left_alone(sides: Sides, tmp_path: Path) -> None:
    text = """
        batch = 8
        def transform(x): return x
        def losses(a, b): return a
        def bench_transforms(): return [transform]
    """
    assert parts_of(sides, tmp_path, text).bench == {"transforms"}
