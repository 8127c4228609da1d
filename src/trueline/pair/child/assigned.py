"""Where a class of the user's gives its modules an attribute."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator

from trueline.adapters import FRAMEWORKS
from trueline.model.location import Location
from trueline.pair.child.host import Host
from trueline.pair.questions.model import AssignedAt


def assigned_at(host: Host, question: AssignedAt) -> Location | None:
    """The line of ``self.attribute = …`` in the first of its classes that has one; None where none is readable."""
    found = _assignment(host, question)
    return found[0] if found is not None else None


def given_at(host: Host, question: AssignedAt) -> Location | None:
    """The line that decides an attribute: where a module is built, if the attribute is what its constructor is given.

    As it is, or made a tensor.
    """
    found = _assignment(host, question)
    if found is None:
        return None
    line, value = found
    value = value.args[0] if isinstance(value, ast.Call) and value.args else value
    module = dict(host.adapter.values.modules(host.model))[question.path]
    built = host.adapter.build.built(module)
    is_given = built is not None and isinstance(value, ast.Name) and value.id in built.arguments
    return (built.line if built is not None and is_given else None) or line


def _assignment(host: Host, question: AssignedAt) -> tuple[Location, ast.expr] | None:
    module = dict(host.adapter.values.modules(host.model))[question.path]
    for kind in type(module).__mro__:
        if kind.__module__.partition(".")[0] in FRAMEWORKS:
            return None
        found = next(_assignments(kind, question.attribute), None)
        if found is not None:
            return found
    return None


def _assignments(kind: type, attribute: str) -> Iterator[tuple[Location, ast.expr]]:
    try:
        file, (source, first) = inspect.getsourcefile(kind), inspect.getsourcelines(kind)
        tree = ast.parse(inspect.cleandoc("\n" + "".join(source)))
    except (OSError, TypeError, SyntaxError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            named = any(isinstance(target, ast.Attribute) and target.attr == attribute for target in targets)
            if named and file is not None and node.value is not None:
                yield Location(file, first + node.lineno - 1), node.value
