"""Running the command that was just run once more, apart from this process and out of sight."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from trueline.model.trouble import BadUsage
from trueline.record.launch import run_module, run_script
from trueline.record.launchers import find_launcher
from trueline.record.ranks import rank_in_environment
from trueline.record.run_mode import RunMode
from trueline.record.wanted import Wanted

if TYPE_CHECKING:
    from trueline.adapters.guest.tail import Tail

_TAIL_BYTES = 4096
_PATIENCE_SECONDS = 0.5
# By its path: a script's process must not find more modules loaded than it has loaded itself.
_KEEPER = Path(__file__).parents[1] / "adapters" / "guest" / "keeper.py"
_KEEPER_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class Ended:
    """How a repeated run ended: its exit code and the last line it wrote."""

    code: int
    last_line: str


@dataclass(frozen=True, slots=True)
class Running:
    """A command that was started once more."""

    process: subprocess.Popen[bytes]
    tail: Tail

    def is_over(self, seconds: float) -> bool:
        """Whether it has ended by itself; asked for so long."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def ended(self) -> Ended:
        """How it ended, once it has."""
        return Ended(self.process.wait(), self.tail.last_line(_PATIENCE_SECONDS))


@dataclass(frozen=True, slots=True)
class Command:
    """A script with its arguments, and the world in which it was started: made before the script can change that."""

    script: str
    args: Sequence[str]
    as_module: bool
    folder: Path = field(default_factory=Path.cwd)
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    def run(self, wanted: Wanted, mode: RunMode) -> Ended:
        """Record the first steps of it again; whatever it has started ends with it."""
        with self.started(wanted, mode) as running:
            running.process.wait()
        return running.ended()

    @contextmanager
    def started(self, wanted: Wanted, mode: RunMode) -> Iterator[Running]:
        """It runs in the block, recorded, in this mode; it ends with the block."""
        # Not before: a script's process must not find NumPy loaded that it has not loaded itself.
        from trueline.adapters.guest.tail import Tail

        process = subprocess.Popen(
            kept("run", *_options(wanted), *self.script_line()),
            cwd=self.folder,
            env={**self.environment, **mode.environment()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert process.stdout is not None
        tail = Tail(process.stdout, _TAIL_BYTES)
        try:
            yield Running(process, tail)
        finally:
            end_group(process)

    def run_here(self) -> int:
        """Run it in this process, and return its exit code."""
        return (run_module if self.as_module else run_script)(self.script, self.args)

    def script_line(self) -> list[str]:
        """The script and its arguments as they stand on a command line."""
        return [*(["-m"] if self.as_module else []), self.script, *self.args]


def command_to_repeat(wanted: Wanted, script: str, args: Sequence[str], *, as_module: bool) -> Command:
    """The command, or a BadUsage where it cannot be run again by itself."""
    if _is_of_ranks(script, as_module):
        raise BadUsage("run.no_noise_of_ranks")
    if wanted.graph_dump:
        raise BadUsage("run.no_noise_of_graph_dump")
    return Command(script, args, as_module)


def check_one_process(script: str, *, as_module: bool) -> None:
    """A BadUsage for what starts or is one of several ranks."""
    if _is_of_ranks(script, as_module):
        raise BadUsage("repro.no_ranks")


def _is_of_ranks(script: str, as_module: bool) -> bool:
    return (not as_module and find_launcher(script) is not None) or rank_in_environment()[1] > 1


def _options(wanted: Wanted) -> list[str]:
    flags = {
        "--stats": wanted.stats,
        "--tensors": wanted.tensors,
        "--inputs": wanted.inputs,
        "--grads": wanted.grads,
        "--weights": wanted.weights,
    }
    chosen = [name for name, given in flags.items() if given]
    steps = ",".join(f"{start}:{'' if stop is None else stop}:{stride}" for start, stop, stride in wanted.steps.parts)
    patterns = [part for pattern in wanted.modules for part in ("--modules", pattern)]
    seed = ["--deterministic", str(wanted.seed)] if wanted.seed is not None else []
    return ["--quiet", "--no-source", "-o", str(wanted.folder), "--steps", steps, *chosen, *patterns, *seed]


def kept(*arguments: str) -> list[str]:
    """The command line of a TrueLine with which all ends that is started there: see ``keeper.py``."""
    keeper = [sys.executable, "-I", "-S", str(_KEEPER), str(_PATIENCE_SECONDS)]
    return [*keeper, sys.executable, "-m", "trueline", *arguments]


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Data workers and daemons may outlive the process that has started them; its keeper ends them."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGTERM)
    end = time.monotonic() + _PATIENCE_SECONDS
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_PATIENCE_SECONDS + _KEEPER_SECONDS)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        # Where there is no keeper, those in the group have the same time.
        while time.monotonic() < end:
            os.killpg(process.pid, 0)
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
