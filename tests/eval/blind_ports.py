"""A set of ports with verified truth, written by someone who has not seen the finder: what ``trueline pair`` names.

    python tests/eval/blind_ports.py SET --answers FOLDER [--only ID,…] [--jobs N] [--again]

SET holds cases.json (bench, port, inputs, label, causes with their lines), nets/ and deps/. Answers are kept in FOLDER
and not asked for again unless ``--again`` says so. A cause is named where a finding stands at one of its lines, and
confirmed where that finding is; which kind of cause it is called is for a reader to judge. Nothing of a set is kept
here; its first rate goes into docs/tables/first_look.md.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_PLACE = re.compile(r"(?:.*/)?([^/]+\.py):(\d+)(?:-(\d+))?")
# True of a port, and no part of its truth where that speaks of values in evaluation.
_BESIDE = ("initialisation", "dropout", "momentum")


@dataclass
class Rates:
    """What a set counts."""

    causes: int = 0
    named: int = 0
    confirmed: int = 0
    differing: int = 0
    whole: int = 0
    equal: int = 0
    silent: int = 0
    refused: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.named} of {self.causes} causes at their line, {self.confirmed} confirmed there; all causes of "
            f"{self.whole} of {self.differing} ports; {self.silent} of {self.equal} equal ports with true differences "
            f"only; {len(self.refused)} refused"
        )


def main() -> int:
    """Ask where there is no answer yet, then judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=Path)
    parser.add_argument("--answers", type=Path, required=True)
    parser.add_argument("--only", default="", help="ids or their beginnings, comma-separated")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--again", action="store_true")
    asked = parser.parse_args()
    asked.answers.mkdir(parents=True, exist_ok=True)
    wanted = tuple(asked.only.split(",")) if asked.only else ("",)
    cases = [
        case for case in json.loads((asked.set / "cases.json").read_text("utf-8")) if case["id"].startswith(wanted)
    ]
    with ThreadPoolExecutor(asked.jobs) as pool:
        answers = list(pool.map(lambda case: answered(case, asked), cases))
    rates = Rates()
    for case, answer in zip(cases, answers, strict=True):
        print("\n".join(judged(case, answer, rates)))
    print(rates)
    return 0


def answered(case: dict[str, Any], asked: argparse.Namespace) -> dict[str, Any]:
    """What pair answers to a case; ``refused`` where it gives no answer."""
    kept = asked.answers / f"{case['id']}.json"
    if asked.again or not kept.exists():
        kept.write_text(json.dumps(_asked(case, asked.set.resolve())), "utf-8")
    found: dict[str, Any] = json.loads(kept.read_text("utf-8"))
    return found


def _asked(case: dict[str, Any], folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "trueline", "pair", "--json", "--bench", case["bench"], "--port", case["port"]]
    for given in case["inputs"]:
        command += ["--input", given]
    for name in ("bench_kwargs", "port_kwargs"):
        if case.get(name):
            command += [f"--{name.replace('_', '-')}", json.dumps(case[name])]
    paths = [*filter(None, [os.environ.get("PYTHONPATH")]), str(folder / "nets"), str(folder / "deps")]
    with tempfile.TemporaryDirectory() as place:
        told = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            cwd=place,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
    if told.returncode not in (0, 1):
        return {"refused": (told.stderr.strip().splitlines() or ["?"])[-1]}
    found: dict[str, Any] = json.loads(told.stdout)
    return found


def judged(case: dict[str, Any], answer: dict[str, Any], rates: Rates) -> Iterator[str]:
    """A case's answer held against its truth, in lines."""
    equal = case["label"] == "equal"
    rates.equal, rates.differing = rates.equal + equal, rates.differing + (not equal)
    rates.causes += len(case["causes"])
    if "refused" in answer:
        rates.refused.append(case["id"])
        yield f"{case['id']} ({case['label']}): refused: {answer['refused']}"
        return
    told = [one for one in answer["findings"] if one["conclusion"] == "found" and one["code"] != "pr.10"]
    yield f"{case['id']} ({case['label']}): {len(told)} findings"
    used: set[int] = set()
    sure = True
    for cause in case["causes"]:
        hits = [place for place, one in enumerate(told) if _is_at(one, cause["where"])]
        confirmed = any(told[place]["confirmed"] for place in hits)
        used.update(hits)
        sure = sure and confirmed
        rates.named, rates.confirmed = rates.named + bool(hits), rates.confirmed + confirmed
        yield f"  {'confirmed' if confirmed else 'named' if hits else 'MISSED'}: {cause['what']} {cause['where']}"
        yield from (f"    as {_said(told[place])}" for place in hits)
    others = [one for place, one in enumerate(told) if place not in used]
    yield from (f"  besides {_said(one)}" for one in others if one["cause"] != "initialisation")
    rates.whole += sure and not equal
    rates.silent += equal and all(one["cause"] in _BESIDE for one in others)


def _is_at(finding: dict[str, Any], places: list[str]) -> bool:
    where = finding["where"]
    for place in places:
        found = _PLACE.match(place)
        if found is not None and where["file"] is not None and Path(where["file"]).name == found[1]:
            first = int(found[2])
            if first <= where["line"] <= int(found[3] or first):
                return True
    return False


def _said(finding: dict[str, Any]) -> str:
    where = finding["where"]
    place = f"{Path(where['file']).name}:{where['line']}" if where["file"] else "no line"
    sure = "confirmed" if finding["confirmed"] else "not confirmed"
    return f"{finding['cause']} at {place}, {sure}: {finding['message'][:200]}"


if __name__ == "__main__":
    sys.exit(main())
