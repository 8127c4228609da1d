"""Inside a repeated run: told of every seed, fresh generator and draw, with the user's line, and having a say in it."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from trueline.model.descriptor import OwnDescriptor
from trueline.model.json_value import Json
from trueline.model.location import Location
from trueline.model.numbers import plain
from trueline.record.run_mode import RandomnessPlan
from trueline.repro.frames import asking_file, is_installed, is_ours, is_standard, is_users, users_line

_PLAIN = (int, float, str)
_FRAMEWORKS = ("torch", "mindspore")


class Tap:
    """Leaves word in a file that forked data workers write to as well."""

    def __init__(self, plan: RandomnessPlan) -> None:
        self.plan = plan
        self.fixing = False
        self.fetching = False
        self.began = False
        self._file = OwnDescriptor.open(plan.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._process = os.getpid()
        self._thread = threading.get_ident()
        self._seen: set[object] = set()
        self._counts: Counter[str] = Counter()
        self._states: dict[str, tuple[Callable[[], object], object]] = {}

    def tell(self, told: str, line: Location | None = None, **fields: Json) -> None:
        """One line of JSON."""
        place = {"file": line.file, "line": line.line} if line is not None else {"file": None, "line": None}
        try:
            self._file.write_all((json.dumps({"told": told, **place, **fields}) + "\n").encode())
        except (OSError, ValueError):
            # A script may close what it has not opened; its run must not end for that.
            return

    @property
    def moment(self) -> str:
        """What the script is doing: building, fetching data, here or in a worker, or training."""
        if os.getpid() != self._process:
            return "worker"
        if self.fetching or threading.get_ident() != self._thread:
            return "data"
        return "train" if self.began else "build"

    # ---- what the script does

    def seeding(self, stream: str, value: Any) -> Any:
        """A generator of the process is seeded: with what instead. None is a seed of the system's choice."""
        asking = asking_file()
        if self.fixing or is_ours(asking):
            return value
        self._check_moved(stream)
        if is_installed(asking) and any(f"/{name}/" in asking for name in _FRAMEWORKS):
            # A framework hands its own seed on, in a data worker for example.
            return value
        if value is None:
            drawn = self.fresh(stream, ask=False)
            return None if drawn is None else drawn % 2**32
        line = users_line()
        site = _site(stream, line)
        number = self._count(site)
        kept = value if isinstance(value, _PLAIN) and not isinstance(value, bool) else None
        self.tell("seed", line, stream=stream, site=site, number=number, value=kept)
        pins = self.plan.pins.get(site, ())
        return pins[number] if self.plan.fixed and number < len(pins) else value

    def fresh(self, kind: str, *, ask: bool = True) -> int | None:
        """A generator is made without a seed: the bits it is to begin with, or None where the system chooses."""
        if ask:
            asking = asking_file()
            if is_ours(asking) or is_standard(asking):
                # Names of temporary files and the like.
                return None
        line = users_line()
        site = _site(kind, line)
        number = self._count(site)
        if number == 0 and line is not None:
            self.tell("fresh", line, stream=kind, site=site, moment=self.moment)
        # In which order threads come by is chance.
        elsewhere = threading.get_ident() != self._thread and os.getpid() == self._process
        return self.plan.drawn(site, 0 if elsewhere else number) if self.plan.fixed else None

    def drew(self, stream: str) -> None:
        """Something was drawn from a generator of the process."""
        line = users_line()
        key = (stream, self.moment, line)
        if line is not None and key not in self._seen:
            self._seen.add(key)
            self.tell("draw", line, stream=stream, moment=self.moment)

    def looked_at_clock(self, line: Location) -> None:
        """The user's code has asked for the time."""
        if ("clock", line) not in self._seen:
            self._seen.add(("clock", line))
            self.tell("clock", line)

    def built(self, kind: str, facts: Mapping[str, object]) -> None:
        """A loader, or a part of a data pipeline, was built."""
        line = users_line()
        if line is not None:
            self.tell("loader", line, kind=kind, **plain(facts))

    def warned(self, text: str) -> None:
        """Something has no deterministic implementation."""
        if text not in self._seen:
            self._seen.add(text)
            self.tell("warning", users_line(), text=text[:300])

    # ---- whether a stream was used as it was found

    def arrived(self, stream: str, state: Callable[[], object] | None = None) -> None:
        """A generator of the process is there, and its state as it is now."""
        self.tell("stream", stream=stream)
        if state is not None:
            self._states[stream] = (state, state())

    def _check_moved(self, stream: str) -> None:
        found = self._states.pop(stream, None)
        if found is not None and found[0]() != found[1]:
            self.tell("moved", stream=stream)

    def finish(self) -> None:
        """Say which generators were drawn from without having been seeded, and which files the user's code is in."""
        for stream in list(self._states):
            self._check_moved(stream)
        for module in list(sys.modules.values()):
            file = getattr(module, "__file__", None)
            if isinstance(file, str) and file.startswith("/") and file.endswith(".py") and is_users(file):
                self.tell("source", path=file)

    def _count(self, site: str) -> int:
        number = self._counts[site]
        self._counts[site] += 1
        return number


def _site(stream: str, line: Location | None) -> str:
    return f"{stream}:{line.file}:{line.line}" if line is not None else f"{stream}:"
