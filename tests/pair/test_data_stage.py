"""Data of both sides: equal pipelines are silent however they are written, and what differs is named with its step."""

from __future__ import annotations

from pathlib import Path

import pytest
from pair.parts_project.asking import PROJECT, Sides, parts_of

from trueline.adapters.guest.trouble import SideTrouble
from trueline.pair.blame import Cause, StageResult, StageVerdict
from trueline.pair.data.stage import data_stage

COMMON = """
import numpy as np
from pictures import MEAN, STD, filled, pictures, sentences
from preparing import *

def in_255(mean=MEAN, std=STD):
    from mindspore.dataset import vision
    return vision.Normalize([255 * one for one in mean], [255 * one for one in std])
"""
STEPS = """
def samples(): return pictures()
def bench_transforms(): return [Resize((40, 50)), Crop(32), ToTensor(), Normalise(MEAN, STD)]
def port_transforms():
    from mindspore.dataset import transforms, vision
    return {port}
"""
SETS = """
def bench_dataset():
    import torch
    pixels = torch.tensor(np.stack(pictures(24, 20, 20)).transpose(0, 3, 1, 2) / 255.0, dtype=torch.float32)
    data = torch.utils.data.TensorDataset(pixels, torch.arange(24) % 5)
    return torch.utils.data.DataLoader(data, 8, shuffle={bench_shuffles})
def port_dataset():
    import mindspore.dataset as ds
    x = np.stack(pictures(24, 20, 20)).transpose(0, 3, 1, 2).astype(np.float32) / 255
    y = (np.arange(24) % 5).astype(np.int32)
    {change}
    return ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle={port_shuffles}).batch({batch})
"""


@pytest.fixture
def sides(part_sides: Sides) -> Sides:
    return part_sides


def _steps(sides: Sides, folder: Path, port: str) -> StageResult:
    return data_stage(*sides, parts_of(sides, folder, COMMON + STEPS.format(port=port)))


def _sets(
    sides: Sides, folder: Path, change: str = "", bench: bool = False, port: bool = False, batch: int = 8
) -> StageResult:
    text = SETS.format(change=change, bench_shuffles=bench, port_shuffles=port, batch=batch)
    return data_stage(*sides, parts_of(sides, folder, COMMON + text))


def _causes(found: StageResult) -> list[Cause]:
    assert found.verdict is StageVerdict.FOUND
    assert all(one.confirmed for one in found.blames)
    return [one.cause for one in found.blames]


@pytest.mark.parametrize(
    "port",
    [
        "[Resize((40, 50)), Crop(32), in_255(), vision.HWC2CHW()]",
        "[Resize((40, 50)), vision.CenterCrop(32), vision.ToTensor(), vision.Normalize(MEAN, STD, is_hwc=False)]",
        "transforms.Compose([Resize((40, 50)), Crop(32),"
        " vision.Rescale(1 / 255, 0), vision.Normalize(MEAN, STD), vision.HWC2CHW()])",
    ],
)
def test_the_same_in_other_words_is_silent(sides: Sides, tmp_path: Path, port: str) -> None:
    found = _steps(sides, tmp_path, port)
    assert found.verdict is StageVerdict.PASSED
    assert found.blames == ()


