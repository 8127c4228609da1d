"""A held learning rate is what the weights move by, whatever gives the script its rates and however a step runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from adapters.mindspore.programs import run_program
from adapters.mindspore.programs.rates import HELD, KINDS


def test_the_weights_move_by_the_rate_that_is_held(tmp_path: Path) -> None:
    modes = run_program("rates", cwd=tmp_path)
    assert list(modes) == ["alone", "function", "graph"]
    for mode, told in modes.items():
        assert told.keys() == KINDS.keys()
        for kind, one in told.items():
            for rate, moved in zip(HELD, one["moved"], strict=True):
                assert moved == pytest.approx([rate, rate], rel=1e-5), (mode, kind)
        assert told["number"]["after"] == told["number"]["own"] == [0.1]
        assert told["groups"]["own"] == [0.05, 0.1]
        # The schedule goes on as if nothing had happened, and its end is known from the start.
        assert told["warm_up"]["own"] == [0.0]
        assert told["warm_up"]["after"] == pytest.approx([0.04])
        assert told["warm_up"]["peak"] == pytest.approx([0.1])
