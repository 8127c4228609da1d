"""Draws for the functions of torch and the methods of its tensors."""

from __future__ import annotations

import ast
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from typing import Final

import numpy as np

from trueline.migrate.lab.draw import Draw, DrawnValue, DType
from trueline.migrate.lab.drawing.edges import NAMED, UNSEEN, Edge
from trueline.migrate.lab.drawing.expressions import evaluate, parsed, words
from trueline.migrate.lab.drawing.scope import Scope
from trueline.migrate.lab.drawing.table import DrawingTable, Form, drawing_table

Parameters = Sequence[tuple[str, str | None]]

OBJECT: Final = "input"  # the name under which the object of a method is drawn
EXPLICIT_NONE: Final = "explicit_none"  # the condition of a call that passes None where that is the default
_ANYTHING: Final = ("*args", "**kwargs")  # documented where torch chooses among several functions
_ATTEMPTS: Final = 8  # an edge may need an argument or form that is not drawn each time
_NONE_PASSED: Final = 0.3  # how often a default of None is passed where another default would be
_FEW_EDGES: Final = 4  # a function with fewer edges than these is drawn ordinary in their turns
_ROUND: Final = 5  # of so many draws
_ORDINARY: Final = 3  # so many are ordinary


class _Plan(Enum):
    """Which of the optional arguments are passed."""

    NONE = auto()
    ONE = auto()
    DEFAULT = auto()  # one, at torch's default
    ALL = auto()
    SOME = auto()


_PLANS: Final = tuple(_Plan)


@dataclass(frozen=True, slots=True)
class _Function:
    name: str
    parameters: tuple[tuple[str, str | None], ...]

    @property
    def defaults(self) -> dict[str, str | None]:
        return dict(self.parameters)


def draws(torch_name: str, parameters: Parameters, seed: int, count: int) -> list[Draw]:
    """Calls of a function or method, the same for the same seed; fewer are the beginning of more.

    Three of five are ordinary; none are drawn for what ``reason_not_drawn`` names.
    """
    forms = drawing_table().of(torch_name)
    if not forms:
        return []
    named = tuple((name.lstrip("*"), default) for name, default in parameters if name not in _ANYTHING)
    if torch_name.startswith("torch.Tensor."):
        named = ((OBJECT, None), *named)
    function = _Function(torch_name, named)
    return [_draw(function, forms, seed, index) for index in range(count)]


def reason_not_drawn(torch_name: str) -> str | None:
    """Why there are no draws for a function; None where there are."""
    return drawing_table().not_drawn.get(torch_name)


