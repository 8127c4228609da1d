"""A folder with several trainings: each is asked about by itself, and the one that a run is of where there is a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from trueline.checks.engine.running import EvidenceByKind
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Finding
from trueline.model.message import Message, message
from trueline.script.script import Script


def script_in(evidence: EvidenceByKind, name: str) -> Script | None:
    """The script that is evidence of this kind."""
    script = evidence.get(name)
    return script if isinstance(script, Script) else None


def run_in(evidence: EvidenceByKind, name: str) -> Run | None:
    """The run that is evidence of this kind."""
    run = evidence.get(name)
    return run if isinstance(run, Run) else None


def of_each_program(evidence: EvidenceByKind) -> Sequence[EvidenceByKind]:
    """The evidence once for every program of the script; of a benchmark the one that belongs to it."""
    script, bench = script_in(evidence, "script"), script_in(evidence, "bench_script")
    if script is None:
        return [evidence]
    spread = []
    for program in _of_run(script, run_in(evidence, "run")):
        own = {**evidence, "script": program}
        if bench is not None:
            own["bench_script"] = _counterpart(program, bench, run_in(evidence, "bench_run"))
        spread.append(own)
    return spread


def _of_run(script: Script, run: Run | None) -> Sequence[Script]:
    """The programs; only the one that was recorded, where that can be told."""
    programs = script.programs
    if run is None or len(programs) < 2:
        return programs
    ran = [PurePath(name).as_posix() for name in run.info.sources]
    recorded = [program for program in programs if any(_is_called(program, name) for name in ran)]
    return recorded if len(recorded) == 1 else programs


def _is_called(program: Script, name: str) -> bool:
    return len(program.entries) == 1 and program.entries[0].path.as_posix().endswith(f"/{name.lstrip('/')}")


def _counterpart(script: Script, bench: Script, run: Run | None) -> Script:
    """Of several programs of a benchmark the one with the same name of file, else the benchmark as a whole."""
    programs = _of_run(bench, run)
    if len(programs) == 1:
        return programs[0]
    names = {file.path.name for file in script.entries}
    alike = [program for program in programs if {file.path.name for file in program.entries} == names]
    return alike[0] if len(alike) == 1 else bench


def not_read(evidence: EvidenceByKind) -> Iterator[Message]:
    """What is to be told of scripts that could not be read as a whole."""
    for name in ("script", "bench_script"):
        script = script_in(evidence, name)
        if script is None:
            continue
        for file in script.unread:
            yield message("check.not_read", file=file.shown, reason=file.trouble)
        if script.left_out:
            yield message("check.left_out", count=script.left_out)
        if script.trace.cut_short:
            yield message("check.cut_short", file=script.entries[0].shown)


def new_in(findings: Sequence[Finding], earlier: Sequence[Finding]) -> list[Finding]:
    """What was not told of an earlier program: another item, conclusion, place, or in other words."""
    known = {_said(finding) for finding in earlier}
    return [finding for finding in findings if _said(finding) not in known]


def _said(finding: Finding) -> tuple[object, ...]:
    return finding.code, finding.conclusion, finding.message.text(), finding.where, finding.because, finding.error
