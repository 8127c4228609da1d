"""Learning rate bounds against an exhaustive sweep: ``trueline tune lr`` on problems whose good range is known.

python tests/eval/tune.py [--only TEXT] [--known]

The factors in what right means (4, a decade, a tenth) were decided before results were looked at; how the sweep is
done (three seeds, constant rates, the mean of the last ten steps) was settled after the first ones. A sweep trains at
each of 25 constant rates, four to a decade, around the script's own, for as many steps as the test takes by default
(100), each with three seeds. What is left of the loss is its mean over the last ten steps. A rate is good when no
more than a tenth of what the best rate gains is left above the best; the good range is the stretch of good rates
around the best. A rate learns nothing when less than a twentieth of that gain is made, or the loss is not finite; the
lowest such rate above the best is where training diverges. Of the least squares that is known beforehand: twice the
inverse of the largest eigenvalue.

Right is a test whose suggestion is in the good range, whose upper bound is below the divergence and within a factor of
4 of the upper end of the good range, and whose lower bound is within a decade of its lower end.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent / "tune")]

from tables import TABLES, write_table

HERE = Path(__file__).parent / "tune"
MEASURED = ("tune/lr", "tune/child")
FRAMEWORKS = ("torch", "mindspore")
STEPS, SEEDS, RATES, TAIL = 100, 3, 25, 10
FACTOR, DECADE, MARGIN, NOTHING = 4.0, 10.0, 0.1, 0.05


@dataclass(frozen=True)
class Problem:
    """A script: its own rate, and the rate where it diverges, where that is known beforehand.

    It is there in both frameworks, unless it is one of those that were held out, which are kinds of one script.
    """

    name: str
    about: str
    own: float
    diverges: float | None = None
    held_out: bool = False

    @property
    def frameworks(self) -> tuple[str, ...]:
        """Where it is to be had."""
        return ("torch",) if self.held_out else FRAMEWORKS

    def command(self, framework: str) -> list[str]:
        """The script and its first argument."""
        if self.held_out:
            return [str(HERE / "held_out.py"), self.name]
        return [str(HERE / framework / f"{self.name}.py")]


PROBLEMS = (
    Problem("least_squares", "least squares, gradient descent", 0.05, 0.25),
    Problem("digits_softmax", "logistic regression with a penalty on digits, SGD with a schedule", 0.1),
    Problem("digits_mlp", "MLP on digits, Adam, two groups, by accuracy", 0.003),
    Problem("digits_cnn", "CNN on digits, momentum", 0.02),
    Problem("autoencoder", "autoencoder, Adam", 1e-3, held_out=True),
    Problem("batch_norm", "CNN with batch norm, Nesterov momentum, weight decay", 0.1, held_out=True),
    Problem("lstm", "LSTM, Adam, clipped gradients", 1e-3, held_out=True),
    Problem("transformer", "transformer, AdamW", 1e-3, held_out=True),
    Problem("regression", "linear regression, momentum, batches", 0.05, held_out=True),
    Problem("rmsprop", "MLP, RMSprop", 1e-3, held_out=True),
    Problem("adagrad", "MLP, Adagrad", 0.01, held_out=True),
    Problem("sgd", "MLP, SGD", 0.1, held_out=True),
)


@dataclass(frozen=True)
class Sweep:
    """What the sweep has shown."""

    low: float
    high: float
    diverges: float


def main() -> int:
    """Sweep, test, compare, write; a run of part of the problems writes nothing."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="problems with this in framework/name")
    parser.add_argument("--known", action="store_true", help="take the sweeps that the table has, which take longest")
    asked = parser.parse_args()
    kept = json.loads((TABLES / "tune.json").read_text("utf-8"))["rows"] if asked.known else []
    known = {(one["framework"], one["problem"]): Sweep(*one["good"], one["diverges"] or math.inf) for one in kept}
    rows = []
    for problem in PROBLEMS:
        for framework in problem.frameworks:
            if asked.only in f"{framework}/{problem.name}":
                row = examine(problem, framework, known.get((framework, problem.name)))
                rows.append(row)
                print("right" if not row["wrong"] else "WRONG", json.dumps(row), flush=True)
    if not asked.only:
        print(write_table("tune", MEASURED, {"rows": rows}))
        (TABLES / "tune.md").write_text(page(rows), "utf-8")
    return 1 if any(one["wrong"] and not one["held_out"] for one in rows) else 0


def examine(problem: Problem, framework: str, known: Sweep | None) -> dict[str, Any]:
    """One problem in one framework."""
    command = problem.command(framework)
    known = known or sweep(problem, command)
    found = tested(command)
    return {
        "problem": problem.name,
        "about": problem.about,
        "framework": framework,
        "held_out": problem.held_out,
        "good": [known.low, known.high],
        "diverges": known.diverges if math.isfinite(known.diverges) else None,
        "lower": found["lower"],
        "suggestion": found["suggestion"],
        "upper": found["upper"],
        "metric": found["metric"],
        "wrong": wrong(known, found),
    }


