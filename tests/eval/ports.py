"""The table of ports: correct ones and ones with planted faults, each put beside its benchmark by ``pair``.

python tests/eval/ports.py [--only TEXT] [--sample N] [--jobs N]
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent / "ports")]

from judging import Judged, Named, judge
from planted import Port, all_ports, write_port
from ports_page import content, page
from tables import TABLES, write_table

from trueline.adapters.guest.entry import Entry
from trueline.model.trouble import Trouble
from trueline.pair.pairing import Options, Wish, pair_sides
from trueline.pair.report import findings as findings_of
from trueline.pair.sides.inputs import make_inputs, parse_input

SEED = 5
# The rooms whose code the table speaks of.
MEASURED = ("pair", "compare", "adapters", "apitable")
TIMEOUT = 300.0
STEPS = 4


def main() -> int:
    """Run, judge, write; a run of part of the ports writes nothing."""
    asked = _arguments()
    ports = [port for port in all_ports() if asked.only in port.name]
    ports = sample(ports, asked.sample) if asked.sample else ports
    # Small networks gain nothing from threads, and the sides run at the same time.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with ThreadPoolExecutor(asked.jobs) as pool:
        judged = []
        for one in pool.map(examine, ports):
            judged.append(one)
            print(_line(one), flush=True)
    wrong = [one for one in judged if not one.right]
    print(f"{len(judged)} ports, {len(judged) - len(wrong)} right, {sum(len(one.strange) for one in judged)} strange")
    if not asked.only and not asked.sample:
        print(write_table("ports", MEASURED, content(judged)))
        (TABLES / "ports.md").write_text(page(judged), "utf-8")
    return 1 if wrong else 0


def sample(ports: Sequence[Port], count: int) -> list[Port]:
    """The same ports every time: of the correct, the single and the several, as many as is their share."""
    kinds = [[port for port in ports if min(len(port.faults), 2) == kind] for kind in range(3)]
    chosen = []
    for kind in kinds:
        share = max(1, round(count * len(kind) / len(ports)))
        chosen += random.Random(SEED).sample(kind, min(share, len(kind)))
    return chosen


def examine(port: Port) -> Judged:
    """One port put beside its benchmark, in a folder of its own."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        written = write_port(port, Path(place))
        inputs = make_inputs([parse_input(text) for text in port.net.inputs])
        options = Options(inputs, parts=written.parts, steps=STEPS, folder=written.folder, timeout=TIMEOUT)
        try:
            paired = pair_sides(Wish(Entry.parse(written.bench)), Wish(Entry.parse(written.port)), options)
        except Trouble as trouble:
            return Judged(port, (), (), (), (), time.monotonic() - began, str(trouble))
        except RuntimeError as error:
            # A fault in the child of this program is told as a RuntimeError: one port must not end the whole table.
            return Judged(port, (), (), (), (), time.monotonic() - began, str(error)[-400:])
    findings = [Named.of(one) for one in findings_of(paired)]
    return judge(port, findings, time.monotonic() - began)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="ports with this in their name")
    parser.add_argument("--sample", type=int, default=0, help="so many ports, the same every time")
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


def _line(one: Judged) -> str:
    told = [f"missed {fault.name}" for fault in one.port.faults if fault not in one.named]
    told += [f"strange {finding}" for finding in one.strange]
    told += [one.trouble] if one.trouble else []
    return f"{'right' if one.right else 'WRONG'} {one.port.name} {one.seconds:.0f} s {'; '.join(told)}"


if __name__ == "__main__":
    sys.exit(main())
