"""Ports of transformers, diffusion and recurrent networks with planted faults: a regression table.

python tests/eval/transformer_ports.py [--only TEXT] [--jobs N]
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent / "ports")]

from judging import Judged
from planted import HERE, Port, ports_of
from ports import examine

FOLDER = HERE / "transformers"
# What the benchmark's layers draw at first is no part of this table.
_LEFT_OUT = "initialisation"


def main() -> int:
    """Examine, and say what is silent where it should be and named where it should be."""
    asked = _arguments()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    ports = [port for port in ports_of(FOLDER) if asked.only in port.name]
    with ThreadPoolExecutor(asked.jobs) as pool:
        right = sum(_told(judged) for judged in pool.map(examine, ports))
    print(f"{len(ports)} ports, {right} right")
    return 0 if right == len(ports) else 1


def is_right(judged: Judged) -> bool:
    """Whether a correct port is silent, and each fault of another is confirmed by one of its causes."""
    if judged.trouble is not None:
        return False
    findings = [one for one in judged.findings if one.stage != _LEFT_OUT]
    if not judged.port.faults:
        return not [one for one in findings if not one.follows]
    sure = {one.cause for one in judged.findings if one.confirmed}
    return all(sure & set(fault.causes) for fault in judged.port.faults)


def _told(judged: Judged) -> bool:
    right = is_right(judged)
    said = judged.trouble or "; ".join(map(str, judged.findings))
    print(f"{'right' if right else 'WRONG'} {judged.port.name} {judged.seconds:.0f} s {said}", flush=True)
    return right


def sample(ports: Sequence[Port]) -> list[Port]:
    """A correct one and one with a fault, the same every time."""
    return [next(port for port in ports if not port.faults), next(port for port in ports if port.faults)]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="ports with this in their name")
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
