"""A set of trainings that break a law or only look like it: what ``trueline run`` and ``trueline check`` say of each.

    python tests/eval/silent_errors.py [SET] [--answers FOLDER] [--only ID,…] [--jobs N] [--again] [--told] [--write]

SET holds cases.json and programs/; without one the sets beside this file are asked, which were read: a regression
table. Each is recorded unchanged (under its launcher, where it has one), then script and run are checked together. A
law is seen where a problem or a suspicion stands at one of the case's lines; it is named where a problem does. A
near-miss is silent where no problem is found. Answers are kept in FOLDER and not asked for again unless ``--again``
says so. ``--told`` shows every finding: only of a set that may be read.
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

sys.path.insert(0, str(Path(__file__).parent))

from tables import TABLES, write_table

SETS = [Path(__file__).parent / "silent" / name for name in ("one", "ranks")]
_HEAD = """# Silent errors

Written by `python tests/eval/silent_errors.py --write`: trainings that break a law of training, and right ones that
only look like it, recorded and checked unchanged. They were written before the laws; two thirds were read while the
laws were built, the rest after its [first look](first_look.md): a regression table."""
_SECONDS = 240.0
# What a set of made-up data is not about: how much there is of it and how long it is trained.
_BESIDE = ("hp.", "ds.", "pf.")


def main() -> int:
    """Ask where there is no answer yet, then judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=Path, nargs="?")
    parser.add_argument("--answers", type=Path, help="where answers are kept (default: nowhere)")
    parser.add_argument("--only", default="", help="ids or their beginnings, comma-separated")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--told", action="store_true")
    parser.add_argument("--write", action="store_true", help="docs/tables/silent_errors.json and silent_errors.md")
    asked = parser.parse_args()
    wanted = tuple(asked.only.split(",")) if asked.only else ("",)
    sets = [asked.set] if asked.set is not None else SETS
    cases = [
        (folder, case)
        for folder in sets
        for case in json.loads((folder / "cases.json").read_text("utf-8"))
        if case["id"].startswith(wanted)
    ]
    with ThreadPoolExecutor(asked.jobs) as pool:
        answers = list(pool.map(lambda each: answered(*each, asked), cases))
    counts: Counter[tuple[str, str]] = Counter()
    rows = []
    for (_, case), answer in zip(cases, answers, strict=True):
        verdict = judged(case, answer)
        rows.append({"id": case["id"], "law": case["law"], "kind": case["kind"], "verdict": verdict})
        counts[case["law"], f"{case['kind']} {verdict}"] += 1
        counts["all", f"{case['kind']} {verdict}"] += 1
        if asked.told:
            print(f"{case['id']} ({case['law']}, {case['kind']}): {verdict}; {case['what']} {case['lines']}")
            print("\n".join(f"    {_said(finding)}" for finding in _findings(answer)))
    for (law, verdict), count in sorted(counts.items()):
        print(f"{law}: {verdict}: {count}")
    if asked.write:
        print(write_table("silent_errors", ("checks", "record", "adapters"), {"rows": rows}))
        (TABLES / "silent_errors.md").write_text(_page(counts, rows), "utf-8")
    return 0


def _page(counts: Counter[tuple[str, str]], rows: list[dict[str, Any]]) -> str:
    broken = ("named", "seen", "elsewhere", "missed", "refused")
    right = ("silent", "accused", "refused")
    verdicts = [*(f"broken {verdict}" for verdict in broken), *(f"near-miss {verdict}" for verdict in right)]
    laws = [*sorted({law for law, _ in counts} - {"all"}), "all"]
    lines = [f"| {law} | {' | '.join(str(counts[law, verdict]) for verdict in verdicts)} |" for law in laws]
    wrong = [f"| {row['id']} | {row['law']} | {row['kind']} | {row['verdict']} |" for row in rows if _is_wrong(row)]
    head = [f"| law | {' | '.join(verdicts)} |", f"|---|{'---|' * len(verdicts)}"]
    rest = ["| program | law | kind | verdict |", "|---|---|---|---|"]
    return "\n".join([_HEAD, "", *head, *lines, "", *rest, *wrong, ""])


def _is_wrong(row: dict[str, Any]) -> bool:
    return row["verdict"] not in ("named", "silent")


def answered(folder: Path, case: dict[str, Any], asked: argparse.Namespace) -> dict[str, Any]:
    """What run and check say of a program."""
    if asked.answers is None:
        return _asked(case, folder.resolve())
    asked.answers.mkdir(parents=True, exist_ok=True)
    kept = asked.answers / f"{case['id']}.json"
    if asked.again or not kept.exists():
        kept.write_text(json.dumps(_asked(case, folder.resolve())), "utf-8")
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
