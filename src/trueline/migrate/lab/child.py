"""What answers in a framework's process: calls of its API, several to a request."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

from trueline.adapters.guest.wire import Content, packed, unpacked
from trueline.adapters.lab.call import Answer, Call
from trueline.kernel.array import Array


class Host:
    """Calls one framework's API as it is asked to; whatever a call raises is its answer."""

    def __init__(self) -> None:
        self._framework = ""

    def answer(self, content: Content, arrays: list[Array]) -> tuple[Content, list[Array]]:
        """``build`` loads it, ``invoke`` makes calls, ``invoke_fresh`` in a fork, ``exists`` looks names up."""
        if content["do"] == "build":
            self._framework = content["module"]
            # Some of MindSpore's optimizers compile themselves, which takes longer than all calls of them.
            os.environ.setdefault("MS_JIT", "0")
            module = importlib.import_module(self._framework)
            if self._framework == "mindspore":
                # Synchronous: errors belong to their call, and small calls cost a twentieth.
                module.set_context(mode=module.PYNATIVE_MODE, pynative_synchronize=True)
            return {"version": str(module.__version__)}, []
        if content["do"] == "exists":
            return {"exists": [_exists(name) for name in content["names"]]}, []
        if content["do"] == "invoke_fresh":
            return _in_a_fork(lambda: self._invoked(content, arrays))
        return self._invoked(content, arrays)

    def _invoked(self, content: Content, arrays: list[Array]) -> tuple[Content, list[Array]]:
        answers: list[dict[str, Any]] = []
        found: list[Array] = []
        for asked in content["calls"]:
            call = Call(**asked["call"])
            given = [arrays[index] for index in asked["arrays"]]
            answer = self._invoke(call, given)
            answers.append(_described(answer, len(found)))
            found += [*answer.outputs, *answer.gradients.values()]
        return {"answers": answers}, found

    def _invoke(self, call: Call, arrays: list[Array]) -> Answer:
        try:
            module = importlib.import_module(f"trueline.adapters.{self._framework}.lab.{_MODULES[call.kind]}")
            answer: Answer = module.run(call, arrays)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001 - whatever an API raises is what is asked for
            return Answer(error=(type(error).__name__, str(error)[:600]))
        return answer


def _in_a_fork(invoked: Callable[[], tuple[Content, list[Array]]]) -> tuple[Content, list[Array]]:
    """Calls made in a copy of this process, which has loaded its framework and never called it."""
    reading, writing = os.pipe()
    if (pid := os.fork()) == 0:
        try:
            with os.fdopen(writing, "wb") as sink:
                for piece in packed(*invoked()):
                    sink.write(piece)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as source:
        reply = unpacked(_Pipe(source))
    os.waitpid(pid, 0)
    if reply is None:
        return {"answers": [{"first": 0, "forms": [], "gradients": [], "error": ["Crashed", ""]}]}, []
    return reply


class _Pipe:
    """The reply of a fork."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def line(self) -> bytes:
        return self._file.readline()

    def fill(self, room: memoryview) -> None:
        room[:] = self._file.read(len(room))


_MODULES = {
    "function": "functions",
    "method": "functions",
    "layer": "layers",
    "loss": "layers",
    "optimizer": "optimizers",
    "schedule": "schedules",
    "initialiser": "initialisers",
    "transform": "transforms",
    "distribution": "distributions",
    "convention": "conventions",
}


def _described(answer: Answer, first: int) -> dict[str, Any]:
    return {
        "first": first,
        "forms": list(answer.forms),
        "gradients": list(answer.gradients),
        "error": list(answer.error) if answer.error else None,
    }


def _exists(name: str) -> bool:
    from trueline.adapters.lab.names import resolve

    try:
        if name.partition(".")[0] == "torchvision":
            importlib.import_module("trueline.adapters.torch.lab.transforms").library()
        resolve(name)
    except Exception:  # noqa: BLE001 - whatever keeps a package from being imported
        return False
    finally:
        sys.stdout.flush()
    return True
