"""``make fuzz``: damaged files of every format, read as the verbs read them.

    python tests/fuzz/run.py --format pth --executions 100000 --seed 1
    python tests/fuzz/run.py --all --executions 2000000 --table
    python tests/fuzz/run.py --format pth --seed 1 --case 4711      one case again
    python tests/fuzz/run.py --format pth --replay FOLDER           a kept case again

Anything but an answer or the product's own trouble (exit code 2) is a finding: it is made smaller, kept and printed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
os.environ["TRUELINE_LANG"] = "en"

from fuzz.case import read_case
from fuzz.mutating import case_of
from fuzz.seeds import make_real, seeds_of
from fuzz.share import FOUND, keep_case, kept_case, share
from fuzz.table import shares, write_tables
from fuzz.targets.all import TARGETS
from fuzz.worker import Tally, execute, replay


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--format", action="append", choices=list(TARGETS), default=[])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--executions", type=int, default=10_000, help="for each format; with --all over all of them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--plain", action="store_true", help="no files of other libraries among the seeds")
    parser.add_argument(
        "--share", action="store_true", help="a few cases of each format in one process: what the tests run"
    )
    parser.add_argument("--case", type=int)
    parser.add_argument("--replay", type=Path)
    parser.add_argument("--save", metavar="NAME", help="with --replay: keep the case among those that the tests read")
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "trueline-fuzz")
    parser.add_argument("--table", action="store_true", help="add the numbers to docs/tables/fuzz")
    parser.add_argument("--json", type=Path, help="the numbers of this round as JSON")
    parser.add_argument("--add", type=Path, nargs="*", help="add such numbers of rounds to docs/tables/fuzz")
    return parser.parse_args()


def main() -> int:
    """How many findings there were, as an exit code."""
    given = _arguments()
    if given.add:
        for path in given.add:
            read = json.loads(path.read_text())
            write_tables([Tally(**one) for one in read["tallies"]], read["seed"])
        return 0
    names = list(TARGETS) if given.all else given.format
    if not names:
        raise SystemExit("fuzz: --format or --all")
    if given.share:
        return share([TARGETS[one] for one in names], given.executions, given.seed)
    if given.replay is not None:
        path = given.replay.resolve()
        files = kept_case(path) if path.is_file() else read_case(path)
        if given.save is not None:
            keep_case(FOUND / names[0] / f"{given.save}.json", files)
        replay(TARGETS[names[0]], files)
        return 0
    if not given.plain and any(TARGETS[one].real for one in names):
        make_real()
    if given.case is not None:
        target = TARGETS[names[0]]
        replay(target, case_of(target, seeds_of(target, real=not given.plain), given.seed, given.case))
        return 0
    counts = shares(names, given.executions) if given.all else dict.fromkeys(names, given.executions)
    keep = given.keep.resolve()

    def one(name: str) -> Tally:
        began = time.monotonic()
        last = [began]

        def progress(tally: Tally) -> None:
            now = time.monotonic()
            if sys.stderr.isatty() and now - last[0] > 1:
                last[0] = now
                sys.stderr.write(f"\r\x1b[K{name} {tally.executions}/{counts[name]}, {tally.found} findings")
                sys.stderr.flush()

        tally = execute(TARGETS[name], given.seed, given.first, counts[name], keep, progress, real=not given.plain)
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")
        _tell(tally, time.monotonic() - began)
        return tally

    with ThreadPoolExecutor(given.jobs) as pool:
        tallies = list(pool.map(one, names))
    if given.table:
        write_tables(tallies, given.seed)
    if given.json is not None:
        given.json.write_text(json.dumps({"seed": given.seed, "tallies": [asdict(one) for one in tallies]}, indent=1))
    total = sum(one.executions for one in tallies)
    found = sum(len(one.findings) for one in tallies)
    print(f"{total} executions of {len(tallies)} formats, {found} kinds of findings")
    return 1 if found else 0


def _tell(tally: Tally, seconds: float) -> None:
    print(
        f"{tally.format}: {tally.executions} executions, {tally.accepted} accepted, {tally.refused} refused, "
        f"{tally.found} findings of {len(tally.findings)} kinds; peak {tally.peak_memory >> 20} MiB, "
        f"slowest {tally.slowest:.2f} s, {tally.executions / max(seconds, 1e-9):.0f}/s",
        flush=True,
    )
    for signature, one in tally.findings.items():
        print(f"  {one['times']} × {signature}: {one['detail'][:400]}")
        print(f"    python tests/fuzz/run.py --format {tally.format} --replay {one['place']}")
        print(
            f"    python tests/fuzz/run.py --format {tally.format} --seed {one['seed']} --case {one['case']}",
            flush=True,
        )


if __name__ == "__main__":
    sys.exit(main())
