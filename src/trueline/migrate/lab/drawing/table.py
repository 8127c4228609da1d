"""The table of what the arguments of functions and methods are drawn from: ``functions.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, Final

from trueline.migrate.lab.drawing.arrays import Values
from trueline.migrate.lab.drawing.edges import Edge

_NOT_ARGUMENTS: Final = frozenset({"conditions", "forms", "let", "names", "random", "uninitialised", "without"})
_OPTIONAL: Final = "?"
_NEVER: Final = "never"


@dataclass(frozen=True, slots=True)
class Form:
    """One way to call a function: an expression for each argument, in the order in which they are drawn.

    ``optional`` are those that may be left out, whatever the documented parameters say; ``never`` those that this form
    does not pass; ``sizes`` are drawn first. Of a ``random`` outcome shape, type and coarse statistics can be compared,
    of an ``uninitialised`` one shape and type. A form with ``conditions`` is an edge, and drawn as seldom as one.
    """

    arguments: Mapping[str, str]
    optional: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    sizes: Mapping[str, str] = field(default_factory=dict)
    without: frozenset[Edge] = frozenset()
    random: bool = False
    uninitialised: bool = False
    conditions: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class DrawingTable:
    """All forms by name, what an argument is drawn from where its form does not say, and what is not drawn and why."""

    values: Mapping[str, Values]
    arguments: Mapping[str, str]
    forms: Mapping[str, tuple[Form, ...]]
    not_drawn: Mapping[str, str]

    def of(self, torch_name: str) -> tuple[Form, ...]:
        """The forms of a function, by its full name or else its last word; none where it is not drawn."""
        word = torch_name.rpartition(".")[2]
        return self.forms.get(torch_name) or self.forms.get(word) or self.forms.get(word.rstrip("_")) or ()


@cache
def drawing_table() -> DrawingTable:
    """The table that comes with this TrueLine."""
    text = resources.files("trueline.migrate.lab.drawing").joinpath("functions.toml").read_text(encoding="utf-8")
    content = tomllib.loads(text)
    forms: dict[str, tuple[Form, ...]] = {}
    for row in content["functions"].values():
        family = tuple(_form(row, form) for form in row.get("forms", [{}]))
        for name in row["names"]:
            if name in forms:
                raise ValueError(f"functions.toml has two rows for {name}")
            forms[name] = family
    values = {name: Values(*bounds) for name, bounds in content["values"].items()}
    return DrawingTable(values, content["arguments"], forms, content["not_drawn"])


def _form(row: Mapping[str, Any], form: Mapping[str, Any]) -> Form:
    """A form over what its family says of all forms."""
    given = {**form, **{name: said for name, said in row.items() if name not in form}}
    texts = {name: text for name, text in given.items() if name not in _NOT_ARGUMENTS}
    passed = {name: text for name, text in texts.items() if text != _NEVER}
    return Form(
        {name: text.removeprefix(_OPTIONAL).strip() for name, text in passed.items()},
        frozenset(name for name, text in passed.items() if text.startswith(_OPTIONAL)),
        frozenset(texts) - frozenset(passed),
        given.get("let", {}),
        frozenset(Edge(edge) for edge in given.get("without", ())),
        bool(given.get("random", False)),
        bool(given.get("uninitialised", False)),
        frozenset(given.get("conditions", ())),
    )
