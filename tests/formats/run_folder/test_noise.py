"""The noise of a run folder: kept whole, and read with suspicion."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import pytest

from trueline.formats.run_folder.noise import read_measured, room_for_tries, write_noise
from trueline.formats.run_folder.reader import find_runs, open_run
from trueline.formats.run_folder.writer import RankWriter
from trueline.model.key import Key
from trueline.model.noise import Drift, LossDrift, Margins, Noise
from trueline.model.run import RunInfo
from trueline.model.trouble import BadFile

NOISE = Noise(
    tries=3,
    how={"kernels": ["3 threads"], "layers": 12},
    drifts={
        (Key.of("conv", "out"), 0): Drift(3e-7, 3e-7, 1e-7, 2.0**-23),
        (Key.of("a/b#c", "grad", "weight"), 1): Drift(2e-6, 2e-6, 1e-6, 2.0**-23, 0.5),
        (Key.of("count", "buffer", "n"), 1): Drift(0.0, 0.0, 0.0, 0.0),
    },
    losses={0: LossDrift(2.3, 1e-7), 1: LossDrift(2.2, 3e-7, 1e-3), 2: LossDrift(math.nan, 1e-7)},
)


def _run(folder: Path) -> Path:
    writer = RankWriter(folder)
    writer.write_info(RunInfo(id="made-up"))
    writer.close()
    return folder


def test_what_is_written_is_read_back_and_the_run_is_still_one(tmp_path: Path) -> None:
    folder = _run(tmp_path / "run")
    assert read_measured(folder) is None
    write_noise(folder, NOISE)
    found = read_measured(folder)
    assert found is not None
    assert (found.tries, found.how, found.drifts) == (NOISE.tries, NOISE.how, NOISE.drifts)
    assert json.dumps(found.to_json()) == json.dumps(NOISE.to_json())
    assert open_run(folder).info.id == "made-up"
    json.loads((folder / "noise" / "noise.json").read_text(), parse_constant=lambda word: pytest.fail(word))


def test_tries_lie_where_no_reader_looks_and_leave_nothing_behind(tmp_path: Path) -> None:
    folder = _run(tmp_path / "runs" / "run")
    with pytest.raises(KeyboardInterrupt), room_for_tries(folder) as room:
        _run(room / "run")
        assert find_runs(tmp_path) == [folder]
        raise KeyboardInterrupt
    assert not (folder / "noise").exists()
    with room_for_tries(folder):
        write_noise(folder, NOISE)
    assert [one.name for one in (folder / "noise").iterdir()] == ["noise.json"]


def _broken() -> dict[str, Any]:
    good = NOISE.to_json()
    tensor, loss = good["tensors"][0], good["losses"][0]
    return {
        "not_json": b"{",
        "a_list": b"[]",
        "empty": b"",
        "binary": bytes(range(256)),
        "deep": b"[" * 100_000,
        "newer": {**good, "format": 2},
        "no_format": {"tries": 1},
        "text_tries": {**good, "tries": "3"},
        "negative_tries": {**good, "tries": -1},
        "tensors_an_object": {**good, "tensors": {}},
        "tensor_a_number": {**good, "tensors": [7]},
        "no_key": {**good, "tensors": [{**tensor, "key": None}]},
        "bad_key": {**good, "tensors": [{**tensor, "key": "../../etc/passwd"}]},
        "negative_level": {**good, "tensors": [{**tensor, "level": -1}]},
        "nan_level": {**good, "tensors": [{**tensor, "level": "nan"}]},
        "text_level": {**good, "tensors": [{**tensor, "level": "large"}]},
        "no_level": {**good, "tensors": [{name: one for name, one in tensor.items() if name != "level"}]},
        "true_step": {**good, "tensors": [{**tensor, "step": True}]},
        "negative_step": {**good, "losses": [{**loss, "step": -1}]},
        "text_loss": {**good, "losses": [{**loss, "value": "two"}]},
        "huge_loss": json.dumps({**good, "losses": [{**loss, "value": 7}]}).replace(": 7,", f": {'7' * 400},").encode(),
        "how_a_list": {**good, "how": []},
    }


@pytest.mark.parametrize("name", sorted(_broken()))
def test_a_file_that_is_something_else_is_one_clear_line(name: str, tmp_path: Path) -> None:
    folder = _run(tmp_path / "run")
    (folder / "noise").mkdir()
    content = _broken()[name]
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    (folder / "noise" / "noise.json").write_bytes(data)
    with pytest.raises(BadFile) as caught:
        read_measured(folder)
    assert "noise.json" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_outside_of_the_folder_is_refused(tmp_path: Path) -> None:
    folder = _run(tmp_path / "run")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "noise.json").write_text(json.dumps(NOISE.to_json()))
    (folder / "noise").symlink_to(outside)
    with pytest.raises(BadFile):
        read_measured(folder)


def test_floors_are_the_measured_with_its_margin_and_never_less_than_a_few_roundings() -> None:
    noise = Noise(NOISE.tries, {}, NOISE.drifts, NOISE.losses, Margins(tensor=10, switched=2, ulps=8))
    assert noise.floor(Key.of("conv", "out"), 0) == pytest.approx(3e-6)
    assert noise.floor(Key.of("conv", "out"), 1) is None
    assert noise.floor(Key.of("other", "out"), 0) is None
    assert noise.floor(Key.of("count", "buffer", "n"), 1) == 0
    gradient = Key.of("a/b#c", "grad", "weight")
    assert noise.floor(gradient, 1) == pytest.approx(1.0)
    assert noise.floor(gradient, 1, switched=False) == pytest.approx(2e-5)


def test_a_band_never_narrows_grows_beyond_what_was_measured_and_says_so() -> None:
    spreads = [1e-7, 1e-6, 4e-7, 1e-5, 1e-4]
    losses = {step: LossDrift(2.0, spread) for step, spread in enumerate(spreads)}
    noise = Noise(3, {}, {}, losses, Margins(loss=10, most_rate=0.3))
    bands = [noise.loss_band(step) or 0.0 for step in range(200)]
    assert bands[:5] == pytest.approx([1e-6, 1e-5, 1e-5, 1e-4, 1e-3])
    assert all(one <= other for one, other in itertools.pairwise(bands))
    assert bands[5] == pytest.approx(1e-3 * 10**0.3)
    assert bands[-1] == pytest.approx(0.5)
    assert [noise.extrapolated(step) for step in (0, 4, 5)] == [False, False, True]
    assert noise.loss_band(10**12) == pytest.approx(0.5)
    assert Noise(3).loss_band(0) is None
