"""What the user's source says of an object: where an attribute is set, where a generator is seeded."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterable, Iterator
from typing import Final

from trueline.adapters.guest.faults import is_users
from trueline.adapters.nouns import Value
from trueline.model.location import Location

_GENERATORS: Final = ("Generator", "RandomState", "Random")
_SEEDING: Final = ("seed", "manual_seed", "set_seed", "default_rng", "RandomState", "Random", "Generator")

_CHANCE: Final = ("shuffle", "perm", "rand", "sample", "choice")


def is_generator(value: object) -> bool:
    """Whether this draws random numbers: NumPy's, torch's or Python's own."""
    kind = type(value)
    return kind.__name__ in _GENERATORS and kind.__module__.partition(".")[0] in ("numpy", "torch", "random")


def attribute_line(owner: object, name: str) -> Location | None:
    """The line of a class that sets an attribute of its objects."""
    return next((line for line, whole in _writing(owner, name) if whole), None)


def last_write(owner: object, name: str) -> Location | None:
    """The last line of a class that sets an attribute of its objects, or a part of it."""
    return next((line for line, _ in reversed(list(_writing(owner, name)))), None)


def _writing(owner: object, name: str) -> Iterator[tuple[Location, bool]]:
    """The lines that write an attribute, and whether they write all of it."""
    for kind in type(owner).__mro__:
        for node, line in _nodes(kind):
            if not isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                for subscript in target.elts if isinstance(target, ast.Tuple) else [target]:
                    part = subscript.value if isinstance(subscript, ast.Subscript) else subscript
                    if isinstance(part, ast.Attribute) and part.attr == name:
                        yield line, part is subscript


def seeding_line(function: object, *, last: bool = False) -> Location | None:
    """The line of a function that makes or seeds a generator."""
    found = [
        line
        for node, line in _nodes(function)
        if isinstance(node, ast.Call) and _called(node) in _SEEDING and (node.args or node.keywords)
    ]
    return (found[-1] if last else found[0]) if found else None


def speaks_of_chance(function: object) -> bool:
    """Whether a function of the user's shuffles or draws."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None or not is_users(code.co_filename):
        return False
    return any(word in name.lower() for name in (*code.co_names, *code.co_freevars) for word in _CHANCE)


def body_line(function: object) -> Location | None:
    """The first line of a function that does something."""
    for node, line in _nodes(function):
        if isinstance(node, ast.FunctionDef) and node.body:
            body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
            return Location(line.file, line.line - node.lineno + body[0].lineno)
    return None


def held(objects: Iterable[object]) -> Iterator[tuple[object, str, Value]]:
    """The attributes of the user's objects: whose, by which name, what."""
    for one in objects:
        for name, value in list(getattr(one, "__dict__", {}).items()):
            yield one, name, value


def _nodes(thing: Value) -> Iterator[tuple[ast.stmt | ast.expr, Location]]:
    """All parts of a function's or a class's source, in order, each with its line; none for what is not the user's."""
    try:
        thing = inspect.unwrap(_function(thing))
        file = inspect.getsourcefile(thing)
        lines, first = inspect.getsourcelines(thing)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (TypeError, OSError, SyntaxError, ValueError):
        return
    if file is None or not is_users(file):
        return
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.stmt | ast.expr)]
    for node in sorted(nodes, key=lambda part: (part.lineno, part.col_offset)):
        yield node, Location(file, first + node.lineno - 1)


def _function(thing: Value) -> Value:
    """What a method is made of; anything else is itself."""
    return getattr(thing, "__func__", thing)


def _called(node: ast.Call) -> str:
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
