"""Checks the blind pairs: correct ports agree with their benchmark, and every planted fault can be seen.

Run it in this folder's own Python path, for the pairs of this folder or of another one beside it:
`python tests/eval/ports/blind/check_blind.py [--folder blind_later] [NET or FAULT ...]`.
"""

import argparse
import importlib.util
import sys
import tempfile
import tomllib
import warnings
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
from observe import Seen, inputs_of, network_seen, parts_seen
from sides import MindSporeSide, Side, TorchSide

PORTS = Path(__file__).parents[1]
SAME = 2e-4
SEEN = 2e-6


def loaded(name: str, text: str, folder: Path) -> dict[str, Any]:
    """The names of a Python file with this text."""
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return vars(module)


def level(a: Any, b: Any, least: float = 0.0) -> float:
    """How far `a` is from `b`, relative to b's largest number; infinite if they do not even compare.

    Gradients that cancel out are noise: in a group of arrays each is measured against a hundredth of the largest.
    """
    if isinstance(b, dict):
        if a.keys() != b.keys():
            return float("inf")
        least = max((1e-2 * float(np.abs(array).max(initial=0.0)) for array in b.values()), default=0.0)
        return max((level(a[k], b[k], least) for k in b), default=0.0)
    if isinstance(b, list):
        if len(a) != len(b):
            return float("inf")
        return max((level(x, y) for x, y in zip(a, b, strict=True)), default=0.0)
    if isinstance(b, str | tuple):
        return 0.0 if a == b else float("inf")
    if a.shape != b.shape:
        return float("inf")
    top = max(least, float(np.abs(b).max(initial=0.0)))
    return float(np.abs(a.astype(float) - b.astype(float)).max(initial=0.0)) / (top or 1.0)


def init_level(a: Seen, b: Seen) -> float:
    """How far apart the first weights' means, spreads and largest values are, in units of what chance explains."""
    worst = 0.0
    for name in a.keys() & b.keys():
        (mean_a, std_a, _, size), (mean_b, std_b, _, _) = a[name], b[name]
        spread = max(std_a, std_b)
        if spread == 0:
            worst = max(worst, 0.0 if abs(mean_a - mean_b) < 1e-7 else 99.0)
            continue
        chance = spread * (2 / size) ** 0.5
        worst = max(worst, abs(mean_a - mean_b) / chance, abs(std_a - std_b) / (chance * 0.71))
    return worst


def differences(a: Seen, b: Seen) -> dict[str, float]:
    """The level of each kind of observation."""
    return {kind: init_level(a[kind], b[kind]) if kind == "init" else level(a[kind], b[kind]) for kind in b}


class Pair:
    """A pair of networks and their parts, and what the correct port does."""

    def __init__(self, name: str, about: dict[str, Any], home: Path, folder: Path) -> None:
        self.name, self.home, self.folder = name, home, folder
        self.bench_framework = about.get("bench", "torch")
        self.port_framework = "mindspore" if self.bench_framework == "torch" else "torch"
        self.inputs = inputs_of(about["inputs"])
        self.texts = {"port": self.text(self.port_framework), "parts": self.text("parts") if about.get("parts") else ""}
        self.paths: set[str] = set()
        self.correct = self.seen(self.texts, "port", "network") | self.seen(self.texts, "port", "parts")

    def text(self, which: str) -> str:
        """What stands in a file of the pair."""
        return (self.home / f"{self.name}_{which}.py").read_text(encoding="utf-8")

    def has(self, wanted: str) -> bool:
        """Whether the port has such a module; a star stands for any one part of its path."""
        parts = wanted.split(".")
        split = (path.split(".") for path in self.paths)
        return any(len(one) == len(parts) and all(map(fnmatchcase, one, parts)) for one in split)

    def seen(self, texts: dict[str, str], who: str, what: str) -> Seen:
        """What the benchmark or the port with these texts does."""
        framework = self.port_framework if who == "port" else self.bench_framework
        text = texts["port"] if who == "port" else self.text(framework)
        build = loaded(f"{self.name}_{framework}", text, self.folder)["build"]
        side: Side = TorchSide(self.name, build) if framework == "torch" else MindSporeSide(self.name, build)
        if who == "port" and not self.paths:
            self.paths = side.paths()
        if what == "network":
            return network_seen(side, self.inputs)
        return (
            parts_seen(side, loaded(f"{self.name}_parts", texts["parts"], self.folder), who) if texts["parts"] else {}
        )

    def check(self) -> list[str]:
        """What is wrong with the correct port."""
        bench = self.seen(self.texts, "bench", "network") | self.seen(self.texts, "bench", "parts")
        found = differences(self.correct, bench)
        found.pop("noisy")
        print(f"{self.name}: " + ", ".join(f"{kind} {value:.1e}" for kind, value in found.items()), flush=True)
        wrong = [kind for kind, value in found.items() if value > (5.0 if kind == "init" else SAME)]
        return [f"{self.name}: {kind} differs" for kind in wrong]


