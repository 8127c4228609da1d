"""A user's model in a process of its own: nothing that happens there can hurt this one."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Final, Self

from trueline.model.message import Message, message
from trueline.model.trouble import BadFile, Trouble
from trueline.pair.sides.described import Described, Loaded
from trueline.pair.sides.entry import Entry
from trueline.pair.sides.process import Died, Process
from trueline.pair.sides.trouble import SideTrouble
from trueline.pair.sides.wire import Array, Content, Garbled

# What the interpreter prints of itself when it crashes.
_LAST_WORDS: Final = ("Extension modules:", "Current thread", "Thread 0x", "File ", "<no Python frame>")


class Side:
    """The model of one entry point; every failure is one Trouble that names the side."""

    def __init__(
        self, entry: Entry, process: Process, python: str, timeout: float | None, name: str | None = None
    ) -> None:
        self.entry = entry
        self.name = name or str(entry)
        self._process = process
        self._python = python
        self._timeout = timeout
        self._building = True
        self._broken: Trouble | None = None
        self._open = True

    @classmethod
    def start(
        cls,
        entry: Entry,
        *,
        python: str | os.PathLike[str] = sys.executable,
        folder: Path | None = None,
        timeout: float | None = None,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] = MappingProxyType({}),
        name: str | None = None,
    ) -> Self:
        """Begin to build the model; two sides build at the same time, and what goes wrong shows at the first question.

        ``folder`` (by default this one) is the process's own, and the first that it imports from. A ``timeout`` holds
        for each question. ``args`` and ``kwargs`` (JSON values) are the factory's; ``name`` is what
        it is called in troubles.
        """
        home = (folder or Path.cwd()).absolute()
        try:
            process = Process(os.fspath(python), home)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise SideTrouble(
                "side.no_python", side=name or str(entry), python=os.fspath(python), reason=reason
            ) from None
        side = cls(entry, process, os.fspath(python), timeout, name)
        asked: Content = {"side": side.name, "folder": str(home), "module": entry.module, "name": entry.name}
        asked |= {"args": list(args), "kwargs": dict(kwargs)}
        with ExitStack() as undoing:
            undoing.callback(side.close)
            try:
                side._send({"do": "build", "is_file": entry.is_file, **asked})
            except Trouble as trouble:
                side._broken = trouble
            undoing.pop_all()
        return side

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The id of its process."""
        return self._process.pid

    @property
    def output(self) -> str:
        """The end of what the user's code has printed."""
        return self._process.output

    def ready(self) -> Self:
        """Wait until the model is built."""
        if self._broken is not None:
            raise self._broken
        if not self._open:
            raise ValueError(f"{self.entry} is closed")
        if self._building:
            try:
                self._receive()
                self._building = False
            except Trouble as trouble:
                self._broken = trouble
                raise
        return self

    def describe(self, *, summaries: bool = False) -> Described:
        """What the model consists of; with ``summaries`` the numbers of its values too."""
        content, _ = self.ask({"do": "describe", "summaries": summaries})
        try:
            return Described.from_json(content["described"])
        except (ValueError, KeyError) as error:
            raise self._garbled(error) from None

    def load(self, path: Path, *, strict: bool = True) -> Loaded:
        """Load a weight file the framework's own way.

        What the file or the model lacks is told, not raised; another shape is a trouble, and only told where not
        ``strict``.
        """
        content, _ = self.ask({"do": "load", "path": str(path.absolute()), "strict": strict})
        try:
            return Loaded.from_json(content["loaded"])
        except (ValueError, KeyError) as error:
            raise self._garbled(error) from None

    def forward(
        self, arrays: Sequence[Array], *, train: bool = False, perturbed: int | None = None, ulps: int = 1
    ) -> list[Array]:
        """The tensors of the output, in order; the model stays as it was.

        ``perturbed`` is a seed: inputs and layers are then moved by ``ulps`` rounding units at most.
        """
        asked = {"do": "forward", "train": train, "perturbed": perturbed, "ulps": ulps}
        return self.ask(asked, arrays)[1]

    def ops(self, arrays: Sequence[Array]) -> frozenset[str]:
        """The names of the operators that these inputs go through, in lower case."""
        content, _ = self.ask({"do": "ops"}, arrays)
        return frozenset(str(one) for one in content["ops"])

    def close(self) -> None:
        """End the process."""
        if self._open:
            self._open = False
            self._process.end()

    def ask(self, content: Content, arrays: Sequence[Array] = ()) -> tuple[Content, list[Array]]:
        """One question to the process: ``do`` says what, as ``child/host.py`` lists it."""
        self.ready()
        self._send(content, arrays)
        return self._receive()

    def _send(self, content: Content, arrays: Sequence[Array] = ()) -> None:
        self._talk(lambda: self._process.send(content, arrays, self._timeout))

    def _receive(self) -> tuple[Content, list[Array]]:
        content, arrays = self._talk(self._process.receive)
        if "trouble" in content:
            raise self._told(content["trouble"])
        if "old_python" in content:
            self._broken = SideTrouble(
                "side.old_python", side=self.name, python=self._python, version=content["old_python"]
            )
            raise self._broken
        if "internal" in content:
            raise RuntimeError(f"in the process of {self.entry}:\n{content['internal']}")
        return content, arrays

    def _talk(self, what: Any) -> Any:
        """Once a message is half through, for whatever reason, there is no going on with the process."""
        with ExitStack() as undoing:
            undoing.callback(self.close)
            try:
                found = what()
                undoing.pop_all()
                return found
            except Died as died:
                broken = self._died(died.code)
            except TimeoutError:
                broken = SideTrouble("side.timeout", side=self.name, seconds=self._timeout)
            except Garbled as error:
                broken = self._garbled(error)
            broken.output = self._process.output
            self._broken = broken
            raise broken

    def _told(self, told: Any) -> Trouble:
        params = told["params"]
        if told["id"] == "trouble.bad_file":
            return BadFile(params["path"], params["reason"])
        trouble = SideTrouble(told["id"], **params)
        trouble.output = self._process.output
        return trouble

    def _garbled(self, error: Exception) -> SideTrouble:
        return SideTrouble("side.garbled", side=self.name, reason=str(error)[:200])

    def _died(self, code: int) -> SideTrouble:
        side, said = self.name, self._last_said()
        if code >= 0:
            return SideTrouble("side.died_code", side=side, code=code, said=said)
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = str(-code)
        if -code == signal.SIGKILL:
            return SideTrouble("side.died_killed", side=side, said=said)
        return SideTrouble("side.died_signal", side=side, signal=name, said=said)

    def _last_said(self) -> Message:
        lines = [line.strip() for line in self._process.output.splitlines()]
        last = next((line for line in reversed(lines) if line and not line.startswith(_LAST_WORDS)), None)
        return message("side.said", line=last[:300]) if last is not None else message("side.said_nothing")
