"""A set of trainings that break a law or only look like it: what ``trueline run`` and ``trueline check`` say of each.

    python tests/eval/silent_errors.py SET --answers FOLDER [--only ID,…] [--jobs N] [--again] [--told]

SET holds cases.json and programs/. Each is recorded unchanged (under its launcher, where it has one), then script and
run are checked together. A law is seen where a problem or a suspicion stands at one of the case's lines; it is named
where a problem does. A near-miss is silent where no problem is found. Answers are kept in FOLDER and not asked for
again unless ``--again`` says so. ``--told`` shows every finding: only of a set that may be read.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

_SECONDS = 240.0
# What a set of made-up data is not about: how much there is of it and how long it is trained.
_BESIDE = ("hp.", "ds.", "pf.")


def main() -> int:
    """Ask where there is no answer yet, then judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=Path)
    parser.add_argument("--answers", type=Path, required=True)
    parser.add_argument("--only", default="", help="ids or their beginnings, comma-separated")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--told", action="store_true")
    asked = parser.parse_args()
    asked.answers.mkdir(parents=True, exist_ok=True)
    wanted = tuple(asked.only.split(",")) if asked.only else ("",)
    cases = [
        case for case in json.loads((asked.set / "cases.json").read_text("utf-8")) if case["id"].startswith(wanted)
    ]
    with ThreadPoolExecutor(asked.jobs) as pool:
        answers = list(pool.map(lambda case: answered(case, asked), cases))
    counts: Counter[tuple[str, str]] = Counter()
    for case, answer in zip(cases, answers, strict=True):
        verdict = judged(case, answer)
        counts[case["law"], f"{case['kind']} {verdict}"] += 1
        counts["all", f"{case['kind']} {verdict}"] += 1
        if asked.told:
            print(f"{case['id']} ({case['law']}, {case['kind']}): {verdict}; {case['what']} {case['lines']}")
            print("\n".join(f"    {_said(finding)}" for finding in _findings(answer)))
    for (law, verdict), count in sorted(counts.items()):
        print(f"{law}: {verdict}: {count}")
    return 0


def answered(case: dict[str, Any], asked: argparse.Namespace) -> dict[str, Any]:
    """What run and check say of a program."""
    kept = asked.answers / f"{case['id']}.json"
    if asked.again or not kept.exists():
        kept.write_text(json.dumps(_asked(case, asked.set.resolve())), "utf-8")
    found: dict[str, Any] = json.loads(kept.read_text("utf-8"))
    return found


def _asked(case: dict[str, Any], folder: Path) -> dict[str, Any]:
    script = folder / "programs" / f"{case['id']}.py"
    with tempfile.TemporaryDirectory() as place:
        run = Path(place) / "run"
        launch = case.get("launch") or []
        patience = ["--hang-after", "20"] if case.get("ends") == "hang" else []
        words = [sys.executable, "-m", "trueline", "run", "--check", *patience, "-o", str(run), *launch, str(script)]
        ran = _process(words, place)
        if not run.is_dir():
            return {"refused": ran["stderr"][-400:]}
        told = _process([sys.executable, "-m", "trueline", "check", "--json", str(script), str(run)], place)
        try:
            answer: dict[str, Any] = json.loads(told["stdout"])
        except ValueError:
            return {"refused": told["stderr"][-400:]}
    return {"findings": answer["findings"], "code": ran["code"], "during": _during(ran["stderr"])}


def _process(words: list[str], place: str) -> dict[str, Any]:
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "ONEDNN_MAX_CPU_ISA": "AVX2", "PATH": path}
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, check=False, cwd=place, env=environment, timeout=_SECONDS
        )
    except subprocess.TimeoutExpired as late:
        return {"stdout": "", "stderr": str(late.stderr or b""), "code": None}
    return {"stdout": done.stdout, "stderr": done.stderr, "code": done.returncode}


def _during(stderr: str) -> list[str]:
    return [line for line in stderr.splitlines() if line.startswith("trueline: after ")]


def judged(case: dict[str, Any], answer: dict[str, Any]) -> str:
    """One word for a case: named, seen, elsewhere or missed; silent or accused; refused."""
    if "refused" in answer:
        return "refused"
    findings = _findings(answer)
    problems = [finding for finding in findings if finding["conclusion"] == "found"]
    if case["kind"] == "near-miss":
        return "accused" if problems else "silent"
    if any(_is_at(finding, case["lines"]) for finding in problems):
        return "named"
    if any(_is_at(finding, case["lines"]) for finding in findings):
        return "seen"
    return "elsewhere" if problems else "missed"


def _findings(answer: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        finding
        for finding in answer.get("findings", ())
        if finding["conclusion"] in ("found", "suspect") and not finding["code"].startswith(_BESIDE)
    ]


def _is_at(finding: dict[str, Any], lines: list[int]) -> bool:
    return finding["where"]["line"] in lines


def _said(finding: dict[str, Any]) -> str:
    where = finding["where"]
    place = f"{where['line']}, step {where['step']}" if where["line"] else f"step {where['step']}"
    return f"{finding['code']} {finding['conclusion']} at {place}: {finding['message'][:160]}"


if __name__ == "__main__":
    sys.exit(main())