def sweep(problem: Problem, command: Sequence[str]) -> Sweep:
    """Train at every rate."""
    rates = [problem.own * 10 ** (place / 4 - 3) for place in range(RATES)]
    asked = ["--sweep", ",".join(f"{one:.6g}" for one in rates), "--steps", str(STEPS), "--seeds", str(SEEDS)]
    # MindSpore's threads spin while they wait for each other, several times as long as they compute.
    quick = {**os.environ, "MS_DEV_HOST_BLOCKING_RUN": "1"}
    done = subprocess.run([sys.executable, *command, *asked], env=quick, capture_output=True, text=True, check=True)
    answer = done.stdout
    told = [json.loads(line) for line in answer.splitlines() if line.startswith("{")]
    return swept(told, problem.diverges)


def swept(told: Sequence[dict[str, Any]], diverges: float | None) -> Sweep:
    """The good range of what was told."""
    left: dict[float, list[float]] = {}
    for one in told:
        tail = [math.inf if loss is None else loss for loss in one["losses"][-TAIL:]]
        left.setdefault(one["rate"], []).append(sum(tail) / len(tail))
    means = {rate: sum(some) / len(some) for rate, some in sorted(left.items())}
    start = sum(one["losses"][0] for one in told) / len(told)
    best = min(means, key=lambda rate: means[rate])
    gain = start - means[best]
    good = {rate for rate, loss in means.items() if loss <= means[best] + MARGIN * gain}
    rates = list(means)
    low = high = rates.index(best)
    while low > 0 and rates[low - 1] in good:
        low -= 1
    while high + 1 < len(rates) and rates[high + 1] in good:
        high += 1
    nothing = [rate for rate in rates if rate > best and not means[rate] < start - NOTHING * gain]
    return Sweep(rates[low], rates[high], diverges or min(nothing, default=math.inf))


def tested(command: Sequence[str]) -> dict[str, Any]:
    """What ``trueline tune lr`` says, with its defaults."""
    with tempfile.TemporaryDirectory() as place:
        answer = Path(place) / "answer.json"
        asked = ["tune", "lr", "--quiet", "--json", str(answer), *command]
        done = subprocess.run([sys.executable, "-m", "trueline", *asked], capture_output=True, text=True, check=False)
        if not answer.exists():
            raise RuntimeError(done.stderr[-500:])
        found: dict[str, Any] = json.loads(answer.read_text("utf-8"))
        return found


def wrong(known: Sweep, found: dict[str, Any]) -> list[str]:
    """What is not right; nothing where all is."""
    lower, suggestion, upper = found["lower"], found["suggestion"], found["upper"]
    if suggestion is None or lower is None or upper is None:
        return [found["conclusion"]]
    faults = []
    if not known.low <= suggestion <= known.high:
        faults.append(f"suggestion {suggestion:.3g} is not in {known.low:.3g} to {known.high:.3g}")
    if not known.high / FACTOR <= upper <= known.high * FACTOR or upper >= known.diverges:
        faults.append(f"upper bound {upper:.3g}: the range ends at {known.high:.3g}, diverges at {known.diverges:.3g}")
    if not known.low / DECADE <= lower <= known.low * DECADE:
        faults.append(f"lower bound {lower:.3g}: the range begins at {known.low:.3g}")
    return faults


def page(rows: Sequence[dict[str, Any]]) -> str:
    """The table for people."""
    lines = ["# Learning rate bounds", "", "Written by `make eval`: `python tests/eval/tune.py`, whose first lines say"]
    lines += ["what right means.", ""]
    lines += _table([one for one in rows if not one["held_out"]])
    lines += ["", "## Held out", "", "Problems that were looked at only to check the rules.", ""]
    lines += _table([one for one in rows if one["held_out"]])
    return "\n".join(lines) + "\n"


def _table(rows: Sequence[dict[str, Any]]) -> list[str]:
    lines = [f"{sum(not one['wrong'] for one in rows)} of {len(rows)} are right.", ""]
    lines += ["| problem | framework | good range | diverges | lower bound | suggested | upper bound | wrong |"]
    lines += ["|---|---|---|---|---|---|---|---|"]
    for one in rows:
        low, high = one["good"]
        diverges = f"{one['diverges']:.2g}" if one["diverges"] is not None else "at none of them"
        bounds = " | ".join(
            "" if one[name] is None else f"{one[name]:.2g}" for name in ("lower", "suggestion", "upper")
        )
        cells = f"{one['about']} | {one['framework']} | {low:.2g} to {high:.2g} | {diverges} | {bounds}"
        lines.append(f"| {cells} | {'; '.join(one['wrong'])} |")
    return lines


if __name__ == "__main__":
    sys.exit(main())
