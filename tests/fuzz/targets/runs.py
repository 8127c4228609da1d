"""Run folders: opened, listed, shown, compared, checked, and asked what a replay would do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from fuzz.case import Target
from fuzz.mutators.run_files import RUN_FOLDER
from fuzz.targets.verbs import each


def _touch(run: Any) -> None:
    for number in run.ranks[:4]:
        rank = run.rank(number)
        _ = rank.params, rank.modules, rank.calls, rank.finished, rank.hits
        for _event in rank.events():
            pass
        for name in ("loss", "lr", "grad_norm", "scale", "seconds"):
            rank.curve(name)
            rank.curve(name, "eval")
        for key in list(rank.keys)[:20]:
            rank.history(key)
        for step in range(3):
            rank.stats(step)
        for step in list(rank.tensor_steps)[:3]:
            for array in rank.tensors(step).values():
                array.tobytes()
    for kept in list(run.info.sources.values())[:3]:
        run.source(kept)


def _read(folder: Path, whole: bool) -> None:
    """What show, runs, compare, check, data and replay do, but for running anything."""
    from trueline.formats.run_folder.noise import read_measured
    from trueline.formats.run_folder.reader import open_run
    from trueline.report.run.overview import overview_of

    path = folder / "run"
    if whole:
        each(
            ("runs", str(folder), "--json"),
            ("show", str(path)),
            ("show", str(path), "--json"),
            ("show", str(path), "--step", "0", "--json"),
            ("show", str(path), "--key", "*", "--events", "--json"),
            ("compare", str(path), str(path), "--json"),
            ("check", str(path), "--json"),
            ("data describe", str(path), "--json"),
        )
        return
    run = open_run(path)
    _touch(run)
    read_measured(path)
    overview_of(run, next(iter(run.ranks), None)).to_json()
    _states(run)


def _states(run: Any) -> None:
    from trueline.replay.source import source_of, way_to
    from trueline.replay.trust import foreign

    if not run.ranks or not (run.rank(run.ranks[0]).path / "state").exists():
        return
    source = source_of(run)
    foreign(source.started, {"A": "b"})
    way_to(source, None, 0)
    for step in source.states.steps[:3]:
        source.states.state(step)
        source.states.ends(step)
        for one in source.states.fetches(step)[:3]:
            source.states.batch(step, one["serial"])


def _seeds(folder: Path) -> None:
    from formats.run_folder.made_run import write_run

    from trueline.formats.run_folder.states import Kept, StatesWriter

    for number, length in enumerate((3, 9)):
        path = folder / str(number) / "run"
        write_run(path, length, close=bool(number))
        rank = path / "rank-00000"
        (rank / "hits.jsonl").write_text('{"code": "nf.01", "step": 1, "module": "conv", "kind": "nan"}\n')
        if number:
            continue
        states = StatesWriter(rank)
        command = {
            "script": "train.py", "args": [], "as_module": False, "cwd": str(folder), "executable": "python", "python": "3.11",
            "environment": {"A": "b"}, "withheld": [],
        }  # fmt: skip
        states.write_command(command)
        tree = {
            "format": 1, "framework": "numpy", "things": [{"kind": "module", "type": "Net"}], "plain": {"0": {"a": 1}},
            "lost": [], "place": 0, "waiting": [], "counters": {"train": 1}, "ended_before": [], "begins_at": {"0": [0, 0]},
        }  # fmt: skip
        states.write_state(1, Kept(tree, {"0.weight": np.ones((2, 2), np.float32)}))
        fetch = {
            "serial": 0,
            "loader": 0,
            "iteration": 0,
            "tree": ["a", 0],
            "indexes": [1, 2],
            "random": {},
            "lost": [],
        }
        states.write_batch(1, 0, {"x": np.arange(4)})
        states.write_fetches(1, [fetch])


TARGETS = (Target("run_folder", _seeds, _read, RUN_FOLDER, real=("run_folder",), whole_every=20, memory=2 << 30),)
