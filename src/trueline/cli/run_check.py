"""``trueline run --check``: the checklist while a script runs, and filled in when it has ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trueline.cli.script_verb import say, show_beside
from trueline.model.message import message
from trueline.model.result import Exit
from trueline.model.trouble import Trouble
from trueline.record.stderr_line import write_beside

if TYPE_CHECKING:
    from trueline.checks.engine.check import Check
    from trueline.checks.engine.checklist import Checklist
    from trueline.checks.engine.during import During
    from trueline.checks.engine.settings import Settings
    from trueline.model.finding import Finding
    from trueline.record.recorder import Recorder


@dataclass(frozen=True, slots=True)
class Ended:
    """The checklist, None where there was nothing to fill it in from, and how the command ends after a good script."""

    checklist: Checklist | None
    exit: Exit

    @property
    def findings(self) -> Sequence[Finding]:
        """Those of the answer."""
        return self.checklist.findings if self.checklist is not None else ()

    def to_json(self) -> dict[str, object] | None:
        """What the answer of ``run`` says of it."""
        from trueline.checks.engine.report import result

        return dict(result(self.checklist).fields) if self.checklist is not None else None


class RunCheck:
    """The checks around one run.

    Nothing is loaded for them before a framework is there: a script must find the world that it finds without.
    """

    def __init__(self, folder: Path, script: Path | None, *, quiet: bool) -> None:
        from trueline.checks.engine.settings import find_settings

        self._folder = folder
        # The script may go to another folder.
        self._script = script.absolute() if script is not None else None
        self._quiet = quiet
        self._written = find_settings(script.parent if script is not None else Path.cwd())
        self._chosen: tuple[list[Check], Settings] | None = None
        self._during: During | None = None
        self._refused = False

    def hear(self, recorder: Recorder | None) -> None:
        """Follow what a recorder writes, from when a framework has arrived on."""
        if recorder is not None and self._during is None and (during := self.during) is not None:
            recorder.subscribe(during.step_finished)

    @property
    def during(self) -> During | None:
        """What asks while the run grows."""
        if self._during is None and (chosen := self._ready()) is not None:
            from trueline.checks.engine.during import During

            self._during = During(self._folder, chosen[0], chosen[1].limits, say)
        return self._during

    def look(self) -> None:
        """Ask, where the run is another process's."""
        if (during := self.during) is not None:
            during.look()

    def finish(self) -> Ended:
        """Fill in the checklist from what was recorded and, where it is one file, from the script."""
        chosen = self._ready()
        if chosen is None:
            return Ended(None, Exit.BAD_INPUT)
        from trueline.checks.engine.checklist import fill_in
        from trueline.checks.engine.gathering import Gathered

        gathered = Gathered()
        try:
            gathered.add([str(self._folder)])
        except Trouble as trouble:
            say(message("check.nothing_to_check", reason=str(trouble)))
            return Ended(None, Exit.BAD_INPUT)
        try:
            gathered.add([_shown(self._script)] if self._script is not None else [])
        except Trouble as trouble:
            say(message("check.without_script", reason=str(trouble)))
        checks, settings = chosen
        filled = fill_in(checks, gathered.evidence, settings.limits, looked_at=gathered.looked_at, notes=gathered.notes)
        self._show(filled)
        from trueline.checks.engine.report import exit_of

        return Ended(filled, exit_of(filled))

    def _ready(self) -> tuple[list[Check], Settings] | None:
        """The checks and the project's settings; where these make no sense, that is said once."""
        if self._chosen is None and not self._refused:
            from trueline.checks.engine.checklist import chosen
            from trueline.checks.engine.settings import read_settings

            try:
                settings = read_settings(self._written)
                self._chosen = chosen(settings.select, settings.ignore), settings
            except Trouble as trouble:
                self._refused = True
                say(message("check.nothing_to_check", reason=str(trouble)))
        return self._chosen

    def _show(self, checklist: Checklist) -> None:
        from trueline.checks.engine.report import conclusion_of, report

        if self._quiet:
            if checklist.problems:
                say(conclusion_of(checklist))
            return
        write_beside("\n")
        show_beside(report(checklist))


def _shown(script: Path) -> str:
    return str(script.relative_to(Path.cwd()) if script.is_relative_to(Path.cwd()) else script)
