"""Running the user's program as if Python had been called with it."""

from __future__ import annotations

import builtins
import importlib.util
import os
import sys
import traceback
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType, TracebackType

from trueline.model.trouble import BadScript

_HERE = str(Path(__file__).parent.parent) + os.sep
_IMPORTING = "<frozen "


class ScriptEnded(BaseException):
    """Ends the user's program from within: nothing went wrong, no more of it is wanted."""


def check_script(script: str) -> None:
    """A BadScript for what Python could not run."""
    path = Path(script)
    if path.is_dir():
        raise BadScript("record.script_is_folder", script=script)
    if not path.is_file():
        raise BadScript("record.no_script", script=script)


def run_script(script: str, args: Sequence[str]) -> int:
    """Run a file as ``python script args…`` would, and return its exit code."""
    check_script(script)
    path = Path(script).absolute()
    try:
        code = compile(path.read_bytes(), str(path), "exec")
    except (SyntaxError, ValueError) as error:
        traceback.print_exception(error, limit=0)
        return 1
    main = _new_main()
    main.__dict__["__file__"] = str(path)
    _set_first_path(str(path.resolve().parent))
    sys.argv = [script, *args]
    return _execute(code, main)


def check_module(name: str) -> None:
    """A BadScript for what Python could not run with -m."""
    _set_first_path(str(Path.cwd()))
    _find_module(name)


def _find_module(name: str) -> tuple[ModuleSpec, CodeType]:
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except (ImportError, ValueError):
        spec = None
    code = spec.loader.get_code(spec.name) if spec is not None and hasattr(spec.loader, "get_code") else None  # type: ignore[union-attr]
    if spec is None or code is None:
        raise BadScript("record.no_module", module=name)
    return spec, code


def run_module(name: str, args: Sequence[str]) -> int:
    """Run a module as ``python -m name args…`` would, and return its exit code."""
    _set_first_path(str(Path.cwd()))
    spec, code = _find_module(name)
    main = _new_main()
    main.__dict__.update(
        __file__=spec.origin, __spec__=spec, __package__=spec.parent, __loader__=spec.loader, __cached__=spec.cached
    )
    sys.argv = [spec.origin or name, *args]
    return _execute(code, main)


_replaced: list[ModuleType] = []


def _new_main() -> ModuleType:
    """A fresh ``__main__``; the one it replaces stays alive, since TrueLine is still running in it."""
    main = ModuleType("__main__")
    main.__dict__.update(__builtins__=builtins, __package__=None, __spec__=None, __cached__=None)
    _replaced.append(sys.modules["__main__"])
    sys.modules["__main__"] = main
    return main


def _set_first_path(folder: str) -> None:
    if not sys.flags.safe_path and sys.path:
        sys.path[0] = folder


def _execute(code: CodeType, main: ModuleType) -> int:
    try:
        exec(code, main.__dict__)
    except ScriptEnded:
        return 0
    except SystemExit as ending:
        return _exit_code(ending)
    except KeyboardInterrupt as error:
        _show(error)
        return 130
    except BaseException as error:  # noqa: BLE001 - the user's own error, shown as Python would show it
        _show(error)
        return 1
    return 0


def _exit_code(ending: SystemExit) -> int:
    if ending.code is None:
        return 0
    if isinstance(ending.code, int):
        return ending.code
    print(ending.code, file=sys.stderr)
    return 1


def _show(error: BaseException) -> None:
    """The traceback without TrueLine's own frames, through the user's excepthook where there is one."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_HERE):
        trace = trace.tb_next
    _drop_own_frames(trace)
    sys.excepthook(type(error), error.with_traceback(trace), trace)


def _drop_own_frames(trace: TracebackType | None) -> None:
    """Unlink the frames of wrappers that stand between the user's code and the framework's."""
    while trace is not None:
        following = trace.tb_next
        while following is not None and _is_wrapper(following):
            following = following.tb_next
        if following is not None or trace.tb_next is None:
            trace.tb_next = following
        trace = following


def _is_wrapper(trace: TracebackType) -> bool:
    file = trace.tb_frame.f_code.co_filename
    return file.startswith(_HERE) and not file.startswith(_HERE + "examples") and not file.startswith(_IMPORTING)
