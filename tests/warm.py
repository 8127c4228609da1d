"""Processes that begin with a framework and TrueLine's recorder imported, most of the time of a short training.

Each is forked from one that waits with nothing else done, and is then a child of whoever asked, as if it had been
started: with an id, streams, signals and an end of its own. At its end only the framework is not taken apart again.
Where TRUELINE_WHOLE is set, Python is started each time.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import fcntl
import gc
import importlib
import json
import os
import pkgutil
import random
import runpy
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

# What torch's own optimizers need is half of the import.
_IMPORTED = {"torch": ("torch", "torch._dynamo", "torch.utils.data"), "mindspore": ("mindspore", "mindspore.dataset")}
# What every recorded or watched training needs of TrueLine itself.
_NEEDED = ("trueline.cli.run", "trueline.cli.watch", "trueline.record", "trueline.watch", "trueline.adapters.{}")
# What counts when Python and the frameworks start: a process with something else here is started, not forked.
_SETTINGS = ("PYTHONHASHSEED", "OMP_", "MKL_", "KMP_", "ONEDNN_", "DNNL_", "LD_", "CUBLAS_", "TRUELINE_KERNEL")
_SETTINGS_OF = {"torch": (*_SETTINGS, "TORCH_"), "mindspore": (*_SETTINGS, "MS_", "GLOG_")}
# In the environment of a process whose scripts go through no set: for them one hash seed is as good as another.
ANY_HASH = "TRUELINE_TESTS_ANY_HASH"
_OF_HASHES = ("PYTHONHASHSEED", "CUBLAS_")
_SUBREAPER = 36
_SOURCES = str(Path(__file__).resolve().parent.parent / "src")
_FREE_NUMBERS = 100

_waiting: dict[tuple[str, str], socket.socket] = {}
_started: list[subprocess.Popen[bytes]] = []
# In a forked process: what waits to be forked for its own children.
_own: tuple[str, str, socket.socket] | None = None
_asking = threading.Lock()
# In a forked process: the exit code of its program, once that is over, and whether what is for the end was called.
_ending: list[int] = []
_has_called: list[bool] = []


def python(
    framework: str, folder: Path, *arguments: str, env: dict[str, str], stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """``python arguments…`` in a folder, with the framework imported."""
    line, pipe = [sys.executable, *arguments], subprocess.PIPE
    streams: dict[str, Any] = {"stdin": pipe, "stdout": pipe, "stderr": pipe, "text": True, "encoding": "utf-8"}
    with Popen(line, framework=framework, cwd=folder, env=env, **streams) as process:
        said = process.communicate(stdin)
    return subprocess.CompletedProcess(line, process.returncode, *said)


@contextlib.contextmanager
def started_by(module: Any) -> Iterator[None]:
    """Meanwhile scripts that a module of TrueLine's starts begin with the framework that they name."""

    def popen(line: list[str], **options: Any) -> Popen:
        return Popen(line, framework=framework_of(line, Path.cwd()), **options)

    with mock.patch.object(module, "subprocess", SimpleNamespace(**{**vars(subprocess), "Popen": popen})):
        yield


def framework_of(line: Sequence[str], folder: Path) -> str:
    """The framework that the first script on a command line names."""
    return next((_named_in(folder / one) for one in line if one.endswith(".py")), "")


@contextlib.contextmanager
def guests() -> Iterator[None]:
    """Meanwhile models and datasets of a user's begin with the framework that their files name."""
    from trueline.adapters.guest import process
    from trueline.adapters.guest.guest import Guest

    start, named = Guest.start.__func__, ""  # type: ignore[attr-defined]

    def named_start(kind: type[Guest], entry: Any, *, folder: Path | None = None, **more: Any) -> Guest:
        nonlocal named
        file = entry.module if entry.is_file else entry.module.replace(".", "/") + ".py"
        named = _named_in((folder or Path.cwd()) / file)
        return start(kind, entry, folder=folder, **more)

    def popen(line: list[str], **options: Any) -> Popen:
        return Popen(line, framework=named, **options)

    forking = SimpleNamespace(**{**vars(subprocess), "Popen": popen})
    with mock.patch.object(Guest, "start", classmethod(named_start)), mock.patch.object(process, "subprocess", forking):
        yield


def restarted(seed: int) -> dict[str, str]:
    """The environment with which ``--deterministic`` starts Python once more: having it, a process goes on as it is."""
    if os.environ.get("TRUELINE_WHOLE"):
        return {}
    return {ANY_HASH: "1", "PYTHONHASHSEED": str(seed), "CUBLAS_WORKSPACE_CONFIG": ":4096:8"}


