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
    module = dict(host.adapter.values.modules(host.model))[question.path]
    for kind in type(module).__mro__:
        if kind.__module__.partition(".")[0] in FRAMEWORKS:
            return None
        line = next(_lines(kind, question.attribute), None)
        if line is not None:
            return line
    return None


def _lines(kind: type, attribute: str) -> Iterator[Location]:
    try:
        file, (source, first) = inspect.getsourcefile(kind), inspect.getsourcelines(kind)
        tree = ast.parse(inspect.cleandoc("\n" + "".join(source)))
    except (OSError, TypeError, SyntaxError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            named = any(isinstance(target, ast.Attribute) and target.attr == attribute for target in targets)
            if named and file is not None:
                yield Location(file, first + node.lineno - 1)
