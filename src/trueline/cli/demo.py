"""``trueline demo``: a network, its port with a mistake and the corrected one, from recording to the line at fault."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import click

from trueline.cli.verb import Verb
from trueline.model.message import Message, message
from trueline.model.report import Text
from trueline.model.result import Exit
from trueline.model.trouble import BadUsage, Missing, Trouble

if TYPE_CHECKING:
    from trueline.compare.runs import RunComparison

_NEEDED: Final = {"torch": "torch", "mindspore": "mindspore", "sklearn": "scikit-learn"}
_STEPS: Final = 44
_AT_ONCE: Final = 2
_TAIL: Final = 5
_PLANTED_IN: Final = "layer2.conv1"
_RUNS: Final = {
    "torch": ("train_torch.py",),
    "fault": ("train_mindspore.py", "--fault", "pad_same"),
    "fixed": ("train_mindspore.py",),
}


class DemoFailed(Trouble):
    """One of the demo's scripts did not come to its end."""


@click.command("demo", cls=Verb, help="demo.about")
@click.option("--keep", metavar="DIR", type=click.Path(path_type=Path, file_okay=False), help="demo.keep")
def command(keep: Path | None) -> int:
    """Tell the whole story."""
    _require_packages()
    examples = find_examples()
    with _folder(keep) as folder, _ended_in_order():
        _tell(message("demo.story"))
        # A copy: the recorder takes a script inside an installed package for a library, and keeps no source of it.
        scripts = folder.resolve() / "scripts"
        shutil.copytree(examples, scripts, ignore=shutil.ignore_patterns("__pycache__"))
        _record_all(scripts, folder)
        return _show(folder, keep)


def find_examples() -> Path:
    """The digits example: in the installed package, or beside the sources of a checkout."""
    package = Path(__file__).resolve().parent.parent
    places = [package / "examples" / "digits", package.parent.parent / "examples" / "digits"]
    for place in places:
        if (place / "train_torch.py").is_file():
            return place
    raise Missing("demo.no_examples", folder=str(places[0]))


def _require_packages() -> None:
    lacking = [package for name, package in _NEEDED.items() if find_spec(name) is None]
    if lacking:
        raise Missing("demo.needs", packages=", ".join(lacking), install=_what_to_install(lacking))


def _what_to_install(lacking: Sequence[str]) -> str:
    """MindSpore breaks on NumPy 2, although its metadata allows it."""
    return " ".join([*lacking, *(["'numpy<2'"] if "mindspore" in lacking else [])])


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is None:
        with TemporaryDirectory(prefix="trueline-demo-") as folder:
            yield Path(folder)
        return
    try:
        keep.mkdir(parents=True, exist_ok=True)
        used = any(keep.iterdir())
    except OSError as error:
        raise BadUsage("trouble.bad_file", path=str(keep), reason=error.strerror or str(error)) from None
    if used:
        raise BadUsage("demo.folder_used", folder=str(keep))
    yield keep


_children: list[subprocess.Popen[str]] = []


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """A demo that is told to end takes its child processes and its folder with it."""

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _record_all(scripts: Path, folder: Path) -> None:
    weights = (folder / "initial-weights.npz").resolve()
    _tell(message("demo.making_weights"))
    _run([sys.executable, str(scripts / "train_torch.py"), "--epochs", "0", "--save-weights", str(weights)])
    _tell(message("demo.recording", count=len(_RUNS), steps=_STEPS))

    def record(name: str) -> float:
        began = time.monotonic()
        script, *arguments = _RUNS[name]
        recorder = [sys.executable, "-m", "trueline", "run", "-o", str((folder / name).resolve())]
        kept = ["--tensors", "--inputs", "--steps", "0:2"]
        trained = ["--weights", str(weights), "--epochs", "1", "--steps", str(_STEPS), *arguments]
        _run([*recorder, *kept, str(scripts / script), *trained])
        return time.monotonic() - began

    # Threads only wait here: each run is a process of its own.
    with ThreadPoolExecutor(_AT_ONCE) as pool, ExitStack() as undoing:
        undoing.callback(_stop, pool)
        for name, seconds in zip(_RUNS, pool.map(record, _RUNS), strict=True):
            _tell(message("demo.recorded", what=message(f"demo.what_{name}").text(), seconds=round(seconds)))
        undoing.pop_all()


def _stop(pool: ThreadPoolExecutor) -> None:
    """Nobody waits for the rest."""
    pool.shutdown(wait=False, cancel_futures=True)
    for child in list(_children):
        child.kill()


def _run(command: Sequence[str]) -> None:
    # One thread per process: the frameworks' pools would fight for the cores, and the numbers would depend on them.
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    child = subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    _children.append(child)
    try:
        said, _ = child.communicate()
    finally:
        child.kill()
        _children.remove(child)
    if child.returncode:
        tail = " | ".join(said.strip().splitlines()[-_TAIL:])
        raise DemoFailed("demo.failed", code=child.returncode, command=" ".join(command), tail=tail)


def _show(folder: Path, keep: Path | None) -> int:
    # NumPy and rich are loaded when there is work, not for --help.
    from trueline.compare.report.runs import conclusion, report
    from trueline.report.terminal import render_report

    _tell(message("demo.comparing"))
    port, corrected = _compare(folder, "fault"), _compare(folder, "fixed")
    _tell(message("demo.pairing"))
    cause = _confirmed_cause(folder.resolve() / "scripts")
    found = port.first is not None and port.first.pair.a.module == _PLANTED_IN and cause is not None
    if found:
        lesson = [Text(message("demo.meaning", module=_PLANTED_IN)), *([Text(cause)] if cause is not None else [])]
    else:
        lesson = [Text(message("demo.not_found", module=_PLANTED_IN))]
    told = report(port)
    render_report(replace(told, blocks=(*told.blocks, *lesson)), sys.stdout)
    print()
    print(message("demo.corrected", conclusion=conclusion(corrected).text()))
    print(message("demo.now_yours"))
    if keep is not None:
        print(message("demo.kept", folder=str(keep)))
    return Exit.FINE if found and not corrected.differs else Exit.PROBLEM


def _confirmed_cause(scripts: Path) -> Message | None:
    """Both networks side by side: the planted mistake by name, tried, and the edit that takes it away."""
    from trueline.pair.api import pair

    paired = pair(
        "model_torch:DigitsNet",
        "model_mindspore:DigitsNet",
        "2x1x8x8",
        port_kwargs={"fault": "pad_same"},
        folder=scripts,
        steps=0,
    )
    for blame in paired.blames:
        if blame.confirmed and blame.module == _PLANTED_IN and blame.edit is not None:
            numbers = {"before": f"{blame.measured or 0:.1g}", "after": f"{blame.left or 0:.1g}"}
            return message("demo.confirmed", sentence=blame.message, edit=blame.edit, **numbers)
    return None


def _compare(folder: Path, name: str) -> RunComparison:
    from trueline.compare.runs import compare_runs
    from trueline.formats.run_folder.reader import open_run

    return compare_runs(open_run(folder / name), open_run(folder / "torch"))


def _tell(line: Message) -> None:
    print(line.text(), file=sys.stderr, flush=True)
