"""The list of what a run opens, from before the script starts until it has ended."""

from __future__ import annotations

import contextlib
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from trueline.formats.manifest.json_form import write_manifest
from trueline.formats.manifest.opened_log import NAMED, UNSEEN, Head, gather, rank_of_log, record
from trueline.formats.manifest.places import LOG_PATTERN, log_name, rank_list
from trueline.model.descriptor import OwnDescriptor
from trueline.model.message import Message, message
from trueline.model.trouble import Trouble
from trueline.record.arrival import on_import
from trueline.record.opened.hearing import VARIABLE, Hearing, Place, attach, listen
from trueline.record.opened.seen import Seen
from trueline.record.ranks import rank_in_environment
from trueline.record.site_path import with_site

_PATIENCE: Final = 10.0
# Packages that open files without Python hearing of it; MindSpore's readers are told of by their pipelines.
_UNSEEN: Final = (
    "cv2",
    "decord",
    "duckdb",
    "h5py",
    "lmdb",
    "netCDF4",
    "pyarrow.dataset",
    "pyarrow.parquet",
    "rasterio",
    "soundfile",
    "tensorflow",
    "torchaudio",
    "torchvision.io",
)


class OpenedFiles:
    """One process's share of the list, and that of the processes it starts."""

    def __init__(self, run: Path, roots: Sequence[str], warn: Callable[[Message], None]) -> None:
        self._warn = warn
        self._run = run
        self._rank = rank_in_environment()
        self._host = platform.node()
        self._log = run / log_name(self._host, self._rank[0], os.getpid())
        self._ends: list[Callable[[], object]] = []
        self._begun = os.getpid()
        seen, found_at = Seen.create()
        self._place = Place(str(self._log), found_at, str(run), tuple(roots), self._rank)
        self._seen = seen
        run.mkdir(parents=True, exist_ok=True)
        log = OwnDescriptor.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            # The file system's own time: it is what other files are held against.
            started = os.fstat(log.proven()).st_mtime_ns
            head = Head(self._host, os.getcwd(), started, self._rank[0], tuple(roots))  # noqa: PTH109
            log.write_all(head.to_bytes())
        finally:
            log.close()

    def hear(self, program: str | None = None) -> None:
        """Write down what Python opens in this process, in its forks and in those Python processes that it starts."""
        hearing = Hearing(self._place, self._seen, self._off, program)
        self._ends.append(listen(hearing))
        before = {name: os.environ.get(name) for name in (VARIABLE, "PYTHONPATH")}
        os.environ.update(with_site(os.environ), **{VARIABLE: self._place.to_text()})
        self._ends.append(lambda: _put_back(before))

        def named(place: str) -> None:
            if os.getpid() == self._begun:
                hearing.note(NAMED, str(Path(place).absolute()))

        def arrived(_: str) -> None:
            from trueline.adapters.mindspore.dataset_paths import watch

            self._ends.append(watch(_harmless(named, hearing)).remove)

        self._ends.append(on_import(("mindspore",), _harmless(arrived, hearing)))

    def listen(self) -> None:
        """Have the system tell what any program opens below the roots."""
        paths = [str(Path(__file__).parents[3]), *filter(None, [os.environ.get("PYTHONPATH")])]
        command = [sys.executable, "-m", "trueline.record.opened.listening"]
        ready, said = os.pipe()
        until, held = os.pipe()
        ending = OwnDescriptor(held)
        try:
            process = subprocess.Popen(
                [*command, self._place.log, self._place.seen, *self._place.roots],
                stdin=until,
                stdout=said,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
                # Ctrl-C is meant for the script.
                start_new_session=True,
            )
        except OSError as error:
            ending.close()
            os.close(ready)
            self._warn(message("manifest.cannot_listen", reason=error.strerror or str(error)))
            return
        finally:
            os.close(until)
            os.close(said)
        with os.fdopen(ready, "rb") as answer:
            if answer.readline() != b"ready\n":
                ending.close()
                self._warn(message("manifest.cannot_listen", reason=f"exit {process.wait()}"))
                return
        self._ends.append(lambda: _end(process, ending))

    def _off(self, error: Exception) -> None:
        if os.getpid() == self._begun:
            self._warn(message("manifest.off", kind=type(error).__name__, reason=str(error)[:300]))

    def end(self) -> None:
        """Hear no more. What was written down stays for whoever makes the list of it."""
        while self._ends:
            self._ends.pop()()
        unseen = [name for name in _UNSEEN if name in sys.modules]
        with contextlib.suppress(OSError):
            log = OwnDescriptor.open(self._log, os.O_WRONLY | os.O_APPEND)
            try:
                log.write_all(b"".join(record(UNSEEN, name.encode()) for name in unseen))
            finally:
                log.close()

    def finish(self, *, all_ranks: bool = False) -> None:
        """Make the list of this rank, or of all ranks whose launcher has ended on this machine."""
        self.end()
        logs = {self._rank[0]: [self._log]}
        if all_ranks:
            logs = {}
            for log in sorted(self._run.glob(LOG_PATTERN.replace("*", f"{_host_part(self._log)}*", 1))):
                logs.setdefault(rank_of_log(log), []).append(log)
        for rank, group in logs.items():
            self._make(rank, group)

    def _make(self, rank: int, logs: Sequence[Path]) -> None:
        try:
            found = gather(logs)
            if found is not None:
                place = rank_list(self._run, rank)
                place.parent.mkdir(parents=True, exist_ok=True)
                write_manifest(place, found)
            for log in logs:
                log.unlink(missing_ok=True)
        except (OSError, Trouble) as error:
            self._warn(message("manifest.off", kind=type(error).__name__, reason=str(error)[:300]))


def _host_part(log: Path) -> str:
    return log.name.removeprefix(".opened-").rsplit("-", 2)[0] + "-"


def _harmless(tell: Callable[[str], None], hearing: Hearing) -> Callable[[str], None]:
    def told(text: str) -> None:
        try:
            tell(text)
        except Exception as error:  # noqa: BLE001 - the user's import and pipeline must succeed whatever happens here
            hearing.turn_off(error)

    return told


def _put_back(before: Mapping[str, str | None]) -> None:
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _end(process: subprocess.Popen[bytes], ending: OwnDescriptor) -> None:
    """What it has heard is written down before it ends."""
    ending.close()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def begin(
    run: Path,
    roots: Sequence[str],
    warn: Callable[[Message], None],
    *,
    program: str | None = None,
    hears: bool = True,
    listens: bool = True,
) -> OpenedFiles | None:
    """Begin a list, or say why there is none; ``program`` is the script, which is no data."""
    try:
        found = OpenedFiles(run, roots, warn)
        if listens and roots:
            found.listen()
        if hears:
            found.hear(program)
    except OSError as error:
        warn(message("manifest.off", kind=type(error).__name__, reason=error.strerror or str(error)))
        return None
    return found


def join_or_begin(run: Path, roots: Sequence[str], warn: Callable[[Message], None]) -> OpenedFiles | None:
    """In a process below a launcher: part of the list of the process that has started it, where both are one rank."""
    place = Place.in_environment()
    if place is not None and place.rank == rank_in_environment():
        attach()
        return None
    return begin(run, roots, warn, listens=False)
