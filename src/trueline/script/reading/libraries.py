"""What calls of libraries give, where that is known; everything else is a Made."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from trueline.script.reading import builtin_answers, config_answers, mindspore_answers, torch_answers
from trueline.script.trace import Event
from trueline.script.values import Value

if TYPE_CHECKING:
    from trueline.script.reading.calling import Calling

Answer = Callable[["Calling", Event, ast.AST], Value | None]

_BY_NAME: dict[str, Answer] = {
    **builtin_answers.BY_NAME,
    **config_answers.BY_NAME,
    **torch_answers.BY_NAME,
    **mindspore_answers.BY_NAME,
}
_BY_METHOD: dict[str, list[Answer]] = {}
for _answers in (
    builtin_answers.BY_METHOD,
    config_answers.BY_METHOD,
    torch_answers.BY_METHOD,
    mindspore_answers.BY_METHOD,
):
    for _name, _answer in _answers.items():
        _BY_METHOD.setdefault(_name, []).append(_answer)


def answered(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    """What a call gives; None where nothing better than a Made is known."""
    answer = _BY_NAME.get(event.name)
    if answer is not None:
        return answer(reader, event, node)
    if event.receiver is not None:
        for part in _BY_METHOD.get(event.method, ()):
            value = part(reader, event, node)
            if value is not None:
                return value
    return None
