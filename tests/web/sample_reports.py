"""Reports made by hand, with everything that a page has to show."""

from __future__ import annotations

import math

from trueline.model.curve import Curve
from trueline.model.finding import Certainty, Conclusion, Finding
from trueline.model.location import Location
from trueline.model.message import message
from trueline.model.report import Band, Block, Curves, Folded, Report, Source, Strip, Table, Text

COLUMNS = ("tensor", "there called", "max |a-b|", "/ max |b|", "rel. L2", "cosine", "noise", "verdict")
FORK = 42
LAYERS = ["conv1", "bn1", "relu", *(f"layer{n // 4 + 1}.{n % 4 // 2}.conv{n % 2 + 1}" for n in range(24)), "pool", "fc"]
FIRST = 9
TORCH = ["def build(width):", "    layers = [", "        nn.Conv2d(width, width, 3, stride=2, padding=1),", "    ]"]
MINDSPORE = ["def build(width):", "    layers = [", "\tnn.Conv2d(width, width, 3, stride=2),", "    ]"]


def losses(count: int = 120) -> Curves:
    """Two losses that part at a step, and the noise around the first."""
    bench = [2.3 * math.exp(-step / 40) + 0.02 * math.sin(step) + 0.05 for step in range(count)]
    port = [value + (0.004 * (step - FORK) if step >= FORK else 1e-6) for step, value in enumerate(bench)]
    wide = [1e-3 + 1e-3 * step for step in range(count)]
    steps = list(range(count))
    band = Band(
        steps,
        [value - by for value, by in zip(bench, wide, strict=True)],
        [value + by for value, by in zip(bench, wide, strict=True)],
    )
    curves = [Curve("resnet (torch)", steps, bench), Curve("resnet (mindspore)", steps, port)]
    return Curves(message("Loss over steps"), curves, FORK, band)


def numbers(count: int, marked: int | None = None) -> Table:
    """A table of tensors as a comparison has it."""
    rows = [
        [
            f"layer{place}.conv#0/out/0",
            f"network.layer{place}.conv",
            1e-7 * (place * 7919 % 1000 + 1),
            2e-7 * (place * 104729 % 997 + 1),
            f"{1e-6 * (place + 1):.1e}",
            0.9999,
            3.1e-6,
            message("differs" if place == marked else "noise"),
        ]
        for place in range(count)
    ]
    marks = frozenset() if marked is None else frozenset({marked})
    return Table(message(f"Tensors at step 0: {count}"), [message(name) for name in COLUMNS], rows, marks)


def sources() -> list[Source]:
    """The line on either side that built a layer."""
    return [
        Source("bench/net.py", 31, TORCH, 29, "torch"),
        Source("port/models/backbone/net.py", 44, MINDSPORE, 42, "mindspore"),
    ]


def layers(names: list[str] | None = None, first: int = FIRST) -> Strip:
    """A strip whose cells open numbers and sources."""
    names = names if names is not None else LAYERS
    levels = [0.0 if place < first else min(1.0, 0.35 + 0.05 * ((place * 7) % 13)) for place in range(len(names))]
    details = [
        [
            Text(message(f"The output of {name} was compared.")),
            Table(
                message(f"Numbers of {name}"),
                [message(column) for column in ("tensor", "max |a-b|", "rel. L2")],
                [[f"{name}#0/in/0", 1.5e-7, 3e-8], [f"{name}#0/out/0", levels[place] / 3, 1.25e-2]],
                frozenset({1} if levels[place] else ()),
            ),
            *sources(),
        ]
        for place, name in enumerate(names)
    ]
    return Strip(message("Layers in execution order at step 0"), names, levels, first, details)


FINDINGS = (
    Finding(
        "cmp.04",
        Conclusion.FOUND,
        message(
            "The first difference is in layer2.1.conv1 (torch.nn.Conv2d in bench, mindspore.nn.Conv2d in port) at step "
            "0: same inputs, different output, max relative error 0.31."
        ),
        advice=message(
            "Compare how both sides build layer2.1.conv1: its arguments and, above all, the defaults that the two "
            "frameworks do not share."
        ),
        where=Location("port/models/backbone/net.py", 44, "layer2.1.conv1", 0, side="port"),
        measured=0.3125,
        limit=2.4e-6,
    ),
    Finding(
        "cmp.02",
        Conclusion.FOUND,
        message("The losses diverge at step 42: 0.8694 in port, 0.8654 in bench (noise band 1.2e-05)."),
        because="cmp.04",
        certainty=Certainty.LIKELY,
        where=Location(step=42),
    ),
    Finding(
        "dp.03",
        Conclusion.SUSPECT,
        message("The order of the samples cannot be seen in graph mode."),
        where=Location("port/train.py", 71),
    ),
    Finding("hp.02", Conclusion.NA, message("The learning rates were not judged."), error="KeyError: 'lr'"),
    Finding("hp.01", Conclusion.NONE, message("fine")),
    Finding("wi.01", Conclusion.NONE, message("fine")),
)


def full_report(*more: Block) -> Report:
    """One of everything."""
    built = Table(
        message("How layer2.1.conv1 is built"),
        [message(name) for name in ("argument", "torch Conv2d", "mindspore Conv2d")],
        [["kernel_size", "3", "3"], ["padding", "1", "0"], ["pad_mode", "", "same"], ["stride", "2", "2"]],
        frozenset({1}),
    )
    course = Table(
        message("Training"),
        [message(name) for name in ("quantity", "course", "first", "last")],
        [[curve.name, curve, curve.values[0], curve.values[-1]] for curve in losses().curves],
    )
    return Report(
        message("port compared with bench"),
        message(
            "port diverges from bench at step 0, first in layer2.1.conv1#0/out/0: layer2.1.conv1 is built at "
            "port/models/backbone/net.py:44, its counterpart at bench/net.py:31."
        ),
        FINDINGS,
        (
            losses(),
            Text(message("The losses diverge at step 42 (counted from 0): 0.8694 in port, 0.8654 in bench.")),
            layers(),
            numbers(8, 4),
            built,
            *sources(),
            course,
            Folded(message("All tensors"), [numbers(2500, 4)]),
            *more,
        ),
    )