def end() -> None:
    """End those that wait."""
    for one in _waiting.values():
        one.close()
    for process in _started:
        process.wait()
    _waiting.clear()
    _started.clear()


class Popen(subprocess.Popen):  # type: ignore[type-arg]
    """A process that is forked where that is the same as starting it."""

    def __init__(self, *arguments: Any, framework: str = "", **options: Any) -> None:
        self._framework = framework
        super().__init__(*arguments, **options)

    def _execute_child(self, *given: Any) -> None:
        args, _, _, _, pass_fds, cwd, env, _, _, _, *streams = given[:16]
        read_in, _, _, write_out, _, write_err = streams
        env = dict(os.environ if env is None else env)
        waiting = self._waiting_for(args, env)
        if waiting is None:
            super()._execute_child(*given)
            return
        grace, arguments = _kept(args)
        order = {
            "arguments": arguments,
            "grace": grace,
            "folder": os.fspath(cwd or Path.cwd()),
            "env": env,
            "own_session": given[21],
            "numbers": [0, 1, 2, *pass_fds],
        }
        usual = [own if one == -1 else one for own, one in enumerate((read_in, write_out, write_err))]
        told, tell = os.pipe()
        with os.fdopen(told, "rb", 0) as answer, _asking, _taking_orphans():
            try:
                socket.send_fds(waiting, [json.dumps(order).encode()], [*usual, *pass_fds, tell])
            finally:
                os.close(tell)
            self.pid = int(answer.read(64))
        self._child_created = True
        self._close_pipe_fds(*streams)

    def _waiting_for(self, args: Any, env: dict[str, str]) -> socket.socket | None:
        if os.environ.get("TRUELINE_WHOLE") or isinstance(args, str | bytes) or str(args[0]) != sys.executable:
            return None
        if any((Path(one) / "sitecustomize.py").exists() for one in _path(env)):
            return None
        if _own is not None:
            same = _kept(args)[1][:2] == ["-m", "trueline"] and _own[1] == _settings(_own[0], env)
            return _own[2] if same else None
        return _waiting_with(self._framework, env) if self._framework else None


def _named_in(file: Path) -> str:
    """The one framework that a file imports, if it is one."""
    text = file.read_text("utf-8", errors="replace") if file.is_file() else ""
    named = [one for one in _IMPORTED if f"import {one}" in text or f"from {one}" in text]
    return named[0] if len(named) == 1 else ""


def _kept(line: Sequence[Any]) -> tuple[float | None, list[str]]:
    """What Python is given on a command line, and the grace of a keeper that stands before it, if one does."""
    program, *arguments = (str(one) for one in line)
    if arguments[:2] == ["-I", "-S"] and Path(arguments[2]).name == "keeper.py" and arguments[4] == program:
        return float(arguments[3]), arguments[5:]
    return None, arguments


def _settings(framework: str, env: dict[str, str]) -> str:
    counts, free = _SETTINGS_OF[framework], _OF_HASHES if env.get(ANY_HASH) else ()
    return json.dumps(sorted(one for one in env.items() if one[0].startswith(counts) and not one[0].startswith(free)))


def _path(env: dict[str, str]) -> list[str]:
    return [one for one in env.get("PYTHONPATH", "").split(os.pathsep) if one]


def _waiting_with(framework: str, env: dict[str, str]) -> socket.socket:
    if env.get(ANY_HASH):
        # Others, which want none in particular, begin with the same.
        env = {name: value for name, value in env.items() if name != ANY_HASH and not name.startswith(_OF_HASHES)}
    key = framework, _settings(framework, env)
    if key not in _waiting:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            line = [sys.executable, __file__, framework, str(theirs.fileno())]
            process = subprocess.Popen(
                line, cwd="/", env=env, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, start_new_session=True
            )
        _waiting[key] = ours
        _started.append(process)
    return _waiting[key]


@contextlib.contextmanager
def _taking_orphans() -> Iterator[None]:
    """Meanwhile the children of descendants that end become children of this process."""
    prctl = ctypes.CDLL(None).prctl
    prctl(_SUBREAPER, 1)
    try:
        yield
    finally:
        prctl(_SUBREAPER, 0)