@pytest.mark.parametrize(
    ("port", "causes", "step"),
    [
        ("[Resize((40, 50), 3), Crop(32), in_255(), vision.HWC2CHW()]", [Cause.INTERPOLATION], "Resize("),
        (
            "[vision.Resize((40, 50)), Crop(32), in_255(), vision.HWC2CHW()]",
            [Cause.INTERPOLATION],
            "step 1 of the port: Resize(",
        ),
        ("[Resize((42, 50)), Crop(32), in_255(), vision.HWC2CHW()]", [Cause.OUTPUT_SIZE], "Resize(size=[42, 50]"),
        ("[Resize((40, 50)), Crop(32, 1), in_255(), vision.HWC2CHW()]", [Cause.CROP], "Crop(size=32, off=1)"),
        (
            "[Resize((40, 50)), Crop(32), vision.Normalize(MEAN, STD), vision.HWC2CHW()]",
            [Cause.FACTOR_255],
            "step 3 of the port: Normalize(",
        ),
        ("[Resize((40, 50)), Crop(32), in_255((.485, .456, .42)), vision.HWC2CHW()]", [Cause.MEAN_STD], "Normalize("),
        ("[Resize((40, 50)), Crop(32), in_255(MEAN, (.2, .2, .2)), vision.HWC2CHW()]", [Cause.MEAN_STD], "Normalize("),
        ("[Resize((40, 50)), Crop(32), in_255()]", [Cause.DATA_LAYOUT], "32x32x3"),
        (
            "[Resize((40, 50)), Crop(32), Swapped(), in_255(MEAN[::-1], STD[::-1]), vision.HWC2CHW()]",
            [Cause.CHANNEL_ORDER],
            "Swapped()",
        ),
        (
            "[Resize((40, 50)), Crop(32), in_255(), vision.HWC2CHW(), lambda x: x.astype(np.float64)]",
            [Cause.DATA_DTYPE],
            "float64",
        ),
        ("[Resize((40, 50)), Crop(32), Mirrored(), in_255(), vision.HWC2CHW()]", [Cause.DATA], "Mirrored()"),
        (
            "[Resize((40, 50), 3), Crop(32), in_255((.5, .456, .406)), vision.HWC2CHW()]",
            [Cause.INTERPOLATION, Cause.MEAN_STD],
            "Resize(",
        ),
        (
            "[Resize((40, 50)), Crop(32, 2), in_255((.485, .456, .42)), vision.HWC2CHW()]",
            [Cause.CROP, Cause.MEAN_STD],
            "Crop(",
        ),
        (
            "[Resize((40, 50)), Crop(32), MirroredByChance(), in_255(), vision.HWC2CHW()]",
            [Cause.DATA],
            "change with the seed",
        ),
    ],
)
def test_where_transforms_part(sides: Sides, tmp_path: Path, port: str, causes: list[Cause], step: str) -> None:
    found = _steps(sides, tmp_path, port)
    assert _causes(found) == causes
    assert step in str(found.blames[0].message)


def test_a_step_of_the_user_s_is_named_with_its_line(sides: Sides, tmp_path: Path) -> None:
    found = _steps(sides, tmp_path, "[Resize((40, 50)), Crop(32, 1), in_255(), vision.HWC2CHW()]")
    line = found.blames[0].line
    assert line is not None
    assert (PROJECT / "preparing.py").read_text().splitlines()[line.line - 1] == "class Crop:"


def test_what_is_never_the_same_is_not_blamed(sides: Sides, tmp_path: Path) -> None:
    found = _steps(sides, tmp_path, "[Resize((40, 50)), Crop(32), ShiftedFreely(), in_255(), vision.HWC2CHW()]")
    assert found.verdict is StageVerdict.SKIPPED
    assert "mindspore_side:net" in str(found.message)


@pytest.mark.parametrize(("bench", "port"), [(False, False), (True, True)])
def test_equal_datasets_are_silent_shuffled_or_not(sides: Sides, tmp_path: Path, bench: bool, port: bool) -> None:
    assert _sets(sides, tmp_path, bench=bench, port=port).verdict is StageVerdict.PASSED


@pytest.mark.parametrize(
    ("change", "shuffles", "causes"),
    [
        ("x, y = x[::-1].copy(), y[::-1].copy()", False, [Cause.SAMPLE_ORDER]),
        ("y = y + 1", False, [Cause.LABELS]),
        ("y = (y + 2) % 5", False, [Cause.LABELS]),
        ("x = x * 255", True, [Cause.FACTOR_255]),
        ("x = x.transpose(0, 2, 3, 1).copy()", False, [Cause.DATA_LAYOUT]),
        (
            "x, y = 255 * x[::-1, ::-1].copy(), y[::-1].copy()",
            False,
            [Cause.SAMPLE_ORDER, Cause.CHANNEL_ORDER, Cause.FACTOR_255],
        ),
    ],
)
def test_what_differs_in_batches(
    sides: Sides, tmp_path: Path, change: str, shuffles: bool, causes: list[Cause]
) -> None:
    found = _sets(sides, tmp_path, change, bench=shuffles, port=shuffles)
    assert _causes(found) == causes
    assert all(one.line is not None for one in found.blames)


