"""TrueLine's own sources, parsed and walked through once for all tests that look for something in them."""

from __future__ import annotations

import ast
import gc
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import TypeVar

import trueline

SOURCE = Path(trueline.__file__).parent

Node = TypeVar("Node", bound=ast.AST)


def place(path: Path, node: ast.AST) -> str:
    """Where a node stands."""
    return f"{path.relative_to(SOURCE)}:{getattr(node, 'lineno', 0)}"


def nodes(kind: type[Node]) -> list[tuple[Path, Node]]:
    """All nodes of one class, with their files."""
    return _by_kind()[kind]  # type: ignore[return-value]


@cache
def _by_kind() -> dict[type[ast.AST], list[tuple[Path, ast.AST]]]:
    found = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            found[type(node)].append((path, node))
    # They stay: what looks for garbage in a later test need not go through a million of them.
    gc.freeze()
    return found
