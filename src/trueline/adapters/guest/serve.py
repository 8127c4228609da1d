"""The request loop of a guest's process, until its pipe is closed."""

from __future__ import annotations

import faulthandler
import importlib
import os
import select
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Mapping
from typing import BinaryIO, Protocol

from trueline.adapters.guest.segments import Channel
from trueline.adapters.guest.wire import Content, packed, unpacked
from trueline.kernel.array import Array
from trueline.model.trouble import Trouble


class Host(Protocol):
    """Holds the user's objects and answers requests about them."""

    def answer(self, content: Content, arrays: list[Array]) -> tuple[Content, list[Array]]: ...


def serve(requests: int, replies: int, beside: int | None, host_module: str) -> None:
    """Answer requests; the user's code prints to its own streams, never into the replies."""
    faulthandler.enable()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    threading.Thread(target=_end_with_parent, args=(requests,), daemon=True).start()
    source = _Pipe(os.fdopen(requests, "rb"))
    channel = Channel(socket.socket(fileno=beside)) if beside is not None else None
    with os.fdopen(replies, "wb") as sink:
        host: Host = importlib.import_module(host_module).Host()
        while (request := unpacked(source, channel)) is not None:
            content, arrays = _answer(host, *request)
            for piece in packed(content, arrays, channel):
                sink.write(piece)
            sink.flush()


def _answer(host: Host, content: Content, arrays: list[Array]) -> tuple[Content, list[Array]]:
    try:
        return host.answer(content, arrays)
    except Trouble as trouble:
        return {"trouble": {"id": trouble.message.id, "params": _texts(trouble.message.params)}}, []
    except Exception:  # noqa: BLE001 - TrueLine's own fault, which the parent must hear of
        return {"internal": traceback.format_exc(limit=-6)}, []


def _texts(params: Mapping[str, object]) -> dict[str, int | float | str]:
    return {name: value if isinstance(value, (int, float)) else str(value) for name, value in params.items()}


def _end_with_parent(requests: int) -> None:
    """When the parent is gone, terminate this process and all that it has started, whatever it is doing."""
    waiting = select.poll()
    waiting.register(requests, 0)
    while not (happened := next((events for _, events in waiting.poll()), 0)):
        pass
    if happened & select.POLLNVAL:
        # The user's code has closed what was not its own.
        os._exit(1)
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


class _Pipe:
    """Messages of the parent."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def line(self) -> bytes:
        return self._file.readline()

    def fill(self, room: memoryview) -> None:
        while len(room):
            count = self._file.readinto(room)  # type: ignore[attr-defined]
            if not count:
                raise EOFError
            room = room[count:]