def test_one_sample_that_differs_is_enough(sides: Sides, tmp_path: Path) -> None:
    found = _sets(sides, tmp_path, "x[20] = np.sqrt(x[20])")
    assert found.verdict is StageVerdict.FOUND
    assert [(one.cause, one.confirmed) for one in found.blames] == [(Cause.DATA, False)]


def test_a_last_batch_that_is_left_out(sides: Sides, tmp_path: Path) -> None:
    text = "def {}_dataset(): return [(np.ones((size, 3)), np.arange(size)) for size in {}]\n"
    parts = parts_of(sides, tmp_path, COMMON + text.format("bench", (4, 4, 2)) + text.format("port", (4, 4)))
    found = data_stage(*sides, parts)
    assert _causes(found) == [Cause.DATA]
    assert (found.blames[0].bench, found.blames[0].port) == ("4, 4, 2", "4, 4")


def test_points_the_other_way_round_are_another_layout(sides: Sides, tmp_path: Path) -> None:
    text = "def {}_dataset(): return [(np.random.default_rng(3).random((2, 40, 3)){}, np.arange(2))]\n"
    there, here = text.format("bench", ""), text.format("port", ".transpose(0, 2, 1)")
    assert _causes(data_stage(*sides, parts_of(sides, tmp_path, COMMON + there + here))) == [Cause.DATA_LAYOUT]


def test_samples_of_different_lengths(sides: Sides, tmp_path: Path) -> None:
    text = "def {}_dataset(): return [(one[None], np.array([0])) for one in sentences(4)]\n"
    parts = parts_of(sides, tmp_path, COMMON + text.format("bench") + text.format("port"))
    assert data_stage(*sides, parts).verdict is StageVerdict.PASSED


def test_only_one_side_shuffles(sides: Sides, tmp_path: Path) -> None:
    assert _causes(_sets(sides, tmp_path, port=True)) == [Cause.SAMPLE_ORDER]


def test_samples_one_by_one_against_batches(sides: Sides, tmp_path: Path) -> None:
    text = SETS.format(change="", bench_shuffles=False, port_shuffles=False, batch=3)
    parts = parts_of(
        sides, tmp_path, COMMON + text.replace("DataLoader(data, 8, shuffle=False)", "Subset(data, range(9))")
    )
    assert data_stage(*sides, parts, batches=9).verdict is StageVerdict.PASSED


def test_another_batch_size(sides: Sides, tmp_path: Path) -> None:
    found = _sets(sides, tmp_path, batch=6)
    assert "batch size 6 in the port, 8" in str(found.blames[0].message)


@pytest.mark.parametrize(
    ("port", "text"),
    [
        ("filled(sentences(9), side='left')", "left, 0, 12 in the port, right, 0, 12 in the benchmark"),
        ("filled(sentences(9), value=1)", "right, 1, 12 in the port, right, 0, 12 in the benchmark"),
        ("filled(sentences(9), 14)", "right, 0, 14 in the port, right, 0, 12 in the benchmark"),
    ],
)
def test_padding_of_sequences(sides: Sides, tmp_path: Path, port: str, text: str) -> None:
    bench = "\ndef bench_dataset(): return [(filled(sentences(9)), np.arange(9))]\n"
    parts = parts_of(sides, tmp_path, COMMON + bench + f"def port_dataset(): return [({port}, np.arange(9))]\n")
    found = data_stage(*sides, parts)
    assert _causes(found) == [Cause.DATA_PADDING]
    assert text in str(found.blames[0].message)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("return 5", "port_dataset returned int"),
        ("return []", "dataset gives no batch"),
        ("raise OSError('no disk')", "the dataset raised OSError: no disk"),
    ],
)
def test_a_bad_dataset_is_one_line(sides: Sides, tmp_path: Path, body: str, says: str) -> None:
    text = f"def bench_dataset(): return [([1.0], [2])]\ndef port_dataset():\n    {body}\n"
    with pytest.raises(SideTrouble, match=says) as caught:
        data_stage(*sides, parts_of(sides, tmp_path, text))
    assert str(caught.value).startswith("mindspore_side:net: ")
