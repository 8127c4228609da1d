"""MindSpore checkpoints, written by MindSpore and compared with what MindSpore itself reads."""

from __future__ import annotations

import pickle
import random
import time
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn

from trueline.formats.ckpt import looks_like_ckpt, read_ckpt
from trueline.model.trouble import BadFile

_TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64")


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3, has_bias=True)
        self.norm = nn.BatchNorm2d(2)
        self.head = nn.Dense(8, 4)
        self.logit_scale = ms.Parameter(ms.Tensor(2.0), name="logit_scale")


NETWORK = {
    *("conv.weight", "conv.bias", "norm.gamma", "norm.beta", "norm.moving_mean", "norm.moving_variance"),
    *("head.weight", "head.bias", "logit_scale"),
}


def _same_as_mindspore(path: Path) -> Any:
    weights = read_ckpt(path)
    told = ms.load_checkpoint(str(path))
    found = {name: one for section in weights.sections.values() for name, one in section.items()}
    assert found.keys() | weights.others.keys() == told.keys()
    for name, one in found.items():
        told_type = str(told[name].dtype)
        array = told[name].astype(ms.float32).asnumpy() if told_type == "BFloat16" else told[name].asnumpy()
        assert one.shape == told[name].shape
        assert str(one.dtype).replace("bool", "bool_").startswith(told_type.lower()[:4])
        np.testing.assert_array_equal(one.array().astype(array.dtype), array)
    return weights


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    net = Net()
    trainer = nn.TrainOneStepCell(net, nn.Adam(net.trainable_params()))
    path = tmp_path_factory.mktemp("ckpt") / "net.ckpt"
    ms.save_checkpoint(trainer, str(path), append_dict={"epoch_num": 3, "lr": 0.25, "note": "学习率 café"})
    return path


def test_a_network_s_weights_are_apart_from_its_optimizer_and_the_appended_values(trained: Path) -> None:
    weights = _same_as_mindspore(trained)
    assert weights.format == "ckpt"
    assert set(weights.model) == NETWORK
    assert {"global_step", "beta1_power", "moment1.conv.weight", "learning_rate"} <= set(weights.sections["optimizer"])
    assert weights.others == {"epoch_num": 3, "lr": 0.25, "note": "学习率 café"}
    assert looks_like_ckpt(trained)


@pytest.mark.parametrize(
    "name",
    [
        *("Momentum", "SGD", "AdamWeightDecay", "Lamb", "RMSProp", "Adagrad", "AdaMax", "Adadelta", "ASGD", "Rprop"),
        *("AdaFactor", "LazyAdam", "FTRL", "ProximalAdagrad"),
    ],
)
def test_every_optimizer_s_own_tensors_are_told_apart(tmp_path: Path, name: str) -> None:
    net = Net()
    rates: dict[str, float] = {} if name == "AdaFactor" else {"learning_rate": 0.1}
    if name in ("Momentum", "SGD"):
        rates["momentum"] = 0.9
    ms.save_checkpoint(
        nn.TrainOneStepCell(net, getattr(nn, name)(net.trainable_params(), **rates)), str(tmp_path / "net.ckpt")
    )
    weights = read_ckpt(tmp_path / "net.ckpt")
    assert set(weights.model) == NETWORK
    assert len(weights.sections["optimizer"]) > 7


def test_a_loss_scale_and_groups_of_parameters_are_told_apart(tmp_path: Path) -> None:
    net = Net()
    groups = [{"params": [net.head.weight], "lr": 0.1}, {"params": [net.conv.weight], "lr": 0.2}]
    scale = nn.DynamicLossScaleUpdateCell(1024, 2, 1000)
    cell = nn.WithLossCell(net, nn.CrossEntropyLoss())
    trainer = nn.TrainOneStepWithLossScaleCell(cell, nn.Momentum(groups, 0.1, 0.9), scale_sense=scale)
    ms.save_checkpoint(trainer, str(tmp_path / "net.ckpt"))
    weights = read_ckpt(tmp_path / "net.ckpt")
    assert set(weights.model) == NETWORK
    assert {"scale_sense", "current_iterator_step", "learning_rate_group_1"} <= set(weights.sections["optimizer"])


def test_averaged_weights_are_a_section_of_their_own(tmp_path: Path) -> None:
    net = Net()
    averaged = ms.ParameterTuple(net.trainable_params()).clone("ema", init="same")
    ms.save_checkpoint([*net.get_parameters(), *averaged], str(tmp_path / "net.ckpt"))
    weights = read_ckpt(tmp_path / "net.ckpt")
    assert set(weights.model) == NETWORK
    assert set(weights.sections["ema"]) == {one.name for one in net.trainable_params()}


