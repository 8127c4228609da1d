"""Every fault that a recorded run shows is found in it, and nothing else; in healthy runs nothing is."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import warm
from checks.beginnings import told_early
from checks.fixtures import Fixture, RunMark, all_fixtures, chosen
from launching import IN_ORDER, trueline

from trueline.checks.engine.checklist import fill_in
from trueline.checks.engine.listing import all_checks
from trueline.checks.engine.placing import placed
from trueline.checks.engine.roots import with_roots
from trueline.checks.engine.running import ask_all
from trueline.checks.engine.sources import Sources
from trueline.formats.run_folder.reader import open_run
from trueline.model.finding import Finding, roots
from trueline.script.script import read_script

MARKED = [one for one in all_fixtures() if one.run is not None]
_RANK = {"torch": "RANK", "mindspore": "MS_NODE_ID"}


def record(script: Path, framework: str, mark: RunMark, folder: Path) -> Path:
    """Record a script, all ranks at once; the folder of the run."""
    folder.mkdir(exist_ok=True)
    if mark.launched:
        launcher = _launcher(framework, mark.ranks)
        trueline("run", "--quiet", "-o", "run", *mark.options, *launcher, str(script), cwd=folder, env=IN_ORDER)
        return folder / "run"
    arguments = ["run", "--quiet", "-o", "run", *mark.options, str(script)]
    meeting = _meeting(framework, mark.ranks)

    def record_rank(rank: int) -> None:
        named = {_RANK[framework]: str(rank), "RANK_ID": str(rank), **meeting} if mark.ranks > 1 else {}
        done = trueline(*arguments, cwd=folder, env={**IN_ORDER, **named}, forked=framework)
        assert done.returncode == 0, done.stderr[-3000:]

    with _scheduler(script, framework, meeting, folder), ThreadPoolExecutor(mark.ranks) as at_once:
        list(at_once.map(record_rank, range(mark.ranks)))
    return folder / "run"


def _launcher(framework: str, ranks: int) -> list[str]:
    """A framework's own."""
    folder = Path(sys.executable).parent
    if framework == "torch":
        return [str(folder / "torchrun"), "--standalone", f"--nproc_per_node={ranks}"]
    port = f"--master_port={_free_port()}"
    return [str(folder / "msrun"), f"--worker_num={ranks}", f"--local_worker_num={ranks}", "--join=True", port]


def _meeting(framework: str, ranks: int) -> dict[str, str]:
    """The environment in which processes find each other."""
    if framework == "torch":
        return {"WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": _free_port()}
    named = {"MS_WORKER_NUM": str(ranks), "MS_SCHED_HOST": "127.0.0.1", "MS_SCHED_PORT": _free_port()}
    return {**named, "MS_ROLE": "MS_WORKER", "RANK_SIZE": str(ranks)}


@contextmanager
def _scheduler(script: Path, framework: str, meeting: dict[str, str], folder: Path) -> Iterator[None]:
    """What processes of MindSpore meet at, for scripts that let them meet."""
    if framework != "mindspore" or "init()" not in script.read_text("utf-8"):
        yield
        return
    line, env = [sys.executable, str(script)], {**os.environ, **meeting, "MS_ROLE": "MS_SCHED"}
    nowhere = subprocess.DEVNULL
    with warm.Popen(line, framework=framework, cwd=folder, env=env, stdout=nowhere, stderr=nowhere) as scheduler:
        try:
            yield
        finally:
            scheduler.kill()


def _free_port() -> str:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


def told(findings: list[Finding]) -> str:
    """The findings as lines, for a test that fails."""
    return "\n".join(f"{one.code} {one.conclusion} {one.message.text()} {one.where}" for one in findings)


@pytest.mark.parametrize("fixture", chosen(MARKED), ids=lambda one: one.name)
def test_a_recorded_run_shows_what_it_is_marked_with(tmp_path: Path, fixture: Fixture) -> None:
    mark = fixture.run
    assert mark is not None
    evidence: dict[str, Any] = {"run": open_run(record(fixture.path, fixture.framework, mark, tmp_path / "own"))}
    if mark.bench is not None:
        evidence["bench_run"] = open_run(record(mark.bench, fixture.framework, mark, tmp_path / "bench"))
    findings = with_roots(placed(ask_all(all_checks(), evidence), Sources()))
    crashed = [f"{one.code}: {one.error}" for one in findings if one.error is not None]
    assert not crashed
    problems = roots(findings)
    assert {one.code for one in problems} == mark.codes, told(problems) + "\n---\n" + told(findings)
    if fixture.together:
        whole = fill_in(all_checks(), {**evidence, "script": read_script([fixture.path])}).problems
        own = {code for code, _ in fixture.together}
        assert {(one.code, one.where.line) for one in whole if one.code in own} == set(fixture.together), told(whole)
    early = roots(told_early(evidence["run"].path, tmp_path / "early", steps=5))
    assert {one.code for one in early} <= {one.code for one in findings if one.conclusion == "found"}, told(early)


def test_every_marked_script_says_what_its_name_says() -> None:
    for one in MARKED:
        assert one.run is not None
        assert one.good is not bool(one.run.codes), one.name
