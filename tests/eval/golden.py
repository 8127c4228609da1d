"""What every fixture and example is found to be, kept before a change of the house and compared after it.

python tests/eval/golden.py FOLDER --write      recordings and findings into FOLDER, outside of the repository
python tests/eval/golden.py FOLDER              the same recordings looked at again: what is no longer the same

Sentences, advice and the ids of messages are left out: a move may say the same in other words.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
# In the place of this folder, whose checks.py is another one.
sys.path[:1] = [str(ROOT / "tests"), str(ROOT / "tests" / "record")]

from checks.fixtures import Fixture, all_fixtures

SENTENCES = ("message", "message_id", "params", "advice", "conclusion_text")


def main() -> int:
    """Write, or compare; the exit code tells whether all is as it was."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    folder = asked.folder.resolve()
    if asked.write:
        _record(folder / "runs", asked.jobs)
    cases = dict(_cases(folder / "runs"))
    with ProcessPoolExecutor(asked.jobs) as pool:
        answers = dict(zip(cases, pool.map(_answer, cases.values(), chunksize=8), strict=True))
    kept = folder / "golden.json"
    if asked.write:
        kept.write_text(json.dumps(answers, indent=1, sort_keys=True), "utf-8")
        print(f"{len(answers)} answers kept")
        return 0
    before = json.loads(kept.read_text("utf-8"))
    changed = [name for name in sorted({*before, *answers}) if before.get(name) != answers.get(name)]
    for name in changed:
        print(name)
        for line in _difference(before.get(name), answers.get(name)):
            print(f"  {line}")
    print(f"{len(answers) - len(changed)} of {len(answers)} answers as before")
    return 1 if changed else 0


def _record(folder: Path, jobs: int) -> None:
    from concurrent.futures import ThreadPoolExecutor

    marked = [fixture for fixture in all_fixtures() if fixture.run is not None]
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda fixture: _record_fixture(fixture, folder), marked))


def _record_fixture(fixture: Fixture, folder: Path) -> None:
    from checks.test_run_fixtures import record

    assert fixture.run is not None
    for name, path in (("own", fixture.path), ("bench", fixture.run.bench)):
        place = folder / fixture.name / name
        if path is not None and not (place / "run").exists():
            place.mkdir(parents=True, exist_ok=True)
            record(path, fixture.framework, fixture.run, place)


def _cases(runs: Path) -> Iterator[tuple[str, list[str]]]:
    """The command line of each answer, by name."""
    for fixture in all_fixtures():
        bench = [] if fixture.port_of is None else ["--bench", str(fixture.port_of)]
        yield f"script {fixture.name}", ["check", str(fixture.path), "--json", *bench]
        if fixture.run is not None:
            bench = [] if fixture.run.bench is None else ["--bench", str(runs / fixture.name / "bench" / "run")]
            run = str(runs / fixture.name / "own" / "run")
            yield f"run {fixture.name}", ["check", run, "--json", *bench]
            if fixture.together:
                yield f"together {fixture.name}", ["check", str(fixture.path), run, "--json", *bench]
    for example in sorted((ROOT / "examples").iterdir()):
        for script in sorted(example.glob("train_*.py")):
            yield f"example {example.name}/{script.name}", ["check", str(script), "--json"]


def _answer(line: Sequence[str]) -> dict[str, Any]:
    """The findings of a call of the command line's, in this process."""
    command = import_module(f"trueline.cli.{line[0]}").command
    os.environ["TRUELINE_LANG"] = "en"
    printed, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
        code = command.main(list(line[1:]), "trueline check", standalone_mode=False)
    answer = json.loads(printed.getvalue())
    findings = [
        {name: value for name, value in finding.items() if name not in SENTENCES} for finding in answer["findings"]
    ]
    return {"exit": int(code or 0), "findings": findings}


def _difference(before: Any, after: Any) -> Iterator[str]:
    if before is None or after is None:
        yield "new" if before is None else "gone"
        return
    if before["exit"] != after["exit"]:
        yield f"exit {before['exit']} -> {after['exit']}"
    texts = [[json.dumps(finding, sort_keys=True) for finding in answer["findings"]] for answer in (before, after)]
    yield from (f"- {text[:400]}" for text in texts[0] if text not in texts[1])
    yield from (f"+ {text[:400]}" for text in texts[1] if text not in texts[0])
    if sorted(texts[0]) == sorted(texts[1]) and texts[0] != texts[1]:
        yield "another order"


if __name__ == "__main__":
    sys.exit(main())