def _draw(function: _Function, forms: tuple[Form, ...], seed: int, index: int) -> Draw:
    turn, place = divmod(index, _ROUND)
    edges = _edges(function)
    turns = max(len(edges), _FEW_EDGES)
    edge_turn = (turn * (_ROUND - _ORDINARY) + place - _ORDINARY) % turns
    if place >= _ORDINARY and edge_turn < len(edges):
        drawn = _on_edge(function, forms, edges[edge_turn], seed, index)
        if drawn is not None:
            return drawn
    ordinal = turn * _ORDINARY + place if len(edges) >= _FEW_EDGES else index
    usual = _usual(forms)
    form = usual[(ordinal + ordinal // len(_PLANS)) % len(usual)]
    rng = _generator(function, seed, index, 0)
    ordinary = _attempt(function, form, None, _PLANS[ordinal % len(_PLANS)], rng)
    assert ordinary is not None, "only a draw on an edge can fail"
    return ordinary


def _usual(forms: tuple[Form, ...]) -> tuple[Form, ...]:
    return tuple(form for form in forms if not form.conditions)


def _on_edge(function: _Function, forms: tuple[Form, ...], edge: Edge | Form, seed: int, index: int) -> Draw | None:
    """A draw on an edge of inputs, or of a form that is an edge itself; None where the edge did not come about."""
    if isinstance(edge, Form):
        return _attempt(function, edge, None, _Plan.SOME, _generator(function, seed, index, 0))
    able = [form for form in _usual(forms) if edge not in form.without and not form.random and not form.uninitialised]
    for attempt in range(_ATTEMPTS if able else 0):
        rng = _generator(function, seed, index, attempt)
        form = able[int(rng.integers(len(able)))]
        # All arguments in the last attempts: an axis can only be negative where it is passed.
        plan = _Plan.ALL if attempt >= _ATTEMPTS // 2 else (_Plan.NONE, _Plan.SOME)[attempt % 2]
        drawn = _attempt(function, form, edge, plan, rng)
        if drawn is not None:
            return drawn
    return None


@lru_cache(maxsize=4096)
def _edges(function: _Function) -> tuple[Edge | Form, ...]:
    """The edges that calls of the function can stand on."""
    table = drawing_table()
    forms = table.of(function.name)
    texts = {
        text for form in forms for text in _texts(function, form, _documented_names(function, form), table).values()
    }
    named = frozenset().union(*map(words, texts))
    possible = (edge for edge in Edge if edge not in NAMED or NAMED[edge] & named)
    reached = (edge for edge in possible if _on_edge(function, forms, edge, 0, 0) is not None)
    return (*(form for form in forms if form.conditions), *reached)


def _generator(function: _Function, seed: int, index: int, attempt: int) -> np.random.Generator:
    return np.random.default_rng([seed, zlib.crc32(function.name.encode()), index, attempt])


def _attempt(function: _Function, form: Form, edge: Edge | None, plan: _Plan, rng: np.random.Generator) -> Draw | None:
    """One call; None where the edge that was asked for did not come about."""
    table = drawing_table()
    scope = Scope(rng, edge, table.values)
    for symbol, text in form.sizes.items():
        scope.bind(symbol, evaluate(parsed(text), scope))
    names = _documented_names(function, form)
    texts = _texts(function, form, names, table)
    optional = [name for name in texts if _is_optional(name, function, form, names)]
    passed = _passed(optional, plan, rng)
    conditions = set(form.conditions)
    for name, text in texts.items():
        if name in optional and name not in passed:
            continue
        found, default = _default(function, name, rng) if plan is _Plan.DEFAULT and name in passed else (False, None)
        scope.values[name] = default if found else evaluate(parsed(text), scope)
        if found and words(text) & NAMED[Edge.NEGATIVE_AXIS] and _negative(default):
            conditions.add(Edge.NEGATIVE_AXIS.value)
        if found and default is None:
            conditions.add(EXPLICIT_NONE)
    scope.strided()
    if edge is not None and not scope.applied:
        return None
    if edge is not None and edge in UNSEEN:
        conditions.add(edge.value)
    more = {mark: True for mark in ("random", "uninitialised") if getattr(form, mark)}
    return Draw(_in_order(function, scope.values), conditions=frozenset(conditions), more=more)


def _documented_names(function: _Function, form: Form) -> dict[str, str]:
    """For each argument of a form the name that the documented parameters have at its place.

    The methods of a tensor call ``value`` or ``divisor`` what the functions call ``other``.
    """
    documented = [name for name, _ in function.parameters]
    listed = [*form.arguments]
    names: dict[str, str] = {}
    for place, name in enumerate(listed):
        there = documented[place] if place < len(documented) else name
        taken = there in form.arguments or there in form.never or function.defaults.get(there) is not None
        names[name] = name if name in documented or taken or name in form.optional else there
    return names


def _texts(function: _Function, form: Form, names: Mapping[str, str], table: DrawingTable) -> dict[str, str]:
    """The expressions of all arguments that may be passed, by documented name, in the order in which they are drawn."""
    texts = {names[name]: text for name, text in form.arguments.items()}
    for name, _ in function.parameters:
        if name not in texts and name not in form.never and name in table.arguments:
            texts[name] = table.arguments[name]
    return texts


def _is_optional(name: str, function: _Function, form: Form, names: Mapping[str, str]) -> bool:
    own = next((argument for argument, documented in names.items() if documented == name), None)
    if own is not None:
        return own in form.optional
    return function.defaults.get(name) is not None


def _passed(optional: Sequence[str], plan: _Plan, rng: np.random.Generator) -> frozenset[str]:
    match plan:
        case _Plan.ALL:
            return frozenset(optional)
        case _Plan.SOME:
            return frozenset(name for name in optional if rng.random() < 0.5)
        case _Plan.ONE | _Plan.DEFAULT if optional:
            return frozenset({optional[int(rng.integers(len(optional)))]})
    return frozenset()


def _default(function: _Function, name: str, rng: np.random.Generator) -> tuple[bool, DrawnValue]:
    """Whether there is a documented default that can be passed, and that default."""
    text = function.defaults.get(name)
    if text is None or (text == "None" and rng.random() > _NONE_PASSED):
        return False, None
    if text.startswith("torch."):
        return True, DType("int64" if text == "torch.long" else text.removeprefix("torch."))
    try:
        return True, ast.literal_eval(text)
    except ValueError:
        return False, None


def _negative(value: DrawnValue) -> bool:
    numbers = value if isinstance(value, list | tuple) else [value]
    return any(isinstance(number, int) and number < 0 for number in numbers)


def _in_order(function: _Function, values: Mapping[str, DrawnValue]) -> dict[str, DrawnValue]:
    """The values in the order of the documented parameters, then those that are not documented."""
    order = [name for name, _ in function.parameters if name in values]
    return {name: values[name] for name in (*order, *(name for name in values if name not in order))}
