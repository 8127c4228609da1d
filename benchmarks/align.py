"""What it costs to align two sides of many names: a port behind a prefix, with renames and leftovers."""

from __future__ import annotations

import sys
from functools import partial

from measure import interleave

from trueline.compare.align import Item, Structure, align, align_keys
from trueline.model.key import Key

LIMIT = 2.0
LEFT_OVER = 300


def sides(count: int) -> tuple[Structure, Structure]:
    """Blocks of nine tensors as torch and as a refactored port name them, and tensors that only one side has."""
    here: list[Item] = []
    there: list[Item] = []

    def add(side: list[Item], name: str, *shape: int) -> None:
        side.append(Item(Key.of_parameter(name), shape))

    place = 0
    while len(there) < count - LEFT_OVER:
        stage, block, width = place // 40, place % 40, 8 * (1 + place // 40 % 64)
        a, b = f"backbone.stages.{stage}.{block}", f"layer{stage + 1}.{block}"
        for one, other in (("a", "1"), ("b", "2")):
            add(here, f"{a}.conv_{one}.weight", width, width, 3, 3)
            add(there, f"{b}.conv{other}.weight", width, width, 3, 3)
            for leaf in ("moving_mean", "moving_variance", "gamma", "beta"):
                add(here, f"{a}.norm_{one}.{leaf}", width)
            for leaf in ("weight", "bias", "running_mean", "running_var"):
                add(there, f"{b}.bn{other}.{leaf}", width)
        place += 1
    for extra in range(LEFT_OVER):
        add(here, f"backbone.extra_{extra}.scale_{extra}", 7, extra + 2)
        add(there, f"side{extra}.other{extra}.weight", 5, 3, extra + 2)
    return Structure(here), Structure(there)


def equal_names(count: int) -> tuple[Structure, Structure]:
    """Both sides of one name."""
    _, side = sides(count)
    return side, side


def strangers(count: int) -> tuple[Structure, Structure]:
    """Two sides that have nothing to do with each other."""
    items = [
        [Item(Key.of_parameter(f"{s}{n % 97}.{s}{n}.{s}weight"), (n % 50, 3 + (s == "x"))) for n in range(count)]
        for s in "xy"
    ]
    return Structure(items[0]), Structure(items[1])


if __name__ == "__main__":
    calls = {}
    for count in (1_000, 10_000):
        for name, make in (("equal names", equal_names), ("refactored", sides), ("strangers", strangers)):
            a, b = make(count)
            calls[f"{name} {count:>6,}"] = partial(align, a, b)
        a, b = sides(count)
        keys = [item.key for item in a.items], [item.key for item in b.items]
        calls[f"names only {count:>6,}"] = partial(align_keys, *keys)
    print(f"{'two sides of':<20} {'CPU s':>7} {'quartiles':>13}")
    missed = False
    for name, sample in interleave(calls, repeat=5).items():
        print(f"{name:<20} {sample.median:>7.3f} {f'{sample.low:.3f}-{sample.high:.3f}':>13}")
        missed = missed or sample.median > LIMIT
    sys.exit(1 if missed else 0)
