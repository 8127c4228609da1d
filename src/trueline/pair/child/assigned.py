"""Where a class of the user's gives its modules an attribute."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator

from trueline.adapters import FRAMEWORKS
from trueline.adapters.nouns import Network
from trueline.model.location import Location
from trueline.pair.child.host import Host
from trueline.pair.questions.model import AssignedAt


def assigned_at(host: Host, question: AssignedAt) -> Location | None:
    """The line of ``self.attribute = …`` in the first of its classes that has one; None where none is readable."""
    return line_of(dict(host.adapter.values.modules(host.model))[question.path], question.attribute)


def line_of(module: Network, attribute: str, *, computed: bool = False) -> Location | None:
    """Where its classes give a module an attribute; where it is ``computed``, and not only what they are given."""
    for kind in type(module).__mro__:
        if kind.__module__.partition(".")[0] in FRAMEWORKS:
            return None
        found = next(_assignments(kind, attribute, computed=computed), None)
        if found is not None:
            return found[0]
    return None


def decided_at(host: Host, module: Network, attribute: str) -> Location | None:
    """Where a module is built, if its attribute is what its constructor is given, as it is or made a tensor.

    Else where its classes give it the attribute.
    """
    built = host.adapter.build.built(module)
    for kind in type(module).__mro__:
        if kind.__module__.partition(".")[0] in FRAMEWORKS:
            return None
        found = next(_assignments(kind, attribute), None)
        if found is None:
            continue
        line, value = found
        value = value.args[0] if isinstance(value, ast.Call) and value.args else value
        is_given = built is not None and isinstance(value, ast.Name) and value.id in built.arguments
        return (built.line if built is not None and is_given else None) or line
    return None


def _assignments(kind: type, attribute: str, *, computed: bool = False) -> Iterator[tuple[Location, ast.expr | None]]:
    try:
        file, (source, first) = inspect.getsourcefile(kind), inspect.getsourcelines(kind)
        tree = ast.parse(inspect.cleandoc("\n" + "".join(source)))
    except (OSError, TypeError, SyntaxError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if computed and isinstance(node.value, ast.Name):
                continue
            names = (part for target in targets for part in ast.walk(target) if isinstance(part, ast.Attribute))
            if any(part.attr == attribute for part in names) and file is not None:
                yield Location(file, first + node.lineno - 1), node.value
        elif isinstance(node, ast.Call) and _registers(node, attribute) and file is not None:
            yield Location(file, first + node.lineno - 1), _given(node)[1]


def _registers(call: ast.Call, attribute: str) -> bool:
    """Whether a method of the module is given the attribute's name and its value, as ``register_buffer`` is."""
    given = _given(call)
    on_self = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)
    return on_self and len(given) > 1 and isinstance(given[0], ast.Constant) and given[0].value == attribute


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]
