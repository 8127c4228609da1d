"""A few cases of each format, and what was found once, all in one process: what ``make test`` runs."""

from __future__ import annotations

import base64
import json
import os
import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from fuzz.case import Files, Target
from fuzz.judging import Judge
from fuzz.mutating import case_of
from fuzz.seeds import seeds_of
from fuzz.worker import scratch

FOUND = Path(__file__).with_name("found")


def known_cases(name: str) -> list[tuple[str, Files]]:
    """What was found once in a format, by name; one that ends in -whole showed only through the whole verbs."""
    return [(one.stem, kept_case(one)) for one in sorted((FOUND / name).glob("*.json"))]


def keep_case(path: Path, files: Files) -> None:
    """One file, whatever is in the case: as files of their own they would disturb the tools that look at a project."""
    plain = {name: base64.b64encode(one).decode() for name, one in files.items() if isinstance(one, bytes)}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(plain, indent=1) + "\n")


def kept_case(path: Path) -> Files:
    """A case as it was kept."""
    return {name: base64.b64decode(one) for name, one in json.loads(path.read_text()).items()}


def share(targets: Sequence[Target], count: int, seed: int) -> int:
    """Read so many cases of each; a line for each that ends otherwise than it may, and how many there are."""
    findings = executions = 0
    here = scratch()
    try:
        for number, target in enumerate(targets):
            missing = [one for one in target.needs if find_spec(one) is None]
            if missing:
                print(f"{target.name}: needs {', '.join(missing)}")
                continue
            judge = Judge(target, here / str(number))
            seeds = seeds_of(target, real=False)
            for whole in (False, True):
                # What is loaded only when it is needed is loaded now.
                judge.execute(seeds[0], whole=whole, guarded=False)
            judge.limit_memory()
            cases = [(f"case {at}", case_of(target, seeds, seed, at), at == 0) for at in range(_few(target, count))]
            known = [(name, one, name.endswith("-whole")) for name, one in known_cases(target.name)]
            for name, files, whole in [*cases, *known]:
                judged = judge.execute(files, whole=whole)
                executions += 1
                if judged.is_finding:
                    findings += 1
                    print(f"{target.name} {name}: {judged.signature}: {judged.detail}", flush=True)
    finally:
        os.chdir("/")
        shutil.rmtree(here, ignore_errors=True)
    print(f"{executions} executions of {len(targets)} formats, {findings} findings")
    return 1 if findings else 0


def _few(target: Target, count: int) -> int:
    """Fewer of what is dear."""
    from fuzz.table import WEIGHTS

    return max(2, round(count * min(1.0, WEIGHTS.get(target.name, 100) / 200)))
