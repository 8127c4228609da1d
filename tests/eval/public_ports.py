"""Public ports against their verified truth: which causes ``trueline pair`` names, where, and what else it says.

    python tests/eval/public_ports.py FOLDER --deps DEPS [--size 64] [--only NAME] [--write]

FOLDER holds ports.json, the truth, and factories.py, the networks; DEPS the packages they come from (see its README).
Nothing of them is kept. A cause counts as named where a finding of its kind stands at one of its lines.
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
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from eval.tables import TABLES, write_table

_LINES = re.compile(r"([\w/]+\.py):([\d,-]+)")
# Words of a truth's text, and the causes that say the same.
_KINDS = {
    "GELU": {"gelu_form", "activation", "approximate"},
    "ReLU": {"activation"},
    "eps": {"eps"},
    "ceil": {"ceil_mode"},
    "pad": {"padding", "pool_padding", "count_include_pad"},
    "bias": {"missing_parameter", "parameters", "bias"},
    "BatchNorm": {"missing_parameter", "parameters", "extra_parameter", "layer_type"},
}
# Differences of training.
_BESIDE = {"initialisation", "dropout", "momentum"}
# What both sides are built with: true where it has no effect, too.
_BUILT = {"padding", "eps", "ceil_mode", "count_include_pad"}


def main() -> int:
    """Pair every port; prints a row each, then the shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--deps", type=Path, required=True)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true", help="docs/tables/public_ports.json and public_ports.md")
    asked = parser.parse_args()
    ports = json.loads((asked.folder / "ports.json").read_text("utf-8"))
    rows = []
    for port in ports:
        if asked.only in port["port"]:
            small = "2x3x" + "x".join([str(asked.size)] * 2)
            answer = paired(port, asked, small)
            if "refused" in answer and small != port["input"]:
                # Made for one size only.
                answer = paired(port, asked, port["input"])
            rows.append(judged(port, answer))
            print(_line(rows[-1]), flush=True)
    page = rendered(rows, asked.size)
    print("\n".join(page.splitlines()[4:8]))
    if asked.write:
        write_table("public_ports", ("pair",), {"size": asked.size, "rows": rows})
        (TABLES / "public_ports.md").write_text(page, "utf-8")
    return 0


def paired(port: dict[str, Any], asked: argparse.Namespace, size: str) -> dict[str, Any]:
    """What ``trueline pair`` answers; ``refused`` where it gives no answer."""
    bench = port["bench"].replace(":", "__")
    paths = os.pathsep.join(map(str, (asked.deps.resolve(), asked.folder.resolve())))
    with tempfile.TemporaryDirectory() as folder:
        told = subprocess.run(
            [
                *(sys.executable, "-m", "trueline", "pair", "--json", "--input", size),
                *("--bench", f"factories:bench_{bench}", "--port", f"factories:port_{port['port']}"),
            ],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": paths},
        )
    if told.returncode not in (0, 1):
        return {"refused": told.stderr.strip().splitlines()[-1:] or ["?"]}
    found: dict[str, Any] = json.loads(told.stdout)
    return found