def _be_forked(asked: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """In a process forked for it: what is asked for, and the files for it. Ends where nobody asks any more."""
    while True:
        message, files, _, _ = socket.recv_fds(asked, 1 << 20, 64)
        if not message:
            os._exit(0)
        answer = files.pop()
        hear, tell = socket.socketpair()
        between = os.fork()
        if not between:
            if os.fork():
                os._exit(0)
            order = json.loads(message)
            # Who asked may end the whole session as soon as the process has a name.
            if order["own_session"]:
                os.setsid()
            hear.close()
            tell.send(str(os.getpid()).encode())
            # Not before the one between is gone: its end would be that of a process which is to end with its parent.
            tell.recv(1)
            tell.close()
            os.close(answer)
            asked.close()
            if order["grace"] is not None:
                from trueline.adapters.guest.keeper import keep

                # Whoever is left waiting then, and whatever is forked from that, is among those that the keeper ends.
                keep(grace=order["grace"], ours=tuple(files))
            return order, files
        tell.close()
        # Only then the process has lost the one between, and is the asking one's.
        os.waitpid(between, 0)
        with contextlib.suppress(BrokenPipeError):
            os.write(answer, hear.recv(64))
        hear.close()
        for one in (answer, *files):
            os.close(one)


def _leave_one_waiting(framework: str, order: dict[str, Any], files: list[int]) -> tuple[dict[str, Any], list[int]]:
    """What is to be done: as asked for or, in what is forked from the one that is left behind, something else."""
    global _own
    while True:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        if os.fork():
            theirs.close()
            _own = framework, _settings(framework, dict(os.environ)), ours
            return order, files
        ours.close()
        for one in files:
            os.close(one)
        order, files = _be_forked(theirs)


def _become(order: dict[str, Any], files: list[int]) -> None:
    """Be the process that is asked for, up to its first line."""
    for number, file in zip(order["numbers"], [_moved(one) for one in files], strict=True):
        os.dup2(file, number)
        os.close(file)
    # What is installed from the sources is found without being told, whoever asked first for what waits here.
    inherited = [one for one in _path(dict(os.environ)) if one != _SOURCES]
    os.environ.clear()
    os.environ.update(order["env"])
    os.chdir(order["folder"])
    program = order["arguments"]
    first = order["folder"] if program[0] == "-m" else str(Path(program[0]).resolve().parent)
    sys.path[:] = [first, *_path(order["env"]), *(one for one in sys.path[1:] if one not in inherited)]
    sys.argv = program[1:] if program[0] == "-m" else program
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    line_by_line = 1 if os.environ.get("PYTHONUNBUFFERED") else -1
    # As Python opens them: who closes a stream leaves its descriptor open.
    stream = partial(open, encoding="utf-8", closefd=False)
    sys.stdin = sys.__stdin__ = stream(0)  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = stream(1, "w", line_by_line)  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = stream(2, "w", 1, errors="backslashreplace")  # type: ignore[misc]
    subprocess.Popen = Popen  # type: ignore[misc]
    # Asked for once and then kept: here where TMPDIR says.
    tempfile.tempdir = None
    _draw_own_seeds()


def _draw_own_seeds() -> None:
    """Where no seed is set, each process has random numbers of its own."""
    random.seed()
    sys.modules["numpy"].random.seed()
    if "torch" in sys.modules:
        sys.modules["torch"].default_generator.seed()


def _moved(file: int) -> int:
    """The same file under a number that is nobody's."""
    moved = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, _FREE_NUMBERS)
    os.close(file)
    return moved


def _wait(framework: str, asked: socket.socket) -> None:
    # What is registered first is called last.
    atexit.register(_end_at_once)
    _import_all(framework)
    gc.freeze()
    order, files = _leave_one_waiting(framework, *_be_forked(asked))
    _become(order, files)
    program = order["arguments"]
    try:
        if program[0] == "-m":
            runpy.run_module(program[1], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(program[0], run_name="__main__")
    except SystemExit as end:
        code = 0 if end.code is None else end.code
        _end_with(code if isinstance(code, int) else 1)
        raise
    _end_with(0)


def _import_all(framework: str) -> None:
    for name in _IMPORTED[framework]:
        importlib.import_module(name)
    for name in _NEEDED:
        room = importlib.import_module(name.format(framework))
        for module in pkgutil.walk_packages(getattr(room, "__path__", ()), room.__name__ + "."):
            # What lies on the path of a user's processes is for them to run.
            if not module.name.startswith("trueline.record.site"):
                importlib.import_module(module.name)
    importlib.import_module("trueline.locale").load()


def _end_with(code: int) -> None:
    """Python ends now: without taking the frameworks apart, which is most of the time of a short training."""
    _ending.append(code)
    if _has_called:
        # A watched script's functions have been called by then, and this one with them.
        atexit.register(_end_at_once)


def _end_at_once() -> None:
    """The last of the functions that are called at the end; errors, signals and bad streams end as they always do."""
    _has_called.append(True)
    gc.collect()
    if not _ending:
        return
    try:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except (OSError, ValueError, AttributeError):
        return
    os._exit(_ending[0] & 0xFF)


if __name__ == "__main__":
    _wait(sys.argv[1], socket.socket(fileno=int(sys.argv[2])))
