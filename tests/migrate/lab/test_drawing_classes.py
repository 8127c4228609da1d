"""What the lab draws for classes, and what MindSpore's call becomes of it; no framework is needed for either."""

from __future__ import annotations

from importlib import resources
from typing import Final

import msgspec
import numpy as np
import pytest

from trueline.apitable.pairs import Documented, Kind, documented, kind_of
from trueline.migrate.lab.conditions import conditions_of
from trueline.migrate.lab.draw import Draw
from trueline.migrate.lab.drawing.classes import drawables, draws
from trueline.migrate.lab.translating_classes import Untranslatable, defaults_of, needed, translate

CLASSES: Final = (
    *(Kind.LAYER, Kind.LOSS, Kind.OPTIMIZER, Kind.SCHEDULE, Kind.INITIALISER, Kind.TRANSFORM, Kind.DISTRIBUTION),
)
# Base classes and containers do nothing of their own; the others are misspelt in the documentation's table.
NOT_DRAWN: Final = frozenset(
    (
        *(
            "torch.nn.ModuleDict",
            "torch.nn.ModuleList",
            "torch.optim.Optimizer",
            "torch.optim.lr_scheduler.LRScheduler",
        ),
        *("torch.nn.CeLU", "torch.nn.SeLU", "torch.nn.LogSoftMax", "torch.optim.AdaMax", "torch.optim.RMSProp"),
    )
)


def _pair(torch: str, mindspore: str) -> Documented:
    return next(row for row in documented() if (row.torch, row.mindspore) == (torch, mindspore))


def test_every_documented_class_is_drawn_for() -> None:
    names = {row.torch for row in documented() if row.kind in CLASSES and not row.torch.startswith("torchaudio.")}
    assert names - set(drawables()) == NOT_DRAWN


def test_every_row_of_the_table_is_of_a_kind_that_has_a_module() -> None:
    assert {kind_of(name) for name in drawables()} == set(CLASSES)


def test_a_seed_gives_the_same_draws() -> None:
    pair = _pair("torch.nn.Conv2d", "mindspore.nn.Conv2d")
    first, second = (draws(pair.torch, pair.torch_parameters, 3, 20) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert one.build == other.build
        np.testing.assert_array_equal(one.more["weights"]["weight"], other.more["weights"]["weight"])


@pytest.mark.parametrize(
    "name", ["torch.nn.Conv2d", "torch.nn.CrossEntropyLoss", "torch.nn.LayerNorm", "torch.nn.GELU"]
)
def test_the_first_draw_is_ordinary_and_leaves_all_options_out(name: str) -> None:
    pair = next(row for row in documented() if row.torch == name)
    first, *others = draws(name, pair.torch_parameters, 1, 40)
    assert set(first.build) == set(drawables()[name].required)
    assert not conditions_of(first)
    edges = sum(bool(conditions_of(draw)) for draw in others)
    assert 0.05 < edges / len(others) < 0.6


def test_all_draws_are_translated_or_name_the_argument_that_is_not() -> None:
    for pair in documented():
        if pair.kind not in CLASSES:
            continue
        for draw in draws(pair.torch, pair.torch_parameters, 1, 4):
            try:
                torch, mindspore, arrays = translate(pair, draw)
            except Untranslatable as trouble:
                # Initialisers of MindSpore have one end of what torch has two of.
                assert trouble.argument in {*draw.build, "padding", "a"}
                continue
            assert (torch.name, mindspore.name) == (pair.torch, pair.mindspore)
            assert len(torch.args) == len(mindspore.args) == len(torch.more["names"])
            assert msgspec.json.encode([torch, mindspore])
            assert all(isinstance(array, np.ndarray) for array in arrays)


def test_what_is_left_out_stays_out_on_both_sides() -> None:
    pair = _pair("torch.nn.Conv2d", "mindspore.nn.Conv2d")
    torch, mindspore, _ = translate(pair, draws(pair.torch, pair.torch_parameters, 1, 1)[0])
    assert set(torch.build) == set(mindspore.build) == {"in_channels", "out_channels", "kernel_size"}


@pytest.mark.parametrize(
    ("torch", "mindspore", "argument", "written"),
    [
        ("torch.nn.Conv2d", "mindspore.nn.Conv2d", "bias", "has_bias=True"),
        ("torch.nn.Conv2d", "mindspore.nn.Conv2d", "padding", "pad_mode='valid', padding=0"),
        ("torch.nn.ConvTranspose2d", "mindspore.nn.Conv2dTranspose", "padding", "pad_mode='pad', padding=0"),
        ("torch.nn.MaxPool2d", "mindspore.nn.MaxPool2d", "stride", "stride=kernel_size"),
        ("torch.nn.LayerNorm", "mindspore.nn.LayerNorm", "eps", "epsilon=1e-05"),
        ("torch.nn.LeakyReLU", "mindspore.nn.LeakyReLU", "negative_slope", "alpha=0.01"),
        ("torch.nn.GELU", "mindspore.nn.GELU", "approximate", "approximate=False"),
        ("torch.nn.BatchNorm2d", "mindspore.nn.BatchNorm2d", "momentum", "momentum=0.9"),
        ("torch.nn.SmoothL1Loss", "mindspore.nn.SmoothL1Loss", "reduction", "reduction='mean'"),
        ("torch.optim.Adam", "mindspore.nn.Adam", "betas", "beta1=0.9, beta2=0.999"),
        ("torch.optim.AdamW", "mindspore.nn.AdamWeightDecay", "eps", "eps=1e-08"),
        ("torch.nn.ReLU", "mindspore.nn.ReLU", "inplace", ""),
    ],
)
def test_what_mindspore_needs_for_a_default_of_torch(torch: str, mindspore: str, argument: str, written: str) -> None:
    pair = _pair(torch, mindspore)
    defaults = dict(pair.torch_parameters)
    value = defaults_of(pair).get(argument, defaults[argument] == "True")
    assert needed(pair, argument, value) == written


def test_an_argument_that_mindspore_has_not_is_named() -> None:
    pair = _pair("torch.nn.Conv2d", "mindspore.nn.Conv2d")
    draw = draws(pair.torch, pair.torch_parameters, 1, 1)[0]
    with pytest.raises(Untranslatable) as trouble:
        translate(pair, Draw(draw.values, {**draw.build, "padding_mode": "reflect"}, more=draw.more))
    assert trouble.value.argument == "padding_mode"


def test_pairs_beside_the_documentation_are_no_documented_ones_and_are_drawn_for() -> None:
    lines = resources.files("trueline.apitable").joinpath("undocumented.jsonl").read_bytes().splitlines()
    rows = [msgspec.json.decode(line, type=Documented) for line in lines]
    assert {row.documented for row in rows} == {"none"}
    listed = {(row.torch, row.mindspore) for row in documented() if row.documented != "none"}
    assert not {(row.torch, row.mindspore) for row in rows} & listed
    assert {row.torch for row in rows} <= set(drawables())