def judged(port: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """A port's answer held against its truth."""
    row = {"port": port["port"], "bench": port["bench"], "label": port["label"], "refused": answer.get("refused")}
    told = [one for one in answer.get("findings", ()) if one["conclusion"] == "found" and one["code"] != "pr.10"]
    used: set[int] = set()
    causes = []
    for cause in port["causes"]:
        hits = [place for place, one in enumerate(told) if _is_of(one, cause)]
        used.update(hits)
        causes.append(
            {
                "what": cause["what"],
                "named": bool(hits),
                "confirmed": any(told[place]["confirmed"] for place in hits),
                "as": sorted({f"{_cause(told[place])} {_place(told[place])}" for place in hits}),
            }
        )
    others = [one for place, one in enumerate(told) if place not in used and not _is_beside(one)]
    row["causes"] = causes
    row["others"] = sorted({f"{_cause(one)} {_place(one)}: {one['message'][:140]}" for one in others})
    row["findings"] = len(told)
    return row


def _is_of(finding: dict[str, Any], cause: dict[str, Any]) -> bool:
    """Whether a finding names a cause: its kind, at one of its lines."""
    kinds = set().union(*(causes for word, causes in _KINDS.items() if word in cause["what"]))
    where = finding["where"]
    if _cause(finding) not in kinds or where["file"] is None:
        return False
    return any(where["file"].endswith(file) and where["line"] in lines for file, lines in _places(cause["where"]))


def _places(where: str) -> Iterator[tuple[str, set[int]]]:
    """``models/cait.py:68-70,159``: files with all their lines; one between brackets gives its own file's last part."""
    last = ""
    for file, numbers in _LINES.findall(where):
        last = file if "/" in file else str(Path(last).with_name(file))
        lines: set[int] = set()
        for part in numbers.split(","):
            first, _, end = part.partition("-")
            if first:
                lines.update(range(int(first), int(end or first) + 1))
        yield last, lines


def _is_beside(finding: dict[str, Any]) -> bool:
    """True of a port, and no part of its truth, which speaks of evaluation at one size and of ordinary values."""
    sizes = any(isinstance(one, dict) and "differs_at" in one for one in finding["evidence"])
    # An eps that differs is a difference however little it does.
    built = _cause(finding) == "eps" or (finding["latent"] and _cause(finding) in _BUILT)
    return _cause(finding) in _BESIDE or (finding["confirmed"] and (sizes or built))


def _cause(finding: dict[str, Any]) -> str:
    return str(finding.get("cause") or finding["code"])


def _place(finding: dict[str, Any]) -> str:
    where = finding["where"]
    return f"{Path(where['file']).name}:{where['line']}" if where["file"] else "no line"


def _line(row: dict[str, Any]) -> str:
    named = sum(cause["named"] for cause in row["causes"])
    confirmed = sum(cause["confirmed"] for cause in row["causes"])
    said = f"refused {row['refused']}" if row["refused"] else f"{len(row['others'])} others of {row['findings']}"
    told = [f"{row['port']} ({row['bench']}, {row['label']}): {named} of {len(row['causes'])}, {confirmed} confirmed"]
    return "\n    ".join([f"{told[0]}; {said}", *row["others"]])


def rendered(rows: list[dict[str, Any]], size: int) -> str:
    """The numbers as a page."""
    differing = [row for row in rows if row["label"] != "equal"]
    whole = [row for row in differing if row["causes"] and all(cause["named"] for cause in row["causes"])]
    sure = [row for row in differing if row["causes"] and all(cause["confirmed"] for cause in row["causes"])]
    clean = [row for row in rows if row["label"] == "equal" and not row["others"] and not row["refused"]]
    equal = [row for row in rows if row["label"] == "equal"]
    lines = [
        "# Public ports against their truth",
        "",
        f"Written by `python tests/eval/public_ports.py FOLDER --deps DEPS --write`, inputs of {size} pixels.",
        "",
        f"Every cause named at its line in {len(whole)} of {len(differing)} ports that differ.",
        f"Every cause confirmed in {len(sure)} of {len(differing)}.",
        f"Nothing but true differences on {len(clean)} of {len(equal)} equal ports.",
        f"Refused: {sum(bool(row['refused']) for row in rows)}.",
        "",
        "| port | benchmark | truth | named | confirmed | besides |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        named = "; ".join(", ".join(cause["as"]) or f"**not named**: {cause['what'][:60]}" for cause in row["causes"])
        confirmed = f"{sum(cause['confirmed'] for cause in row['causes'])} of {len(row['causes'])}"
        besides = "; ".join(row["others"])[:300].replace("|", "/") if not row["refused"] else str(row["refused"][0])
        lines.append(f"| {row['port']} | {row['bench']} | {row['label']} | {named} | {confirmed} | {besides} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
