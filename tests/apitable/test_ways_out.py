"""Every way out names what there is, is said in both languages, and its composition gives what PyTorch gives."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator

import pytest

from trueline.apitable.ways_out import WayKind, way_out, ways_out
from trueline.script.canonical import canonical

NOT_INSTALLED = ("torchvision.", "torchaudio.", "torchtext.")
CHECKED = sorted(name for name, way in ways_out().items() if way.check)
# Attributes of objects only.
ON_OBJECTS = frozenset(("torch.nn.Module.training", "mindspore.nn.Cell.training"))


def exists(name: str) -> bool:
    """Whether a framework has a name."""
    parts = name.split(".")
    for at in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:at]))
        except ImportError:
            continue
        for part in parts[at:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def test_there_are_many() -> None:
    assert len(ways_out()) >= 80


def test_names_are_those_of_the_installed_frameworks() -> None:
    names = {name.removesuffix(".*") for name in ways_out()} | {way.to for way in ways_out().values() if way.to}
    known = {name for name in names if not name.startswith(NOT_INSTALLED)} - ON_OBJECTS
    assert [name for name in sorted(known) if not exists(name)] == []


def test_rows_are_under_the_names_that_are_looked_for() -> None:
    assert [name for name in ways_out() if canonical(name) != name] == []


def test_all_say_what_to_do_in_both_languages() -> None:
    for name, way in ways_out().items():
        assert way.en and way.zh, name
        assert way.to or way.kind is not WayKind.COUNTERPART, name


def attributes(tree: ast.AST) -> Iterator[str]:
    """Dotted names that begin with a module's."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            text = ast.unparse(node)
            head, _, rest = text.partition(".")
            if head in HEADS and rest.replace(".", "").isidentifier():
                yield f"{HEADS[head]}.{rest}"


HEADS = {"ms": "mindspore", "nn": "mindspore.nn", "ops": "mindspore.ops", "mint": "mindspore.mint"}


def test_code_parses_and_uses_what_there_is() -> None:
    for name, way in ways_out().items():
        missing = [found for found in attributes(ast.parse(way.code)) if not exists(found)]
        assert not missing, name


@pytest.mark.parametrize("name", CHECKED)
def test_a_composition_gives_what_torch_gives(name: str) -> None:
    import mindspore as ms
    import numpy as np
    import torch
    from mindspore import mint, nn, ops

    values = np.random.default_rng(0).normal(size=(2, 4, 6, 6)).astype(np.float32)
    held = {"ms": ms, "nn": nn, "ops": ops, "mint": mint, "x": ms.Tensor(values)}
    way = ways_out()[name]
    exec(compile(way.code, name, "exec"), held)
    expected = eval(way.check, {"torch": torch, "x": torch.from_numpy(values)})
    found = held["y"]
    assert isinstance(found, ms.Tensor)
    np.testing.assert_allclose(found.asnumpy(), expected.resolve_conj().numpy(), rtol=1e-4, atol=1e-5)


def test_a_package_is_found_and_a_counterpart_the_other_way_round() -> None:
    found = way_out("torch.cuda.Event")
    assert found is not None and found.kind is WayKind.DROP
    back = way_out("mindspore.nn.CellList")
    assert back is not None and back.to == "torch.nn.ModuleList"
    assert way_out("torch.nothing_like_it") is None