def edited(texts: dict[str, str], fault: dict[str, Any]) -> dict[str, str]:
    """The texts with the fault in them."""
    text, count = texts[fault["file"]], fault.get("count", 1)
    if text.count(fault["old"]) != count:
        raise SystemExit(f"{fault['name']}: found {text.count(fault['old'])} times, not {count}")
    return texts | {fault["file"]: text.replace(fault["old"], fault["new"])}


def shown(pair: Pair, fault: dict[str, Any]) -> list[str]:
    """Where the fault can be seen."""
    what = "network" if fault["file"] == "port" else "parts"
    try:
        seen = pair.seen(edited(pair.texts, fault), "port", what)
    except (RuntimeError, ValueError, TypeError) as error:
        return [f"STOPS: {str(error).splitlines()[0]}"]
    found = differences(seen, {kind: pair.correct[kind] for kind in seen})
    return [f"{kind} {value:.1e}" for kind, value in found.items() if value > (6.0 if kind == "init" else SEEN)]


def main(home: Path, chosen: set[str]) -> int:
    """Prints what was seen; 1 if a correct port differs or a fault cannot be seen."""
    warnings.simplefilter("ignore")
    sys.dont_write_bytecode = True
    plan = tomllib.loads((home / "faults.toml").read_text(encoding="utf-8"))
    faults = {fault["name"]: fault for fault in plan["fault"]}
    troubles: list[str] = []
    if len(faults) != len(plan["fault"]):
        troubles.append("two faults have one name")
    with tempfile.TemporaryDirectory() as folder:
        pairs: dict[str, Pair] = {}
        for name, about in plan["net"].items():
            if not chosen or name in chosen or any(f in chosen and faults[f]["net"] == name for f in faults):
                pairs[name] = Pair(name, about, home, Path(folder))
            if name in pairs and (not chosen or name in chosen):
                troubles += pairs[name].check()
        for name, fault in faults.items():
            if chosen and name not in chosen and fault["net"] not in chosen:
                continue
            where = shown(pairs[fault["net"]], fault)
            print(f"  {name}: {', '.join(where) or 'NOT SEEN'}", flush=True)
            if not where or where[0].startswith("STOPS"):
                troubles.append(f"{name}: not seen")
            troubles += [f"{name}: no module {p}" for p in fault["modules"] if not pairs[fault["net"]].has(p)]
        for port in plan["port"]:
            nets = {faults[name]["net"] for name in port["faults"]}
            if len(nets) != 1:
                troubles.append(f"{port['name']}: faults of more than one network")
            pair = pairs.get(nets.pop())
            texts = pair.texts if pair else {}
            for name in port["faults"] if pair else []:
                texts = edited(texts, faults[name])
    print("\n".join(troubles) or "all as it should be")
    return 1 if troubles else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Checks blind pairs and their faults.")
    parser.add_argument("--folder", default="blind")
    parser.add_argument("chosen", nargs="*")
    options = parser.parse_args()
    sys.exit(main(PORTS / options.folder, set(options.chosen)))
