"""What may not happen while a foreign file is read: told by the interpreter's own audit events."""

from __future__ import annotations

import dis
import os
import sys
import sysconfig
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, Final

import numpy as np

_IMPORT_NAME: Final = dis.opmap["IMPORT_NAME"]
_NEVER: Final = (
    *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "os.kill", "os.spawn"),
    *(
        "socket.",
        "pickle.find_class",
        "marshal.loads",
        "shutil.unpack_archive",
        "ctypes.dlopen",
        "urllib.",
        "ftplib",
        "http.",
    ),
    *("webbrowser.open", "pty.spawn", "os.putenv", "os.startfile", "sqlite3.load_extension", "code.__new__", "smtplib"),
)
_WRITES: Final = frozenset(
    ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.chmod", "os.chown", "os.truncate", "os.link", "os.symlink",
     "os.utime", "shutil.rmtree", "shutil.move", "shutil.copyfile", "os.setxattr", "os.mkfifo")
)  # fmt: skip
# What a library may look at: its own code and data, and what the system tells of itself.
_OWN: Final = tuple(
    dict.fromkeys(
        (
            *(sysconfig.get_path(one) for one in ("stdlib", "platstdlib", "purelib", "platlib")),
            *(sys.prefix, sys.base_prefix, str(Path(__file__).parents[2] / "src"), str(Path(np.__file__).parents[1])),
            *(
                "/proc/self",
                "/sys/",
                "/etc/localtime",
                "/usr/share/zoneinfo",
                "/dev/null",
                "/usr/lib",
                "/lib",
                "/proc/",
            ),
            *("/usr/share/fonts", "/usr/local/share/fonts", "/etc/mime.types"),
        )
    )
)


class Broken(BaseException):
    """Something was done that a reader never does; no handler of the product's may take it for a fault of a file."""


class Guard:
    """The audit hook of a worker; it judges only while ``on``."""

    def __init__(self) -> None:
        self.on = False
        self.seen: str | None = None
        # Folders, of which everything may be read and written.
        self.allowed: tuple[str, ...] = ()
        self._judging = False
        sys.addaudithook(self._hear)

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.on or self._judging:
            return
        self._judging = True
        try:
            reason = self._judge(event, args)
        finally:
            self._judging = False
        if reason is not None:
            self.seen = self.seen or f"{event}: {reason}"
            raise Broken(self.seen)

    def _judge(self, event: str, args: tuple[Any, ...]) -> str | None:
        if event == "open":
            return self._open(*args[:3])
        if event in ("compile", "exec"):
            return None if (_by_import() and not _by_foreign_name()) or _parses() else str(args[:1])[:200]
        if event == "import":
            return _import(str(args[0]))
        if event == "os.kill" and args[1] == 0:
            # No signal: whether a process is there.
            return None
        if event in _WRITES:
            fine = self._inside(args[0]) or isinstance(args[0], int)
            return None if fine else str(args)[:200]
        if event in ("os.listdir", "os.scandir", "sqlite3.connect"):
            return None if self._inside(args[0]) or _is_own(args[0]) or _by_import() else str(args)[:200]
        if event.startswith(_NEVER) and not _by_import():
            return str(args)[:200]
        return None

    def _open(self, path: Any, mode: Any, flags: Any) -> str | None:
        if isinstance(path, int) or self._inside(path):
            return None
        writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        if not writes and (_is_own(path) or _by_import()):
            return None
        if os.fsdecode(path) == os.devnull:
            return None
        return f"{os.fsdecode(path)!r} {mode!r}"

    def _inside(self, path: Any) -> bool:
        if isinstance(path, int) or path is None:
            return True
        text = os.path.normpath(os.path.join(os.getcwd(), os.fsdecode(path).removeprefix("file://")))  # noqa: PTH109, PTH118
        return text.startswith(self.allowed)


@cache
def the_guard() -> Guard:
    """The only one of a process: a hook cannot be taken away."""
    return Guard()


def _is_own(path: Any) -> bool:
    try:
        text = os.path.abspath(os.fsdecode(path))  # noqa: PTH100
    except (TypeError, ValueError):
        return False
    return text.startswith(_OWN)


def _frames() -> list[FrameType]:
    found = []
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and len(found) < 400:
        if frame.f_code.co_filename != __file__:
            found.append(frame)
        frame = frame.f_back
    return found


def _by_import() -> bool:
    """Whether this is part of importing a module, which was judged by itself."""
    return any(one.f_code.co_filename.startswith("<frozen importlib") for one in _frames())


def _by_foreign_name() -> bool:
    """Whether the import is no statement but a call, with a name that is not one of our modules'."""
    for frame in _frames():
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            continue
        if frame.f_code.co_name == "import_module" and frame.f_code.co_filename.endswith("/importlib/__init__.py"):
            return not str(frame.f_locals.get("name")).startswith(_OUR_OWN)
        return False
    return False


def _parses() -> bool:
    """Whether Python's own parser makes a syntax tree, which runs nothing."""
    first = next(iter(_frames()), None)
    return first is not None and first.f_code.co_filename.endswith(("/ast.py",)) and first.f_code.co_name == "parse"


def _import(name: str) -> str | None:
    """An import is the code's own where it is written there as a statement; else it may be one of our modules'."""
    if name.partition(".")[0] in ("torch", "mindspore"):
        return name
    frames = _frames()
    for frame in frames:
        if frame.f_lasti >= 0 and frame.f_code.co_code[frame.f_lasti] == _IMPORT_NAME:
            return None
        if not frame.f_code.co_filename.startswith("<frozen importlib"):
            break
    if name.startswith(_OUR_OWN) or any("_handle_fromlist" in one.f_code.co_name for one in frames[:3]):
        return None
    # Compiled code imports what it needs by name: it has no frame of its own.
    return None if name.partition(".")[0] in _NATIVE else name


_OUR_OWN: Final = ("trueline.", "encodings.", "PIL.", "rich._unicode_data.", ".unicode")
_NATIVE: Final = frozenset(("numpy", "pyarrow", "duckdb", "msgspec", "pandas", "datetime", "decimal", "uuid", "zoneinfo",
                            "_strptime", "unicodedata", "_io", "io", "collections", "re", "enum", "warnings", "linecache",
                            "tokenize", "_pydatetime", "pytz", "xxhash", "orjson", "locale"))  # fmt: skip
