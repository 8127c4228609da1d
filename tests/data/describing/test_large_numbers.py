"""Numbers whose sum or squares no float can hold: mean and spread are told all the same, without a warning."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import numpy as np
import pyarrow as arrow
import pytest
from pyarrow import parquet

from trueline.data.describing import describe
from trueline.data.describing.numbers import Moments
from trueline.data.describing.wanted import Wanted
from trueline.data.sources.opening import open_source

LARGEST = 1.7976931348623157e308
VALUES = [1e308, -1e308, 1.7e308, 1e300, 5.0, -1.79e308] * 10


def scaled(values: list[float]) -> tuple[float, float]:
    small = np.asarray(values) / 2.0**1000
    return float(small.mean()) * 2.0**1000, float(small.std()) * 2.0**1000


def write(path: Path, values: list[float]) -> Path:
    if path.suffix == ".npy":
        np.save(path, np.asarray(values).reshape(-1, 2))
    elif path.suffix == ".csv":
        path.write_text("a,b\n" + "".join(f"{one!r},{place}\n" for place, one in enumerate(values)))
    else:
        parquet.write_table(arrow.table({"a": values}), path)
    return path


@pytest.mark.parametrize("name", ["x.npy", "x.csv", "x.parquet"])
@pytest.mark.parametrize(
    "values", [VALUES, [LARGEST] * 60, [1e39, -1e39, 1e300, 5.0] * 15], ids=["all", "most", "some"]
)
def test_mean_and_spread_of_huge_numbers(tmp_path: Path, name: str, values: list[float]) -> None:
    source = open_source(str(write(tmp_path / name, values)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        field = describe(source, Wanted()).fields[0]
    mean, std = scaled(values)
    assert field.mean == pytest.approx(mean, rel=1e-9)
    assert field.std == pytest.approx(std, rel=1e-9, abs=1e294)


def test_moments_of_parts_are_those_of_the_whole() -> None:
    found = Moments()
    parts = [np.full(3, LARGEST), np.full(5, -LARGEST), np.asarray([0.0, 1.0])]
    for part in parts:
        found.add(len(part), float(part[0]) if part[0] == part[-1] else 0.5, 0.0 if part[0] == part[-1] else 0.5)
    mean, std = scaled(np.concatenate(parts).tolist())
    assert found.mean == pytest.approx(mean, rel=1e-12)
    assert found.std == pytest.approx(std, rel=1e-12)
    assert math.isfinite(found.std)
