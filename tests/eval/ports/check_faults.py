"""Checks the table itself, without the finder: correct ports are the same as their benchmark, every fault is seen.

python tests/eval/ports/check_faults.py [names or beginnings of them]
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "migrate" / "networks")]

import mindspore
import numpy as np
import seen_mindspore
import seen_parts
import seen_torch
import torch
from carried import pairs
from moved_values import moved
from planted import NETS, Port, Written, ports_of, write_port

from trueline.pair.sides.inputs import make_inputs, parse_input

NEAR, FAR, SMALL = 3e-4, 1e-3, 2e-6
BUILDS = 6


def main() -> int:
    """Every port, or those whose name begins with what is given."""
    wanted = tuple(sys.argv[1:]) or ("",)
    bad = 0
    for port in ports_of(NETS, every=True):
        if not port.name.startswith(wanted):
            continue
        with tempfile.TemporaryDirectory() as place:
            written = write_port(port, Path(place))
            if len(port.faults) > 1:
                continue
            found = differences(port, written)
        wrong = bool(found) if not port.faults else not found
        bad += wrong
        print("WRONG" if wrong else "ok   ", port.name, "; ".join(found)[:160], flush=True)
    return 1 if bad else 0


def differences(port: Port, written: Written) -> list[str]:
    """In what the port and its benchmark differ, in short words."""
    bench = _loaded(written.folder / port.net.file("bench"))
    own = _loaded(written.folder / port.net.file("port"))
    correct = _loaded(port.net.folder / port.net.file("port"))
    here, there = _seen(port.net.bench), _seen(port.net.port)
    names = pairs(here.state(bench.build()), there.state(correct.build()))
    files = {fault.file for fault in port.faults} or {"port", "parts"}
    found = []
    if "port" in files:
        found += _networks(bench.build(), own.build(), here, there, names, port)
        found += _fresh(bench, own, here, there, names)
        if there.dropout(own.build()) != there.dropout(correct.build()):
            found.append("dropout")
        found = found or _changed(correct.build(), own.build(), there, port)
    if "parts" in files and written.parts is not None:
        parts = _loaded(written.parts)
        nets = {"bench": bench.build(), "port": correct.build()}
        there.load(nets["port"], _carried(here.state(nets["bench"]), there.state(nets["port"]), names))
        found += seen_parts.differences(parts, nets, {"bench": port.net.bench, "port": port.net.port}, names)
    return found


def _seen(framework: str) -> Any:
    return seen_mindspore if framework == "mindspore" else seen_torch


def _loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _networks(bench: Any, port: Any, here: Any, there: Any, names: Mapping[str, str], table: Port) -> list[str]:
    arrays = moved(here.state(bench), 1)
    here.load(bench, arrays)
    own = there.state(port)
    found = [f"extra {name}" for name in own if name not in names]
    found += [f"missing {name}" for name in names if name not in own]
    found += [f"shape {name}" for name in names if name in own and own[name].size != arrays[names[name]].size]
    there.load(port, _carried(arrays, own, names))
    trained = {names.get(name, name) for name in there.trainable(port)}
    found += [f"trainable {name}" for name in sorted(trained ^ set(here.trainable(bench)))]
    inputs = _inputs(table)
    limit = FAR if table.faults else NEAR
    return found + _apart(here.behaviour(bench, inputs), _renamed(there.behaviour(port, inputs), names), limit)


def _changed(correct: Any, port: Any, seen: Any, table: Port) -> list[str]:
    """What a fault of small effect changes: the faulty port beside the correct one, small and large inputs too."""
    if not table.faults:
        return []
    arrays, found = moved(seen.state(correct), 1), []
    for net in (correct, port):
        seen.load(net, arrays)
    for scale in (1, 1e-3, 30):
        inputs = [one * scale if one.dtype.kind == "f" else one for one in _inputs(table)]
        inputs = [one.astype(np.float32) if one.dtype.kind == "f" else one for one in inputs]
        found += _apart(seen.behaviour(correct, inputs), seen.behaviour(port, inputs), SMALL)
    return found


def _inputs(table: Port) -> list[np.ndarray]:
    return make_inputs([parse_input(text) for text in table.net.inputs], 3)


def _carried(
    arrays: Mapping[str, np.ndarray], own: Mapping[str, np.ndarray], names: Mapping[str, str]
) -> dict[str, np.ndarray]:
    """What the port takes of the benchmark's arrays, in its own names and shapes."""
    fitting = {name: arrays[other] for name, other in names.items() if name in own}
    return {name: one.reshape(own[name].shape) for name, one in fitting.items() if one.size == own[name].size}


def _renamed(arrays: Mapping[str, np.ndarray], names: Mapping[str, str]) -> dict[str, np.ndarray]:
    found = {}
    for key, array in arrays.items():
        kind, _, name = key.partition("/")
        found[f"{kind}/{names.get(name, name)}"] = array
    return found


def _apart(bench: Mapping[str, np.ndarray], port: Mapping[str, np.ndarray], limit: float) -> list[str]:
    found = []
    # A gradient far below the others is what rounding leaves of none: a bias before a norm has that.
    least = {
        "grad": 1e-2 * max((float(np.abs(one).max()) for key, one in bench.items() if key[:4] == "grad"), default=0)
    }
    for key in dict.fromkeys([*bench, *port]):
        one, other = bench.get(key), port.get(key)
        if one is None or other is None:
            left = one if other is None else other
            assert left is not None
            if np.abs(left).max() > max(least.get(key[:4], 0.0), NEAR):
                found.append(f"{key} on one side")
        elif one.size != other.size:
            found.append(f"{key} {one.shape} {other.shape}")
        else:
            scale = max(float(np.abs(one).max()), least.get(key[:4], 0.0), 1e-6)
            far = float(np.abs(one - other.reshape(one.shape)).max()) / scale
            if far > limit:
                found.append(f"{key} {far:.1e}")
    return found


def _fresh(bench: ModuleType, port: ModuleType, here: Any, there: Any, names: Mapping[str, str]) -> list[str]:
    """Whether both sides draw alike: mean, spread and farthest value over several builds."""
    ones, others = _drawn(bench, here), _drawn(port, there)
    found = []
    for name, other in names.items():
        if name not in others or others[name].size != ones[other].size:
            continue
        one, two = ones[other].astype(np.float64).ravel(), others[name].astype(np.float64).ravel()
        spread, count = one.std(), one.size
        far = abs(two.std() - spread) > (0.05 + 4 / count**0.5) * spread + 1e-9
        far |= abs(one.mean() - two.mean()) > 6 * spread / count**0.5 + 1e-9
        reach = [np.abs(x - x.mean()).max() / max(x.std(), 1e-9) for x in (one, two)]
        far |= bool(count > 1000 and min(reach) < 2 < max(reach))
        if far:
            found.append(f"fresh {name}")
    return found


def _drawn(module: ModuleType, seen: Any) -> dict[str, np.ndarray]:
    states = []
    for seed in range(BUILDS):
        torch.manual_seed(seed)
        mindspore.set_seed(seed)
        np.random.seed(seed)
        states.append(seen.state(module.build()))
    return {name: np.stack([state[name] for state in states]) for name in states[0]}


if __name__ == "__main__":
    sys.exit(main())
