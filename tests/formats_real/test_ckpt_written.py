"""Checkpoints written without MindSpore, loaded by MindSpore itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import mindspore as ms
import ml_dtypes
import numpy as np
import pytest
from mindspore import nn

from trueline.formats.ckpt import read_ckpt
from trueline.formats.ckpt.types import TYPES
from trueline.formats.ckpt.writer import cannot_hold, write_ckpt
from trueline.formats.making import making
from trueline.formats.npz import read_npz
from trueline.formats.outgoing import Outgoing
from trueline.kernel.array import Array


class Holder(nn.Cell):
    """Parameters of any name, type and shape."""

    def __init__(self, like: Mapping[str, Any]) -> None:
        super().__init__()
        self.held = ms.ParameterTuple([ms.Parameter(ms.ops.zeros_like(one), name=name) for name, one in like.items()])


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(16, 12)
        self.conv = nn.Conv2d(1, 2, 3, pad_mode="pad", padding=1, has_bias=True)
        self.norm = nn.BatchNorm2d(2)
        self.head = nn.Dense(2 * 4 * 12, 3)

    def construct(self, tokens: Any) -> Any:
        seen = self.norm(self.conv(self.table(tokens).expand_dims(1)))
        return self.head(ms.ops.relu(seen).reshape(tokens.shape[0], -1))


def _out(name: str, array: Array) -> Outgoing:
    return Outgoing(name, array.shape, array.dtype.newbyteorder("<"), array)


def _write(path: Path, arrays: Sequence[Outgoing], others: Mapping[str, Any] | None = None) -> None:
    with making(path) as made:
        write_ckpt(made.sink(path), arrays, others or {})


def _again(source: Path, target: Path) -> None:
    """A checkpoint read and written, with all that is in it."""
    weights = read_ckpt(source)
    _write(target, [Outgoing.of(one) for part in weights.sections.values() for one in part.values()], weights.others)


def _bytes(tensor: Any) -> bytes:
    made: bytes = tensor.asnumpy().tobytes()
    return made


def _into_a_cell(path: Path) -> dict[str, Any]:
    """What the parameters of a cell hold after loading a file into it."""
    told = ms.load_checkpoint(str(path))
    told = {name: one for name, one in told.items() if not isinstance(one, str)}
    cell = Holder(told)
    assert ms.load_param_into_net(cell, told, strict_load=True) == ([], [])
    return {one.name: one for one in cell.get_parameters()}


def _arrays() -> dict[str, Array]:
    rng = np.random.default_rng(0)
    made = {
        f"a.{name}": np.frombuffer(rng.bytes(6 * kind.itemsize), kind).reshape(2, 3) for name, kind in TYPES.items()
    }
    made["a.Bool"] = rng.random((2, 3)) > 0.5
    made |= {f"n.{name}": array[0, 0] for name, array in made.items()}
    made |= {
        "deep": rng.random((1, 2, 1, 2, 1)),
        "名.weight": np.ones(200),
        ".first": np.ones(1),
        "a b/c:d": np.ones(1),
    }
    made |= {"w" * 1024: np.ones(1), "turned": rng.random((5, 3)).T, "stepped": np.arange(20)[::3]}
    made |= {"foreign": np.arange(5, dtype=">i4"), "foreign half": np.arange(5, dtype=">f2")}
    return {name: np.asarray(array) for name, array in made.items()}


def test_every_type_shape_and_name_arrives_bit_for_bit_in_a_cell(tmp_path: Path) -> None:
    arrays = _arrays()
    _write(tmp_path / "all.ckpt", [_out(name, array) for name, array in arrays.items()])
    found = _into_a_cell(tmp_path / "all.ckpt")
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert tuple(found[name].shape) == array.shape
        assert str(found[name].dtype).lower().removesuffix("_") == array.dtype.name
        assert _bytes(found[name]) == array.astype(array.dtype.newbyteorder("<")).tobytes()


def test_the_file_is_the_one_mindspore_writes(tmp_path: Path) -> None:
    arrays = {name: one for name, one in _arrays().items() if one.dtype.isnative and one.dtype != ml_dtypes.bfloat16}
    others = {"epoch": 3, "top": (1 << 64) - 1, "half": 0.5, "yes": True, "note": "学习率", "nothing": ""}
    saved = [{"name": name, "data": ms.Tensor(np.ascontiguousarray(one))} for name, one in arrays.items()]
    saved = [{**one, "data": one["data"].reshape(arrays[one["name"]].shape)} for one in saved]
    ms.save_checkpoint(saved, str(tmp_path / "theirs.ckpt"), append_dict=others)
    _write(tmp_path / "ours.ckpt", [_out(name, one) for name, one in arrays.items()], others)
    assert (tmp_path / "ours.ckpt").read_bytes() == (tmp_path / "theirs.ckpt").read_bytes()


def test_compressed_sources_arrive(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    arrays: dict[str, Array] = {
        "a": rng.random((700, 300)),
        "b": np.asfortranarray(rng.random((30, 40)).astype(np.float16)),
    }
    np.savez_compressed(tmp_path / "in.npz", **arrays)
    _write(tmp_path / "out.ckpt", [Outgoing.of(one) for one in read_npz(tmp_path / "in.npz").model.values()])
    found = _into_a_cell(tmp_path / "out.ckpt")
    assert {name: one.asnumpy().tobytes() for name, one in found.items()} == {
        name: one.tobytes() for name, one in arrays.items()
    }


def test_plain_values_are_mindspore_s_appended_ones(tmp_path: Path) -> None:
    others = {"epoch_num": 3, "rate": 0.1, "huge": 1e300, "yes": False, "note": "学习率 café", "nothing": ""}
    _write(tmp_path / "some.ckpt", [_out("w", np.ones(2))], others)
    told = ms.load_checkpoint(str(tmp_path / "some.ckpt"))
    assert {
        name: told[name] if isinstance(told[name], str) else told[name].asnumpy().item() for name in others
    } == others


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2])
def test_types_that_are_refused_are_ones_mindspore_does_not_load(tmp_path: Path, dtype: Any) -> None:
    assert cannot_hold(_out("w", np.ones(2, dtype))) is not None
    try:
        tensor = ms.Tensor(np.ones(2, dtype))
        ms.save_checkpoint([{"name": "w", "data": tensor}], str(tmp_path / "w.ckpt"))
    except (TypeError, RuntimeError):
        return
    with pytest.raises(ValueError, match="failed to load"):
        ms.load_checkpoint(str(tmp_path / "w.ckpt"))


def test_names_that_are_refused_are_ones_mindspore_does_not_keep() -> None:
    for name in ("", " ", "w ", "\tw"):
        assert cannot_hold(_out(name, np.ones(2))) is not None
        assert ms.Parameter(ms.Tensor(1.0), name=name).name != name
    with pytest.raises(ValueError, match="1024"):
        ms.Parameter(ms.Tensor(1.0), name="w" * 1025)


def test_an_empty_tensor_is_refused_since_mindspore_loses_it(tmp_path: Path) -> None:
    assert cannot_hold(_out("none", np.ones((0, 3)))) is not None
    saved = [{"name": "none", "data": ms.Tensor(np.ones((0, 3)))}, {"name": "some", "data": ms.Tensor(np.ones(3))}]
    ms.save_checkpoint(saved, str(tmp_path / "w.ckpt"))
    assert list(ms.load_checkpoint(str(tmp_path / "w.ckpt"))) == ["some"]


def test_elements_that_look_like_a_checksum_at_the_end_arrive(tmp_path: Path) -> None:
    array = np.frombuffer(b"......crc_num0123456789", np.uint8)
    _write(tmp_path / "end.ckpt", [_out("net.w", array)])
    for checked in (False, True):
        told = ms.load_checkpoint(str(tmp_path / "end.ckpt"), crc_check=checked)
        assert told["net.w"].asnumpy().tobytes() == array.tobytes()


def _trainer(optimizer: Callable[[Any], Any]) -> tuple[Any, Any]:
    net = Net()
    net.set_train()
    chosen = optimizer(net.trainable_params())
    return net, nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), chosen)


def _steps(trainer: Any, first: int, last: int) -> list[bytes]:
    losses = []
    for step in range(first, last):
        rng = np.random.default_rng(step)
        tokens, labels = rng.integers(0, 16, (8, 4)), rng.integers(0, 3, 8)
        losses.append(trainer(ms.Tensor(tokens, ms.int32), ms.Tensor(labels, ms.int32)).asnumpy().tobytes())
    return losses


@pytest.mark.parametrize(
    "optimizer",
    [
        lambda params: nn.Adam(params, nn.cosine_decay_lr(1e-3, 1e-1, 20, 10, 2), weight_decay=1e-3),
        lambda params: nn.Momentum(params, nn.piecewise_constant_lr([3, 20], [0.1, 0.01]), 0.9, use_nesterov=True),
        lambda params: nn.AdamWeightDecay(params, 1e-2),
        lambda params: nn.RMSProp(params, 1e-2, centered=True),
    ],
    ids=["Adam", "Momentum", "AdamWeightDecay", "RMSProp"],
)
def test_a_training_goes_on_from_a_written_file_as_if_nothing_had_been(
    tmp_path: Path, optimizer: Callable[[Any], Any]
) -> None:
    ms.set_seed(1)
    _, whole = _trainer(optimizer)
    _steps(whole, 0, 4)
    ms.save_checkpoint(whole, str(tmp_path / "theirs.ckpt"), append_dict={"epoch_num": 1})
    told = _steps(whole, 4, 8)
    _again(tmp_path / "theirs.ckpt", tmp_path / "ours.ckpt")
    # Into fresh objects: what has stepped before does not take new values.
    _, resumed = _trainer(optimizer)
    left, over = ms.load_param_into_net(resumed, ms.load_checkpoint(str(tmp_path / "ours.ckpt")), strict_load=True)
    assert (left, over) == ([], ["epoch_num"])
    assert _steps(resumed, 4, 8) == told
    ends = [{one.name: _bytes(one) for one in trainer.get_parameters()} for trainer in (whole, resumed)]
    assert ends[0] == ends[1]
    assert any(name.startswith(("moment", "adam_m", "mean_square")) for name in ends[0])
    assert "global_step" in ends[0]
