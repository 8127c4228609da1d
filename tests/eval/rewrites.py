"""Drafts of ports: which build, which pair clean, and what was missing in the others.

python tests/eval/rewrites.py FOLDER --keep OUT [--only TEXT] [--train]

FOLDER holds scripts of torch and cases.json: for each ``file``, the ``model`` (a factory without arguments) and the
``input`` of its forward (shape, dtype, low, high). Each is rewritten by ``trueline scan --rewrite``; the draft builds
where MindSpore imports it, makes the network and runs it; it pairs clean where ``trueline pair`` finds no difference in
evaluation and training. With ``--train`` the drafts of scripts that train are run as they are.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

_SECONDS = 400
# What pair says of initial weights is true, and no fault of the draft's forward.
_BUILDS = """
import sys, numpy as np, mindspore
sys.argv = ["draft"]
sys.path.insert(0, {folder!r})
import importlib
module = importlib.import_module({module!r})
network = getattr(module, {model!r})()
network.set_train(False)
random = np.random.default_rng(0)
inputs = []
for described in {inputs!r}:
    low, high = described.get("low"), described.get("high")
    if described["dtype"].startswith("float"):
        array = random.normal(size=described["shape"]).astype(described["dtype"])
    else:
        array = random.integers(low or 0, high or 2, described["shape"]).astype(described["dtype"])
    inputs.append(mindspore.Tensor(array))
network(*inputs)
print("BUILT")
"""


def main() -> int:
    """Rewrite and try every case; prints a row each and the shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--keep", type=Path, required=True, help="where the drafts go")
    parser.add_argument("--only", default="")
    parser.add_argument("--train", action="store_true")
    asked = parser.parse_args()
    asked.keep.mkdir(parents=True, exist_ok=True)
    cases = json.loads((asked.folder / "cases.json").read_text("utf-8"))
    rows = [judged(asked.folder, asked.keep, case, asked.train) for case in cases if asked.only in case["file"]]
    for name in ("built", "clean", "trained"):
        counted = [row[name] for row in rows if row[name] is not None]
        print(f"{name}: {sum(counted)} of {len(counted)}")
    (asked.keep / "rows.json").write_text(json.dumps(rows, indent=1), "utf-8")
    return 0


def judged(folder: Path, keep: Path, case: dict[str, Any], train: bool) -> dict[str, Any]:
    """One case."""
    # A module's name may not begin with a digit.
    source = keep / f"bench_{case['file']}"
    source.write_bytes((folder / case["file"]).read_bytes())
    draft = keep / f"port_{case['file']}"
    told = _run("-m", "trueline", "scan", "--rewrite", str(draft), str(source), "--force", "--json")
    answer = json.loads(told.stdout) if told.returncode in (0, 1) else None
    left = [f"{one['line']} {one['name']}: {one['reason']}" for one in answer["rewrite"][0]["left"]] if answer else []
    code = _BUILDS.format(folder=str(keep), module=draft.stem, model=case["model"], inputs=case["input"])
    building = _run("-c", code, cwd=keep)
    built = "BUILT" in building.stdout
    why = "" if built else (building.stderr.strip().splitlines() or ["?"])[-1][:200]
    row: dict[str, Any] = {"file": case["file"], "left": left, "built": built, "why": why, "clean": built}
    if built:
        row |= paired(source, draft, case)
    row["trained"] = None
    if train and case["training"]:
        training = _run(str(draft), cwd=keep)
        row["trained"] = training.returncode == 0
        row["training_said"] = (training.stdout + training.stderr)[-600:]
    print(
        f"{row['file']}: built {row['built']}, clean {row['clean']}, trained {row['trained']}, left {len(left)} {why}"
    )
    for line in (*left, *row.get("findings", ())):
        print(f"    {line}")
    sys.stdout.flush()
    return row


def paired(source: Path, draft: Path, case: dict[str, Any]) -> dict[str, Any]:
    """What ``trueline pair`` says of a draft beside its original."""
    inputs = []
    for described in case["input"]:
        text = "x".join(map(str, described["shape"])) + ":" + described["dtype"]
        if "high" in described:
            text += f":{described.get('low', 0)}-{described['high']}"
        inputs += ["--input", text]
    entry = case["model"]
    sides = ["--bench", f"{source.stem}:{entry}", "--port", f"{draft.stem}:{entry}"]
    told = _run("-m", "trueline", "pair", *sides, *inputs, "--json", cwd=source.parent)
    if told.returncode not in (0, 1):
        return {"clean": False, "findings": [told.stderr.strip()[-300:]]}
    answer = json.loads(told.stdout)
    found = [one for one in answer["findings"] if one["conclusion"] in ("found", "suspect")]
    stages = {stage["name"]: stage["verdict"] for stage in answer["stages"]}
    return {
        "clean": told.returncode == 0,
        "stages": stages,
        "findings": [f"pair {one['code']} {one['conclusion']}: {one['message'][:240]}" for one in found],
    }


def _run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [sys.executable, *arguments], capture_output=True, text=True, cwd=cwd, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(arguments, 99, "", "timeout")


if __name__ == "__main__":
    sys.exit(main())