def test_all_types_and_shapes(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    arrays = {f"a.{name}": (rng.random((3, 5)) * 100).astype(name) for name in _TYPES}
    arrays |= {"a.bool": rng.random(7) > 0.5, "a.deep": rng.random((1, 2, 1, 2, 1)), "a.名": np.ones(2, np.float32)}
    arrays["a.number"] = np.array(1.5, np.float32)
    saved = [{"name": name, "data": ms.Tensor(array)} for name, array in arrays.items()]
    saved.append({"name": "a.bfloat16", "data": ms.Tensor(rng.random((4, 2)).astype(np.float32)).astype(ms.bfloat16)})
    ms.save_checkpoint(saved, str(tmp_path / "all.ckpt"))
    weights = _same_as_mindspore(tmp_path / "all.ckpt")
    assert list(weights.model) == [*arrays, "a.bfloat16"]


@pytest.mark.parametrize("in_background", [False, True])
def test_a_parameter_in_slices_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_background: bool) -> None:
    monkeypatch.setattr(ms.train.serialization, "SLICE_SIZE", 1)
    array = np.random.default_rng(0).random((1000, 7)).astype(np.float32)
    ms.save_checkpoint(
        [{"name": "big", "data": ms.Tensor(array)}, {"name": "next", "data": ms.Tensor(array[:3])}],
        str(tmp_path / "big.ckpt"),
        async_save="thread" if in_background else False,
    )
    while not (tmp_path / "big.ckpt").exists():
        time.sleep(0.05)
    weights = read_ckpt(tmp_path / "big.ckpt")
    assert len(weights.model["big"].segments) > 20
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(weights.model["big"])).array(), array)
    np.testing.assert_array_equal(weights.model["next"].array(), array[:3])


def test_the_trailer_of_a_checked_file_is_no_tensor(trained: Path, tmp_path: Path) -> None:
    ms.save_checkpoint(Net(), str(tmp_path / "sum.ckpt"), crc_check=True)
    assert (tmp_path / "sum.ckpt").read_bytes()[-17:-10] == b"crc_num"
    assert set(_same_as_mindspore(tmp_path / "sum.ckpt").model) == NETWORK


@pytest.mark.parametrize("mode", ["AES-GCM", "AES-CBC", "SM4-CBC"])
def test_an_encrypted_file_is_refused_as_that(tmp_path: Path, mode: str) -> None:
    ms.save_checkpoint(Net(), str(tmp_path / "secret.ckpt"), enc_key=b"0123456789ABCDEF", enc_mode=mode)
    assert looks_like_ckpt(tmp_path / "secret.ckpt")
    with pytest.raises(BadFile, match="encrypted"):
        read_ckpt(tmp_path / "secret.ckpt")


def test_a_type_that_is_not_read_is_named(tmp_path: Path) -> None:
    ms.save_checkpoint([{"name": "z", "data": ms.Tensor(np.ones(2, np.complex64))}], str(tmp_path / "z.ckpt"))
    with pytest.raises(BadFile, match=r"z .*Complex64"):
        read_ckpt(tmp_path / "z.ckpt")


def test_ten_thousand_tensors_are_found_quickly(tmp_path: Path) -> None:
    one = ms.Tensor(np.ones(3, np.float32))
    saved = [{"name": f"layer{at}.weight", "data": one} for at in range(10_000)]
    ms.save_checkpoint(saved, str(tmp_path / "many.ckpt"))
    start = time.process_time()
    weights = read_ckpt(tmp_path / "many.ckpt")
    assert time.process_time() - start < 2
    assert len(weights.model) == 10_000


def test_damaged_files_give_one_clear_line(trained: Path, tmp_path: Path) -> None:
    data = trained.read_bytes()
    rng = random.Random(0)
    broken = [data[: rng.randrange(len(data))] for _ in range(60)]
    for _ in range(300):
        changed = bytearray(data)
        for _ in range(rng.randrange(1, 4)):
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
        broken.append(bytes(changed))
    refused = 0
    for content in broken:
        path = tmp_path / "broken.ckpt"
        path.write_bytes(content)
        looks_like_ckpt(path)
        try:
            for section in read_ckpt(path).sections.values():
                for one in section.values():
                    one.array()
        except BadFile as trouble:
            refused += 1
            assert "\n" not in str(trouble)
    assert refused > 60
