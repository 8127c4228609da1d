"""Running the user's program as if Python had been called with it."""

from __future__ import annotations

import atexit
import builtins
import contextlib
import importlib.util
import os
import resource
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType, TracebackType
from typing import NoReturn

from trueline.model.recursion import ROOM
from trueline.model.trouble import BadScript
from trueline.record.stderr_line import script_begins

_HERE = str(Path(__file__).parent.parent) + os.sep
_IMPORTING = "<frozen "
_DESCRIPTORS = 64


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
        code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
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
    process = os.getpid()
    script_begins()
    # What stands below the script's first frame.
    ROOM.begin(below=_depth())
    if sys.__stdout__ is None:
        # Started with its stdout closed, a script finds none.
        sys.stdout = None
    if sys.__stderr__ is None:
        sys.stderr = None
    ended = _ended(code, main)
    if os.getpid() != process:
        _end_child(ended)
    _wait_for_threads()
    _codes[:] = [ended]
    with _without_own_errors():
        # As Python does at its end: what is registered for it may train.
        atexit._run_exitfuncs()
    _make_room()
    return ended


_codes: list[int] = []


def ended_with() -> int | None:
    """The exit code of the program, once its last line is behind it."""
    return _codes[0] if _codes else None


@contextmanager
def _without_own_errors() -> Iterator[None]:
    """Python shows what goes wrong at its end and goes on; that no more is wanted is nothing wrong."""
    before = sys.unraisablehook

    def show(error: sys.UnraisableHookArgs) -> None:
        if not isinstance(error.exc_value, ScriptEnded):
            before(error)

    sys.unraisablehook = show
    try:
        yield
    finally:
        if sys.unraisablehook is show:
            sys.unraisablehook = before


def _wait_for_threads() -> None:
    """Wait for threads that Python would wait for at its end: they may still train.

    An executor's idle threads wait for that end themselves.
    """
    idle: set[int] = set()
    for name, table in (("thread", "_threads_queues"), ("process", "_threads_wakeups")):
        executors = sys.modules.get(f"concurrent.futures.{name}")
        idle |= {id(thread) for thread in list(getattr(executors, table, ()))}
    with contextlib.suppress(KeyboardInterrupt):
        while waited := [
            thread
            for thread in threading.enumerate()
            if not thread.daemon and thread is not threading.current_thread() and id(thread) not in idle
        ]:
            waited[0].join()


def _end_child(code: int) -> NoReturn:
    """A process that the script has forked ends here, as Python would: what comes after is its parent's."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(code)


def _depth() -> int:
    frame, depth = sys._getframe(1), 0
    while frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


def _ended(code: CodeType, main: ModuleType) -> int:
    try:
        exec(code, main.__dict__)
    except ScriptEnded:
        return 0
    except SystemExit as ending:
        return _exit_code(ending)
    except BaseException as error:  # noqa: BLE001 - the user's own error, shown as Python would show it
        raised = error
    else:
        return 0
    # What the hook raises is not raised in the handling of anything.
    return _shown(raised, 130 if isinstance(raised, KeyboardInterrupt) else 1)


def _exit_code(ending: SystemExit) -> int:
    if ending.code is None:
        return 0
    if isinstance(ending.code, int):
        return ending.code
    _complain(f"{ending.code}\n")
    return 1


def _complain(text: str) -> None:
    """What Python itself says on stderr, where the script has left one."""
    if sys.stderr is not None:
        with contextlib.suppress(Exception):
            sys.stderr.write(text)
            sys.stderr.flush()


def _make_room() -> None:
    """What a script holds open it holds until Python ends: what is said and written after it needs some more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY:
        with contextlib.suppress(ValueError, OSError):
            more = soft + _DESCRIPTORS
            resource.setrlimit(
                resource.RLIMIT_NOFILE, (more if hard == resource.RLIM_INFINITY else min(more, hard), hard)
            )


def _shown(error: BaseException, code: int) -> int:
    """Show an error as Python does, through the user's excepthook where there is one; the exit code.

    The hook and the class of the error are the user's: neither may have the error go unseen.
    """
    trace = _users_trace(error)
    try:
        sys.excepthook(type(error), error, trace)
    except SystemExit as ending:
        return _exit_code(ending)
    except BaseException as failed:  # noqa: BLE001 - a hook may raise anything
        if not hasattr(sys, "excepthook"):
            _complain("sys.excepthook is missing\n")
        else:
            _complain("Error in sys.excepthook:\n")
            sys.__excepthook__(type(failed), failed, _users_trace(failed))
            _complain("\nOriginal exception was:\n")
        sys.__excepthook__(type(error), error, trace)
    return code


def _users_trace(error: BaseException) -> TracebackType | None:
    """The traceback of an error, which then has no frames of TrueLine's own."""
    trace: TracebackType | None = vars(BaseException)["__traceback__"].__get__(error)
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_HERE):
        trace = trace.tb_next
    _drop_own_frames(trace)
    BaseException.with_traceback(error, trace)
    return trace


def _drop_own_frames(trace: TracebackType | None) -> None:
    """Unlink the frames of wrappers that stand between the user's code and the framework's.

    Where TrueLine does more than hand a call on, the trouble is its own, and its frames stay.
    """
    while trace is not None:
        last, following = trace, trace.tb_next
        while following is not None and _is_own(following):
            last, following = following, following.tb_next
        if following is not None and _hands_on(last, following):
            trace.tb_next = following
        trace = following


def _hands_on(own: TracebackType, following: TracebackType) -> bool:
    """Whether a frame has called a function that it was given: the one that it wraps."""
    code = following.tb_frame.f_code
    return any(_code(value) is code for value in list(own.tb_frame.f_locals.values()))


def _code(value: object) -> CodeType | None:
    """The code of a function or a method; by the type alone, as a user's object may answer a question with an error."""
    if issubclass(type(value), MethodType | classmethod | staticmethod):
        value = value.__func__  # type: ignore[attr-defined]
    return value.__code__ if type(value) is FunctionType else None


def _is_own(trace: TracebackType) -> bool:
    file = trace.tb_frame.f_code.co_filename
    return file.startswith(_HERE) and not file.startswith(_HERE + "examples") and not file.startswith(_IMPORTING)
