"""The table of APIs, held against what is documented and against a second measurement.

python tests/eval/api_table.py [--again TABLE.jsonl] [--write]

Counts the outcomes, asks for every difference that is known to bite ports whether the measurement has found it, lists
the pairs whose documentation says consistent and that differ, and says in how many outcomes a table measured with
another seed agrees (``trueline api --run --seed 2 -o TABLE.jsonl``).
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from trueline.adapters.lab.call import Answer
from trueline.apitable.pairs import MINDSPORE, TORCH, Measured, Outcome, Table, decoded, documented, measured
from trueline.migrate.lab.bench import Asked, Bench
from trueline.migrate.lab.convention_probes import probe_call

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from eval.tables import TABLES, write_table

# What is known to bite: a pair and the argument whose default differs ("" where both differ whatever is given).
DEFAULTS = {
    "convolutions have no bias": ("torch.nn.Conv2d", "mindspore.nn.Conv2d", "bias"),
    "convolutions pad by 'same'": ("torch.nn.Conv2d", "mindspore.nn.Conv2d", "padding"),
    "pooling moves by 1": ("torch.nn.MaxPool2d", "mindspore.nn.MaxPool2d", "stride"),
    "average pooling moves by 1": ("torch.nn.AvgPool2d", "mindspore.nn.AvgPool2d", "stride"),
    "LayerNorm adds 1e-7": ("torch.nn.LayerNorm", "mindspore.nn.LayerNorm", "eps"),
    "InstanceNorm learns weights": ("torch.nn.InstanceNorm2d", "mindspore.nn.InstanceNorm2d", "affine"),
    "LeakyReLU has a slope of 0.2": ("torch.nn.LeakyReLU", "mindspore.nn.LeakyReLU", "negative_slope"),
    "GELU by tanh": ("torch.nn.GELU", "mindspore.nn.GELU", "approximate"),
    "flatten from the second axis": ("torch.flatten", "mindspore.ops.flatten", "start_dim"),
    "std is biased": ("torch.std", "mindspore.ops.std", "unbiased"),
    "var is biased": ("torch.var", "mindspore.ops.var", "unbiased"),
    "SmoothL1Loss is not reduced": ("torch.nn.SmoothL1Loss", "mindspore.nn.SmoothL1Loss", "reduction"),
    "AdamWeightDecay is another algorithm": ("torch.optim.AdamW", "mindspore.nn.AdamWeightDecay", ""),
    "RMSProp has other defaults": ("torch.optim.RMSprop", "mindspore.nn.RMSProp", ""),
    "Adagrad begins at 0.1": ("torch.optim.Adagrad", "mindspore.nn.Adagrad", "initial_accumulator_value"),
}
# Beside single calls: what a probe of both frameworks shows.
PROBES = {
    "Adam adds eps before the bias correction": "adam_epsilon",
    "schedules advance by the step": "schedule_units",
    "grad of many outputs is that of their sum": "gradient_of_many",
    "gradients do not accumulate": "gradient_accumulation",
    "images are height, width, channel": "normalized_channels_first",
    "Normalize on bytes needs mean and deviation times 255": "normalized_image",
    "a dataset is not shuffled anew in each epoch": "epoch_order",
}


def main() -> int:
    """Print the table's numbers; 1 where a known difference was not found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--again", type=Path, help="a table measured with another seed")
    parser.add_argument("--write", action="store_true", help="docs/tables/api.json and api.md")
    asked = parser.parse_args()
    table = measured()
    content: dict[str, Any] = {"machine": str(table.machine), "counts": counts(table)}
    content["known"] = {**dict(known_defaults(table)), **dict(known_conventions())}
    content["consistent"] = dict(consistent(table))
    if asked.again is not None:
        content["again"] = agreement(table, decoded(asked.again.read_bytes()))
    page = rendered(content)
    print(page)
    if asked.write:
        write_table("api", ("migrate/lab", "adapters/torch/lab", "adapters/mindspore/lab"), content)
        (TABLES / "api.md").write_text(page, "utf-8")
    missed = [name for name, found in content["known"].items() if found.startswith("not found")]
    return 1 if missed else 0


def counts(table: Table) -> dict[str, int]:
    """Pairs by outcome, distinct names of torch that were judged, and calls."""
    rows = [table.rows[pair.torch, pair.mindspore] for pair in documented()]
    found = dict(Counter(row.outcome.value for row in rows).most_common())
    listed = {pair.torch for pair in documented() if pair.documented != "none"}
    judged = {row.torch for row in rows if row.outcome is not Outcome.UNMEASURED}
    return {
        **found,
        "pairs": len(rows),
        "documented torch names": len(listed),
        "of these judged": len(listed & judged),
        "cases": table.machine.cases,
    }


