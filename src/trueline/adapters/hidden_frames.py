"""Wrappers that a library's warnings do not see.

``warnings.warn(stacklevel=2)`` means the line that called the library: Python counts frames. Those of its own import
system it leaves out, and knows them by the name of their file. The adapters' code is given such a name, which begins
with its own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Final

from trueline.adapters.nouns import Foreign

_LEFT_OUT: Final = " <importlib._bootstrap>"
_ROOM: Final = __name__.rpartition(".")[0]
# Errors may have a ``__traceback__`` of their own.
_TRACE: Final[Foreign] = vars(BaseException)["__traceback__"]


def leave_out_of_warnings() -> None:
    """Hide the functions of all loaded adapter modules, and closures created in them, from warnings' stack levels."""
    for name, module in list(sys.modules.items()):
        if name.startswith(_ROOM):
            for function in _functions(module):
                function.__code__ = _marked(function.__code__)


def stand_in(function: Foreign, file: str) -> None:
    """Let a function count as code of a framework's file, hidden from warnings."""
    function.__code__ = function.__code__.replace(co_filename=file + _LEFT_OUT)


def leave_out_of_trace(error: BaseException) -> None:
    """In the ``except`` of a wrapper that raises again: remove its own frame from the traceback."""
    trace = _TRACE.__get__(error)
    if trace is not None:
        _TRACE.__set__(error, trace.tb_next)


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    for member in vars(module).values():
        parts = (
            vars(member).values() if isinstance(member, type) and member.__module__ == module.__name__ else (member,)
        )
        for part in parts:
            yield from _inside(part, module.__name__)


def _inside(part: Foreign, module: str) -> Iterator[FunctionType]:
    if isinstance(part, property):
        for accessor in (part.fget, part.fset):
            yield from _inside(accessor, module)
        return
    part = part.__func__ if isinstance(part, staticmethod | classmethod) else part
    if isinstance(part, FunctionType) and part.__module__ == module:
        # A decorator's function stands for the one that it was made of.
        wrapped = vars(part).get("__wrapped__", part)
        if isinstance(wrapped, FunctionType):
            yield wrapped


def _marked(code: CodeType) -> CodeType:
    if code.co_filename.endswith(_LEFT_OUT):
        return code
    parts = tuple(_marked(constant) if isinstance(constant, CodeType) else constant for constant in code.co_consts)
    return code.replace(co_filename=code.co_filename + _LEFT_OUT, co_consts=parts)
