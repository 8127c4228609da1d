"""Dump folders of MindSpore and msprobe: read, watched through, compared."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
from fuzz.case import Target
from fuzz.mutators.framed import NPY
from fuzz.mutators.text import JSON, TEXT, by_ending
from fuzz.targets.verbs import each
from fuzz.targets.weights import PTH

_MSPROBE = Path(__file__).resolve().parents[2] / "formats" / "msprobe"
_FEW = 12


def _read(folder: Path, whole: bool) -> None:
    """What watch and compare do with a dump."""
    from trueline.watch.dump import watch_dump

    path = folder / "dump"
    if whole:
        each(
            ("watch", str(path)),
            ("compare", str(path), str(path), "--json"),
        )
        return
    found = watch_dump(path)
    found.finding().to_json("en")


def _msprobe(folder: Path) -> None:
    """As msprobe itself wrote them; a few tensors are enough."""
    for one in sorted(_MSPROBE.iterdir()):
        if not one.is_dir():
            continue
        step = one / "step0"
        place = folder / one.name / "dump" / "step0"
        for path in sorted(step.rglob("*")):
            kept = path.is_file() and (path.suffix == ".json" or sum(1 for _ in place.rglob("*.*")) < _FEW)
            if kept:
                target = place / path.relative_to(step)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)


def _ms_dump(folder: Path) -> None:
    place = folder / "1" / "dump" / "rank_0" / "Net" / "0" / "0"
    place.mkdir(parents=True)
    order = folder / "1" / "dump" / "rank_0" / "execution_order"
    order.mkdir()
    scopes = ["Default/network-Net/head-Dense/MatMul-op0", "Default/network-Net/ratio-Ratio/Div-op0"]
    (order / "ms_execution_order_graph_0.csv").write_text(
        "NodeExecutionOrder-FullNameWithScope\n" + "".join(f"{one}\n" for one in scopes)
    )
    (order / "ms_global_execution_order_graph_0.csv").write_text("0\n1\n")
    for at, scope in enumerate(scopes):
        op = scope.rpartition("/")[2].partition("-")[0]
        name = scope.replace("/", "_")
        for part, value in (("input.0", 1.0), ("input.1", 0.0), ("output.0", np.inf if at else 1.0)):
            file = f"{op}.{name}.0.0.{17 + at}.{part}.DefaultFormat.Float32.npy"
            np.save(place / file, np.full((2, 3), value, np.float32))
    long = f"MatMul.{scopes[0].replace('/', '_')}.0.0.30.output.0.DefaultFormat.Float32.npy"
    np.save(place / "123.npy", np.ones(3, np.float32))
    (place / "mapping.csv").write_text(f"123.npy,{long}\n")


TARGETS = (
    Target("msprobe", _msprobe, _read, by_ending({".json": JSON, ".npy": NPY, ".pt": PTH})),
    Target("ms_dump", _ms_dump, _read, by_ending({".csv": TEXT, ".npy": NPY, ".json": JSON}), real=("ms_dump",)),
)