def known_defaults(table: Table) -> Iterator[tuple[str, str]]:
    """Each difference of a default, and how it was found."""
    for name, (torch, mindspore, argument) in DEFAULTS.items():
        row = table.rows.get((torch, mindspore))
        yield name, _found(row, argument)


def _found(row: Measured | None, argument: str) -> str:
    if row is None:
        return "not found: no such pair"
    if row.outcome is Outcome.NO_KERNEL:
        return "no CPU kernel"
    written = [need.for_torch for need in row.needs if need.argument == argument]
    if written:
        return f"found: write {written[0]}"
    if row.outcome is Outcome.DIFFERS and not argument:
        return f"found: {row.outcome.value}"
    return f"not found: {row.outcome.value}"


def known_conventions() -> Iterator[tuple[str, str]]:
    """Each difference beside single calls, asked of both frameworks now."""
    with Bench(TORCH) as torch, Bench(MINDSPORE) as mindspore:
        torch.begin()
        mindspore.begin()
        for name, probe in PROBES.items():
            call, arrays = probe_call(probe)
            ours, theirs = (bench.answers([Asked(call, arrays)])[0] for bench in (torch, mindspore))
            if ours.error is not None and ours.error[0] == "missing":
                yield name, f"not measured: {ours.error[1]} is not installed"
            else:
                yield name, "not found" if _same(ours, theirs) else "found by a probe"


def _same(ours: Answer, theirs: Answer) -> bool:
    pairs = list(zip(ours.outputs, theirs.outputs, strict=False))
    return bool(pairs) and all(a.shape == b.shape and np.allclose(a, b, 1e-4, 1e-7) for a, b in pairs)


def consistent(table: Table) -> Iterator[tuple[str, str]]:
    """The pairs whose documentation says consistent and that differ for ordinary inputs, with the smallest example."""
    for pair in documented():
        row = table.rows[pair.torch, pair.mindspore]
        if pair.documented != "consistent" or row.outcome not in (Outcome.DIFFERS, Outcome.EQUAL_WITH):
            continue
        telling = [d for d in row.differences if d.what in ("values", "gradient", "shape", "dtype")]
        example = min(telling, key=lambda d: len(d.when)).example
        yield (
            f"{pair.torch} · {pair.mindspore}",
            f"`{example.torch}` → `{example.torch_gives}`; `{example.mindspore}` → `{example.mindspore_gives}`",
        )


def agreement(table: Table, other: Table) -> dict[str, Any]:
    """In how many outcomes two tables agree, of the pairs that both have measured."""
    both = [(row, other.rows[key]) for key, row in table.rows.items() if key in other.rows]
    both = [pair for pair in both if Outcome.UNMEASURED not in (pair[0].outcome, pair[1].outcome)]
    apart = [f"{a.torch} · {a.mindspore}: {a.outcome} / {b.outcome}" for a, b in both if a.outcome is not b.outcome]
    return {
        "pairs": len(both),
        "agree": len(both) - len(apart),
        "apart": apart,
        "seeds": [table.machine.seed, other.machine.seed],
        "cases": other.machine.cases,
    }


def rendered(content: dict[str, Any]) -> str:
    """The numbers as a page."""
    lines = [
        "# The table of APIs",
        "",
        "Written by `python tests/eval/api_table.py --write`.",
        "",
        content["machine"],
        "",
    ]
    lines += ["| what | number |", "|---|---|", *(f"| {name} | {count} |" for name, count in content["counts"].items())]
    lines += ["", "## Differences that are known to bite ports", "", "| difference | measured |", "|---|---|"]
    lines += [f"| {name} | {found} |" for name, found in content["known"].items()]
    lines += ["", f"## Documented as consistent, and different: {len(content['consistent'])}", ""]
    lines += [f"- {name}: {example}" for name, example in content["consistent"].items()]
    if "again" in content:
        again = content["again"]
        share = again["agree"] / max(again["pairs"], 1)
        lines += ["", "## A second measurement with another seed", ""]
        lines += [f"{again['agree']} of {again['pairs']} outcomes agree ({share:.1%}); {again['cases']} cases.", ""]
        lines += [f"- {line}" for line in again["apart"]]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
