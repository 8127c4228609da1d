"""Private names and undocumented modules of a framework are touched in ``adapters/<framework>/internals.py`` alone."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import trueline

SOURCE: Final = Path(trueline.__file__).parent
ADAPTERS: Final = SOURCE / "adapters"
FRAMEWORKS: Final = ("torch", "mindspore")
INTERNALS: Final = tuple(ADAPTERS / framework / "internals.py" for framework in FRAMEWORKS)
# The modules that the frameworks' own documentation names.
DOCUMENTED: Final = frozenset(
    (
        *("torch", "torch.amp", "torch.autograd", "torch.backends", "torch.compiler", "torch.cuda"),
        *("torch.distributed", "torch.jit", "torch.linalg", "torch.multiprocessing", "torch.nn", "torch.nn.functional"),
        *("torch.nn.modules.module", "torch.nn.utils", "torch.optim", "torch.optim.lr_scheduler", "torch.random"),
        *("torch.optim.optimizer", "torch.utils", "torch.utils.data"),
        *("mindspore", "mindspore.amp", "mindspore.communication", "mindspore.context", "mindspore.dataset"),
        *("mindspore.dataset.config", "mindspore.dataset.transforms", "mindspore.dataset.vision", "mindspore.nn"),
        *("mindspore.experimental.optim", "mindspore.experimental.optim.lr_scheduler", "mindspore.ops"),
        *("mindspore.common.initializer", "mindspore.train"),
    )
)
# Python's own: named tuples have them, and frames and processes.
PYTHONS: Final = frozenset(("_fields", "_getframe", "_exit", "_args", "_kwargs", "_start_method"))
_PRIVATE: Final = re.compile(r"_[A-Za-z]\w*")
_PRIVATE_MODULE: Final = re.compile(r"(torch|mindspore)(\.\w+)*\._\w+.*")


def _modules() -> list[Path]:
    """All of TrueLine's but the two that may."""
    return [file for file in sorted(SOURCE.rglob("*.py")) if file not in INTERNALS]


def _is_private(name: str) -> bool:
    return _PRIVATE.fullmatch(name) is not None and name not in PYTHONS


def _imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of all that is imported of a framework."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            yield node.lineno, node.module
            names = [f"{node.module}.{name.name}" for name in node.names]
            yield from ((node.lineno, name) for name in names if _is_private(name.rpartition(".")[2]) or _is_file(name))


def _is_file(name: str) -> bool:
    """Whether a dotted name is a module of a framework's, and not something in one."""
    framework, *parts = name.split(".")
    if framework not in FRAMEWORKS:
        return False
    spec = importlib.util.find_spec(framework)
    assert spec is not None and spec.origin is not None
    place = Path(spec.origin).parent.joinpath(*parts)
    return place.with_suffix(".py").is_file() or place.is_dir()


def _undocumented_imports(tree: ast.AST) -> Iterator[str]:
    for line, name in _imported(tree):
        if name.partition(".")[0] in FRAMEWORKS and name not in DOCUMENTED:
            yield f"line {line}: import of {name}"


def _bound_to_frameworks(tree: ast.AST) -> set[str]:
    """The names by which a module holds a framework or a part of it."""
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            bound |= {name.asname or name.name.partition(".")[0] for name in node.names if _is_framework(name.name)}
        elif isinstance(node, ast.ImportFrom) and not node.level and _is_framework(node.module or ""):
            bound |= {name.asname or name.name for name in node.names}
    return bound


def _is_framework(module: str) -> bool:
    return module.partition(".")[0] in FRAMEWORKS


def _dotted(node: ast.AST) -> str:
    """``torch.nn.Module`` of such an expression; empty where it is no chain of names."""
    if isinstance(node, ast.Attribute):
        above = _dotted(node.value)
        return f"{above}.{node.attr}" if above else ""
    return node.id if isinstance(node, ast.Name) else ""


def _private_attributes(tree: ast.AST, own: frozenset[str], *, everywhere: bool) -> Iterator[str]:
    """Attributes of a framework's modules; with ``everywhere`` of all objects but ``self`` and ``cls``."""
    bound = _bound_to_frameworks(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not _is_private(node.attr):
            continue
        held = _dotted(node.value).partition(".")[0]
        if held in bound or (everywhere and held not in ("self", "cls") and node.attr not in own):
            yield f"line {node.lineno}: {ast.unparse(node)}"


def _texts(tree: ast.AST) -> Iterator[ast.Constant]:
    """Texts that are no docstrings."""
    documentation = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    slots = {id(part) for node in ast.walk(tree) if _is_slots(node) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation | slots:
            yield node


def _is_slots(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and _dotted(node.targets[0]) == "__slots__"


def _private_texts(tree: ast.AST) -> Iterator[str]:
    """Names to be asked for by ``getattr``, replaced or compared with."""
    for node in _texts(tree):
        text = str(node.value)
        if _is_private(text.rstrip(".")) or _PRIVATE_MODULE.fullmatch(text):
            yield f"line {node.lineno}: {text!r}"


def _defined(tree: ast.AST) -> frozenset[str]:
    """The private names that a module defines itself."""
    functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    attributes = {
        node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    return frozenset(functions | attributes)


def touched(source: str, *, in_adapters: bool) -> list[str]:
    """Where a module touches what is private to a framework."""
    tree = ast.parse(source)
    found = [*_undocumented_imports(tree), *_private_attributes(tree, _defined(tree), everywhere=in_adapters)]
    return found + (list(_private_texts(tree)) if in_adapters else [])


def test_no_other_module_touches_what_is_private_to_a_framework() -> None:
    found = {
        str(file.relative_to(SOURCE)): places
        for file in _modules()
        if (places := touched(file.read_text(encoding="utf-8"), in_adapters=file.is_relative_to(ADAPTERS)))
    }
    assert found == {}


@pytest.mark.parametrize(
    "source",
    [
        "import torch\ntorch._C._get_tracing_state()",
        "import mindspore as ms\nms.common._x",
        "from torch.utils import data\ndata._utils.worker",
        "from torch.jit import _builtins",
        "from mindspore.common._grad_function import Function",
        "import mindspore.dataset.engine.datasets",
        "from mindspore.train import dataset_helper",
    ],
)
def test_a_private_name_of_a_framework_is_seen_anywhere(source: str) -> None:
    assert touched(source, in_adapters=False) != []


@pytest.mark.parametrize(
    "source",
    [
        "def node(tensor):\n    return tensor._grad_node",
        "def cells(cell):\n    return getattr(cell, '_cells', {})",
        "def watch(patches, owner):\n    patches.wrap(owner, '_call_impl', None)",
        "import sys\n'torch._dynamo' in sys.modules",
    ],
)
def test_a_private_name_of_an_object_is_seen_in_adapters(source: str) -> None:
    assert touched(source, in_adapters=True) != []


def test_what_a_module_defines_itself_is_no_frameworks() -> None:
    source = "class A:\n    def _go(self):\n        self._x = 1\n    def same(self, a):\n        return a._go(), a._x"
    assert touched(source, in_adapters=True) == []
