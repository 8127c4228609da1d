from __future__ import annotations

import numpy as np
import pytest

from trueline.model.run import ModuleInfo, ParamInfo
from trueline.model.trouble import BadUsage
from trueline.pair.questions.described import Described
from trueline.pair.sides.inputs import guess_inputs, make_inputs, parse_input


def test_sizes_alone_are_floats_around_zero() -> None:
    (array,) = make_inputs([parse_input("4x3x32x32")])
    assert array.shape == (4, 3, 32, 32)
    assert array.dtype == np.float32
    assert abs(float(array.mean())) < 0.1
    assert 0.9 < float(array.std()) < 1.1


def test_a_range_ends_below_its_end() -> None:
    (array,) = make_inputs([parse_input("50x40:int64:3-7")])
    assert array.dtype == np.int64
    assert set(np.unique(array)) == {3, 4, 5, 6}


@pytest.mark.parametrize(
    ("text", "dtype", "low", "high"),
    [
        ("9x9:float64:-2-3.5", "float64", -2, 3.5),
        ("9x9:int32", "int32", 0, 1),
        ("9:bool", "bool", 0, 1),
        ("99:int8:-128-128", "int8", -128, 127),
    ],
)
def test_types_and_ranges(text: str, dtype: str, low: float, high: float) -> None:
    (array,) = make_inputs([parse_input(text)])
    assert array.dtype == dtype
    assert low <= array.min()
    assert array.max() <= high


def test_the_same_seed_gives_the_same_inputs_and_each_its_own() -> None:
    wanted = [parse_input("3x3"), parse_input("3x3"), parse_input("4:int64:0-9")]
    first, again, other = make_inputs(wanted), make_inputs(wanted), make_inputs(wanted, seed=1)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[0], other[0])
    assert not np.array_equal(first[0], first[1])


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("", "side.bad_input"),
        ("2,3", "side.bad_input"),
        ("2x", "side.bad_input"),
        ("0x3", "side.bad_input"),
        ("-1x3", "side.bad_input"),
        ("2x3:int64:0-9:more", "side.bad_input"),
        ("99999x99999", "side.large_input"),
        ("2x3:complex64", "side.bad_input_type"),
        ("2x3:object", "side.bad_input_type"),
        ("2x3:int64:9-0", "side.bad_input_range"),
        ("2x3:int64:a-b", "side.bad_input_range"),
        ("2x3:int64:0-1.5", "side.bad_input_range"),
        ("2x3:int8:0-1000", "side.bad_input_range"),
        ("2x3:bool:0-3", "side.bad_input_range"),
    ],
)
def test_what_is_no_input_is_said_in_one_line(text: str, id: str) -> None:
    with pytest.raises(BadUsage) as caught:
        parse_input(text)
    assert caught.value.message.id == id
    assert "\n" not in str(caught.value)


def _described(*modules: ModuleInfo, takes: tuple[str, ...] | None = ("x",)) -> Described:
    known = [one for one in modules if one.attributes]
    parameters = [ParamInfo(f"{one.path}.weight", (1,), "float32", True) for one in known]
    return Described("torch", "2", parameters, [ModuleInfo("", "Net"), *modules], takes=takes)


@pytest.mark.parametrize(
    ("type", "attributes", "shape"),
    [
        ("Conv1d", {"in_channels": 4}, (2, 4, 64)),
        ("Conv2d", {"in_channels": 3, "groups": 3}, (2, 3, 64, 64)),
        ("Conv3d", {"in_channels": 1}, (2, 1, 16, 16, 16)),
        ("Linear", {"in_features": 7}, (2, 7)),
        ("Dense", {"in_channels": 7}, (2, 7)),
        ("LSTM", {"input_size": 5, "batch_first": True}, (2, 16, 5)),
        ("GRU", {"input_size": 5, "batch_first": False}, (16, 2, 5)),
    ],
)
def test_the_first_layer_tells_what_it_takes(type: str, attributes: dict[str, object], shape: tuple[int, ...]) -> None:
    layers = (ModuleInfo("body", "Sequential"), ModuleInfo("body.0", type, attributes), ModuleInfo("head", "Linear"))
    found = guess_inputs(_described(*layers))
    assert found is not None
    assert found[0].shape == shape


@pytest.mark.parametrize("name", ["num_embeddings", "vocab_size"])
def test_an_embedding_takes_numbers_below_its_size(name: str) -> None:
    found = guess_inputs(_described(ModuleInfo("words", "Embedding", {name: 5})))
    assert found is not None
    assert found[0].dtype == np.int64
    assert set(np.unique(found[0])) <= set(range(5))


def test_no_guess_where_it_would_be_a_bad_one() -> None:
    conv = ModuleInfo("conv", "Conv2d", {"in_channels": 3})
    assert guess_inputs(_described(ModuleInfo("own", "Special", {"a": 1}), conv)) is None
    assert guess_inputs(_described(conv, takes=("image", "mask"))) is None
    assert guess_inputs(_described(ModuleInfo("act", "ReLU"))) is None
    assert guess_inputs(_described(ModuleInfo("act", "ReLU"), conv)) is not None
