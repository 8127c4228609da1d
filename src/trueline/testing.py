"""A pytest plugin: the fixture ``check_training`` records a few steps of a training and wants nothing to be found.

```python
def test_it_trains(check_training):
    check_training(train, steps=10)                       # a function, called with what else is given
    check_training("train.py", "--epochs", "1")           # a script, run in this process
```

pytest loads it in every project: nothing but pytest is imported before the fixture is used.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from trueline.checks.engine.check import Check
    from trueline.checks.engine.checklist import Checklist
    from trueline.checks.engine.settings import Settings
    from trueline.model.message import Message
    from trueline.record.recording import Recording

STEPS: Final = 20
_WIDTH: Final = 100
Training = Callable[..., Any] | str | os.PathLike[str]


@pytest.fixture
def check_training(tmp_path_factory: pytest.TempPathFactory) -> CheckTraining:
    """Records the first steps of a training and fails the test where the checklist finds something in them."""
    return CheckTraining(lambda: tmp_path_factory.mktemp("trueline") / "run")


class CheckTraining:
    """What the fixture hands out, to be called with a function or a script; ``folder`` makes places for runs."""

    def __init__(self, folder: Callable[[], Path]) -> None:
        self._folder = folder

    def __call__(
        self,
        training: Training,
        *args: Any,
        steps: int = STEPS,
        select: Sequence[str] = (),
        ignore: Sequence[str] = (),
        **kwargs: Any,
    ) -> Checklist:
        """Train, at most so many steps; the filled-in checklist, where nothing was found.

        ``select`` and ``ignore`` name items or families; without them the project's pyproject.toml counts.
        """
        from trueline.checks.engine.during import is_provisional
        from trueline.checks.engine.settings import find_settings, read_settings
        from trueline.model.trouble import Trouble

        script, code = None if callable(training) else Path(training), 0
        try:
            settings = read_settings(find_settings(script.parent if script is not None else Path.cwd()))
            checks = _chosen(select, ignore, settings)
            folder = self._folder()
            with _recording(folder, steps) as recording:
                code = _run_script(script, args) if script is not None else _call(training, args, kwargs)
        except Trouble as trouble:
            pytest.fail(str(trouble), pytrace=False)
        if code:
            pytest.fail(_said("testing.script_failed", script=str(script), code=code), pytrace=False)
        if recording.off is not None:
            pytest.fail(recording.off.text(), pytrace=False)
        if not recording.steps:
            pytest.fail(_said("testing.no_step"), pytrace=False)
        filled = _filled(checks, settings, folder, script)
        if recording.steps >= steps:
            # It was ended here: what it may still have set right is not known.
            filled = replace(filled, findings=[finding for finding in filled.findings if not is_provisional(finding)])
        if filled.problems:
            pytest.fail(_text(filled, folder), pytrace=False)
        return filled


def _chosen(select: Sequence[str], ignore: Sequence[str], settings: Settings) -> list[Check]:
    """Those that a few steps can answer, unless they are asked for by name."""
    from trueline.checks.engine.checklist import chosen
    from trueline.checks.engine.listing import during_run

    checks = chosen(select or settings.select, ignore if select else [*ignore, *settings.ignore])
    return [way for way in checks if way.code in select or during_run(way.code).asked or "run" not in way.evidence]


@contextmanager
def _recording(folder: Path, steps: int) -> Iterator[Recording]:
    """Record what trains inside, and end it after so many steps."""
    from trueline.model.key import Phase
    from trueline.record.launch import ScriptEnded
    from trueline.record.recording import Recording
    from trueline.record.session import warn
    from trueline.record.wanted import Wanted

    ended = False
    recording = Recording(Wanted(folder), warn)

    def step_finished(phase: Phase, step: int, _events: object) -> None:
        nonlocal ended
        if phase is Phase.TRAIN and step + 1 >= steps and not ended:
            ended = True
            raise ScriptEnded

    def arrived() -> None:
        if recording.recorder is not None and not heard:
            heard.append(recording.recorder)
            recording.recorder.subscribe(step_finished)

    heard: list[Any] = []
    recording.begin(arrived)
    try:
        yield recording
    except ScriptEnded:
        pass
    finally:
        # The last step is closed here, and must not end anything.
        ended = True
        recording.finish(0)


def _call(training: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> int:
    training(*args, **kwargs)
    return 0


def _run_script(script: Path, args: Sequence[Any]) -> int:
    """As ``python script args…`` in this process, which is afterwards as before."""
    from trueline.record.launch import run_script

    argv, path, main = list(sys.argv), list(sys.path), sys.modules["__main__"]
    try:
        return run_script(str(script), [str(one) for one in args])
    finally:
        sys.argv[:], sys.path[:], sys.modules["__main__"] = argv, path, main


def _filled(checks: Sequence[Check], settings: Settings, folder: Path, script: Path | None) -> Checklist:
    from trueline.checks.engine.checklist import fill_in
    from trueline.checks.engine.gathering import Gathered

    gathered = Gathered()
    gathered.add([str(folder), *([str(script)] if script is not None else [])])
    return fill_in(checks, gathered.evidence, settings.limits, looked_at=gathered.looked_at, notes=gathered.notes)


def _text(filled: Checklist, folder: Path) -> str:
    """Why the test fails: what was found, where, and what to do."""
    import io

    from trueline.checks.engine.report import conclusion_of
    from trueline.model.finding import Conclusion
    from trueline.model.message import message
    from trueline.model.report import Report, Text
    from trueline.report.terminal import render_report

    found = [one for one in filled.findings if one.conclusion is Conclusion.FOUND]
    more: list[Message] = [*filled.notes, message("testing.run_is_in", folder=str(folder))]
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    report = Report(message("check.title"), conclusion_of(filled), found, [Text(one) for one in more])
    render_report(report, stream, width=_WIDTH)
    stream.seek(0)
    return stream.read().rstrip()


def _said(id: str, **params: Any) -> str:
    from trueline.model.message import Message

    return Message(id, params).text()
