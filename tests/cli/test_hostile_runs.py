"""Whatever a run folder says: it is shown, or it is one line and exit code 2."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from cli.calling import call
from cli.sample_runs import losses, record

JUNK: list[Any] = [
    None,
    True,
    -1,
    10**30,
    1e308,
    "nan",
    "",
    "x" * 300,
    [],
    [1, "a", None],
    {},
    {"a": {"b": []}},
    "\x1b[2J\x9b2J\u202e",
]
# No JSON that Python's own writer would make.
RAW = ["1e400", "9" * 400, "9" * 5000, "400000000", "[" * 480 + "]" * 480, '{"a":' * 3000 + "1" + "}" * 3000]
FILES = ["run.json", "rank-00000/params.json", "rank-00000/modules.json", "rank-00000/events.jsonl"]
SEEDS = 15


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("hostile") / "run", losses(6), strange=True)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container of a JSON tree with each of its keys."""
    found: list[tuple[Any, Any]] = []
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in entries:
        found += [(value, name), *places(item)]
    return found


def spoil(file: Path, dice: random.Random) -> None:
    """Put junk in the place of one value."""
    lines = [json.loads(line) for line in file.read_text().splitlines()] if file.suffix == ".jsonl" else []
    whole = lines or json.loads(file.read_text())
    container, name = dice.choice(places(whole))
    container[name] = dice.choice(JUNK)
    file.write_text("\n".join([*map(json.dumps, whole), ""]) if lines else json.dumps(whole))


@pytest.mark.parametrize("file", FILES)
def test_junk_is_shown_or_refused_in_one_line(good: Path, tmp_path: Path, file: str) -> None:
    shown = 0
    for seed in range(SEEDS):
        run = tmp_path / str(seed)
        shutil.copytree(good, run)
        spoil(run / file, random.Random(f"{file} {seed}"))
        for arguments in (("show", run), ("show", run, "--events"), ("show", run, "--json"), ("runs", run)):
            answer = call(*arguments)
            assert answer.exit_code in (0, 2), (seed, arguments, answer.stderr)
            assert not any(steering in answer.output for steering in "\x1b\x9b\u202e")
            if answer.exit_code == 2:
                assert (answer.stdout, answer.stderr.count("\n")) == ("", 1)
            shown += answer.exit_code == 0
    assert shown


@pytest.mark.parametrize("file", FILES)
def test_huge_numbers_and_deep_nests_are_bad_input_to_every_verb(good: Path, tmp_path: Path, file: str) -> None:
    for seed, raw in enumerate(RAW):
        run = tmp_path / str(seed)
        shutil.copytree(good, run)
        lines = (run / file).read_text().splitlines()
        whole = [json.loads(line) for line in lines] if file.endswith(".jsonl") else [json.loads("\n".join(lines))]
        container, name = random.Random(f"{file} {raw}").choice(places(whole)[1:])
        container[name] = "@"
        (run / file).write_text("".join(json.dumps(one).replace('"@"', raw) + "\n" for one in whole))
        verbs = [("show", run), ("runs", run), ("check", run), ("compare", run, good), ("data", "describe", run)]
        for arguments in verbs:
            answer = call(*arguments)
            assert answer.exit_code in (0, 1, 2), (raw[:20], arguments, answer.stderr)
            assert answer.exit_code < 2 or answer.stderr.count("\n") == 1
