"""The two networks of every pair compute the same from the same weights: a conversion can be judged by outputs."""

from __future__ import annotations

import re
from pathlib import Path

import handling_mindspore
import handling_torch
import mindspore as ms
import numpy as np
import pytest
import torch
from by_hand import PAIRS, Pair
from checkpoints_torch import CHECKPOINTS
from judging_outputs import apart, build
from moved_values import moved
from network_inputs import inputs

AGREE = 2e-5
SEEN = 1e-3

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*weight_norm. is deprecated:FutureWarning"),
    pytest.mark.usefixtures("one_thread"),
]


EVERY_PAIR = pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)


@EVERY_PAIR
def test_both_networks_compute_the_same_and_are_named_as_in_their_files(pair: Pair, tmp_path: Path) -> None:
    bench = handling_torch.move(build(pair.torch))
    torch.save(bench.state_dict(), tmp_path / "bench.pth")
    state = {name: one.numpy() for name, one in torch.load(tmp_path / "bench.pth", weights_only=True).items()}
    arrays = pair.mindspore_arrays(state)
    assert {pair.mindspore_name(name) for name in state} - {None} == arrays.keys()

    port = handling_mindspore.load(build(pair.mindspore), arrays)
    for seed in (0, 1):
        batch = inputs(pair.inputs, seed)
        wanted = handling_torch.outputs(bench, batch)
        assert all(np.isfinite(array).all() and 0.01 < array.std() < 100 for array in wanted)
        assert apart(handling_mindspore.outputs(port, batch), wanted) < AGREE

    ms.save_checkpoint(port, str(tmp_path / "port.ckpt"))
    loaded = ms.load_checkpoint(str(tmp_path / "port.ckpt"))
    assert loaded.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(loaded[name].asnumpy(), array)


@EVERY_PAIR
def test_every_array_matters_for_the_output(pair: Pair) -> None:
    net = handling_torch.move(build(pair.torch))
    batch = inputs(pair.inputs)
    wanted = handling_torch.outputs(net, batch)
    tensors = dict([*net.named_parameters(), *net.named_buffers()])
    others = moved({name: tensor.detach().numpy() for name, tensor in tensors.items()}, seed=2)
    unseen = []
    with torch.no_grad():
        for name, tensor in tensors.items():
            kept = tensor.clone()
            tensor.copy_(torch.from_numpy(np.asarray(others[name])))
            changed = not torch.equal(kept, tensor)
            if changed and apart(handling_torch.outputs(net, batch), wanted) < SEEN:
                unseen.append(name)
            tensor.copy_(kept)
    excused = r".*\.num_batches_tracked|" + pair.without_effect
    assert [name for name in unseen if not re.fullmatch(excused, name)] == []


@pytest.mark.parametrize("style", CHECKPOINTS)
def test_a_checkpoint_of_any_style_holds_the_same_weights(style: str, tmp_path: Path) -> None:
    net = handling_torch.move(build("resnet_torch:build"))
    torch.save(CHECKPOINTS[style](net), tmp_path / "net.pth")
    loaded = torch.load(tmp_path / "net.pth", weights_only=True)
    weights = next((loaded[key] for key in ("state_dict", "model") if key in loaded), loaded)
    found = {re.sub(r"^(module|_orig_mod)\.", "", name): tensor.numpy() for name, tensor in weights.items()}
    wanted = handling_torch.state(net)
    assert found.keys() == wanted.keys()
    for name, array in wanted.items():
        np.testing.assert_array_equal(found[name], array)
