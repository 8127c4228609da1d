"""The lines of a script whose outcome depends on Python's hash seed: a set that is walked through, hash() of a text."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from trueline.model.location import Location

_WALKS: Final = ("list", "tuple", "enumerate", "iter", "zip", "map", "filter", "next", "array", "tensor")
_SETS: Final = ("set", "frozenset")
_FROM_SETS: Final = ("union", "intersection", "difference", "symmetric_difference", "copy")
_MAX_SOURCE_BYTES: Final = 1 << 21


def lines_by_hash(files: Sequence[str]) -> list[Location]:
    """In the order of the files."""
    return [Location(file, number) for file in files for number in sorted(set(_in_file(Path(file))))]


def _in_file(path: Path) -> Iterator[int]:
    try:
        if path.stat().st_size > _MAX_SOURCE_BYTES:
            return
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    names = _names_of_sets(tree)
    for node in ast.walk(tree):
        for walked in _walked(node):
            if _is_set(walked, names):
                yield walked.lineno
        if _called(node) == "hash" and isinstance(node, ast.Call):
            yield node.lineno


def _names_of_sets(tree: ast.AST) -> set[str]:
    """Variables and attributes that are given a set somewhere."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and _is_set(node.value, found):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found.update(ast.unparse(target) for target in targets if isinstance(target, ast.Name | ast.Attribute))
    return found


def _walked(node: ast.AST) -> Iterator[ast.expr]:
    """What a node goes through in the order it finds."""
    if isinstance(node, ast.For | ast.comprehension):
        yield node.iter
    elif isinstance(node, ast.Starred):
        yield node.value
    elif isinstance(node, ast.Call):
        if _called(node) in _WALKS:
            yield from node.args
        elif isinstance(node.func, ast.Attribute) and node.func.attr in ("join", "fromkeys", "extend", "pop"):
            yield from (*node.args, *([node.func.value] if node.func.attr == "pop" and not node.args else []))


def _is_set(node: ast.expr, names: set[str]) -> bool:
    if isinstance(node, ast.Set | ast.SetComp) or _called(node) in _SETS:
        return True
    if isinstance(node, ast.Name | ast.Attribute):
        return ast.unparse(node) in names
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr | ast.BitAnd | ast.Sub | ast.BitXor):
        return _is_set(node.left, names) or _is_set(node.right, names)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _FROM_SETS:
        return _is_set(node.func.value, names)
    return False


def _called(node: ast.AST) -> str | None:
    if not isinstance(node, ast.Call):
        return None
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
