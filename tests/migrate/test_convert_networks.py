"""By the file alone: what is converted computes the same in the other framework, both ways, for every pair."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import handling_mindspore
import handling_torch
import mindspore as ms
import pytest
import torch
from by_hand import PAIRS, Pair
from checkpoints_torch import CHECKPOINTS
from cli.calling import call
from judging_outputs import apart, build
from network_inputs import inputs

AGREE = 1e-4

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*weight_norm. is deprecated:FutureWarning"),
    pytest.mark.usefixtures("one_thread"),
]
EVERY_PAIR = pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)


def _convert(*arguments: str | Path) -> dict[str, Any]:
    ended = call("convert", *arguments, "--json")
    assert ended.exit_code == 0, ended.output
    return json.loads(ended.stdout)


@EVERY_PAIR
def test_torch_to_mindspore(pair: Pair, tmp_path: Path) -> None:
    bench = handling_torch.move(build(pair.torch))
    torch.save(bench.state_dict(), tmp_path / "bench.pth")
    found = _convert(tmp_path / "bench.pth", tmp_path / "port.ckpt")
    port = build(pair.mindspore)
    missing, _ = ms.load_param_into_net(port, ms.load_checkpoint(str(tmp_path / "port.ckpt")), strict_load=True)
    assert missing == []
    batch = inputs(pair.inputs)
    assert apart(handling_mindspore.outputs(port, batch), handling_torch.outputs(bench, batch)) < AGREE
    # Nothing is lost without a word.
    told = {part for one in found["mapped"] for part in one["parts"]} | {one["name"] for one in found["dropped"]}
    assert told == set(bench.state_dict())


@EVERY_PAIR
def test_mindspore_to_torch(pair: Pair, tmp_path: Path) -> None:
    port = handling_mindspore.move(build(pair.mindspore))
    ms.save_checkpoint(port, str(tmp_path / "port.ckpt"))
    bench = build(pair.torch)
    like: list[str | Path] = []
    if pair.spectral:
        # The vectors are not in MindSpore's file: the network without the norm takes the weight as it is.
        bench = build("gan_torch:build_projection")
    elif "weight_norm" in pair.name:
        # A file alone cannot know that torch keeps the weight in two parts.
        torch.save(bench.state_dict(), tmp_path / "like.pth")
        like = ["--like", tmp_path / "like.pth"]
    _convert(tmp_path / "port.ckpt", tmp_path / "bench.pth", *like)
    found = bench.load_state_dict(torch.load(tmp_path / "bench.pth", weights_only=True), strict=False)
    assert found.unexpected_keys == []
    # A tied decoder and constants: MindSpore's file has them once, or not at all.
    own = {name for name in found.missing_keys if not name.endswith(("decoder.weight", "position_ids"))}
    assert own == set()
    batch = inputs(pair.inputs)
    assert apart(handling_torch.outputs(bench, batch), handling_mindspore.outputs(port, batch)) < AGREE


@pytest.mark.parametrize("style", CHECKPOINTS)
def test_a_checkpoint_of_any_style(style: str, tmp_path: Path) -> None:
    bench = handling_torch.move(build("resnet_torch:build"))
    torch.save(CHECKPOINTS[style](bench), tmp_path / "bench.pth")
    _convert(tmp_path / "bench.pth", tmp_path / "port.ckpt")
    port = build("resnet_mindspore:build")
    assert ms.load_param_into_net(port, ms.load_checkpoint(str(tmp_path / "port.ckpt")), strict_load=True)[0] == []
    batch = inputs("resnet")
    assert apart(handling_mindspore.outputs(port, batch), handling_torch.outputs(bench, batch)) < AGREE
