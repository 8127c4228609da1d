"""Every example of ``rewrites.toml`` gives the same in both frameworks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mindspore
import numpy
import pytest
import torch

from trueline.apitable.pairs import Machine, Table
from trueline.migrate.rewrite.draft import rewrite
from trueline.migrate.rewrite.templates import rows
from trueline.script.project import open_project

_CASES = [(name, example) for name, row in rows().items() for example in row.examples]
_SHAPES = {"x": (2, 3, 4), "y": (2, 3, 4), "m": (2, 4, 3), "img": (2, 3, 8, 8)}
_HEAD = "import torch\nimport torch.nn.functional as F\n\n\n"


def _arrays() -> dict[str, Any]:
    draw = numpy.random.default_rng(3)
    found: dict[str, Any] = {name: draw.standard_normal(shape).astype("float32") for name, shape in _SHAPES.items()}
    found["i"] = draw.integers(0, 3, (2, 3))
    found["b"] = found["y"] > 0
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    if isinstance(value, torch.Tensor):
        return value.detach().numpy()
    return value.asnumpy() if isinstance(value, mindspore.Tensor) else value


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any], str]:
    """All examples as functions of one file: torch's, and those of its draft."""
    parameters = ", ".join(f"{name}: torch.Tensor" for name in (*_SHAPES, "i", "b"))
    text = _HEAD + "\n\n".join(
        f"def case_{place}({parameters}, n: int = 2):\n    return {example}\n"
        for place, (_, example) in enumerate(_CASES)
    )
    path = Path(tmp_path_factory.mktemp("rows")) / "examples.py"
    path.write_text(text)
    (draft,) = rewrite(open_project([path]), table=Table(Machine(), {}))
    bench: dict[str, Any] = {}
    port: dict[str, Any] = {}
    exec(compile(text, "examples.py", "exec"), bench)
    exec(compile(draft.text, "draft.py", "exec"), port)
    return bench, port, draft.text


@pytest.mark.parametrize("place", range(len(_CASES)), ids=[f"{name}: {example}" for name, example in _CASES])
def test_an_example_gives_the_same_in_both(place: int, functions: Any) -> None:
    bench, port, _ = functions
    arrays = _arrays()
    ours = _plain(bench[f"case_{place}"](**{name: torch.from_numpy(one) for name, one in arrays.items()}))
    theirs = _plain(port[f"case_{place}"](**{name: mindspore.Tensor(one) for name, one in arrays.items()}))
    for one, other in zip(ours, theirs, strict=True) if isinstance(ours, list) else [(ours, theirs)]:
        # MindSpore's indexes may be int32 where torch's are int64.
        assert numpy.asarray(one).dtype.kind == numpy.asarray(other).dtype.kind
        numpy.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-5)


def test_no_example_is_left(functions: Any) -> None:
    assert "# TrueLine:" not in functions[2]
