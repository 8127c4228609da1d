"""Tensors to and from NumPy, and what a network consists of: the same in every framework."""

from __future__ import annotations

import json
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from adapters.observing import make_batches, weights
from adapters.subjects.protocol import Array, Subject

EVERYWHERE = {"float16", "float32", "float64", "bfloat16", "bool", "int8", "int16", "int32", "int64", "uint8"}


def _dtype(name: str) -> Any:
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def _examples(name: str) -> dict[str, Array]:
    dtype = _dtype(name)
    matrix = np.array([[0, 1, 2], [3, 100, 7]]).astype(dtype)
    found = {
        "matrix": matrix,
        "zero-d": matrix[1:, 2].reshape(()),
        "empty": np.zeros((0, 3), dtype),
        "extremes": np.array([False, True]).astype(dtype),
    }
    if np.issubdtype(dtype, np.inexact) or name == "bfloat16":
        found["extremes"] = np.array([np.nan, np.inf, -np.inf, -0.0, 1 / 3]).astype(dtype)
    if np.issubdtype(dtype, np.integer):
        found["extremes"] = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
    return found


def _same(found: Array, wanted: Array) -> None:
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    nan = wanted != wanted
    np.testing.assert_array_equal(found != found, nan)
    assert found[~nan].tobytes() == wanted[~nan].tobytes()


@pytest.mark.parametrize("example", ["matrix", "zero-d", "empty", "extremes"])
def test_every_dtype_survives_the_way_to_an_array_and_back(subject: Subject, example: str) -> None:
    assert set(subject.traits.dtypes) >= EVERYWHERE
    values = subject.adapter.values
    for name in subject.traits.dtypes:
        array = _examples(name)[example]
        tensor = subject.tensor(array)
        _same(values.to_numpy(tensor), array)
        _same(values.to_numpy(tensor, copy=True), array)
        assert values.dtype(tensor) == name
        assert values.shape(tensor) == array.shape
        back = values.from_numpy(array)
        assert values.is_tensor(back)
        _same(subject.array(back), array)


def test_a_transposed_view_comes_with_its_own_values_and_not_its_base_s(subject: Subject) -> None:
    values = subject.adapter.values
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    turned = subject.transposed(subject.tensor(array))
    _same(values.to_numpy(turned), array.T)
    _same(values.to_numpy(turned, copy=True), array.T)
    _same(subject.array(values.from_numpy(array.T)), array.T)


def test_a_copy_is_out_of_reach_of_later_writes(subject: Subject) -> None:
    values = subject.adapter.values
    tensor = subject.tensor(np.zeros((2, 2), np.float32))
    copied = values.to_numpy(tensor, copy=True)
    subject.set_in_place(tensor, np.ones((2, 2), np.float32))
    assert copied.max() == 0
    assert values.to_numpy(tensor).min() == 1
    copied[...] = 5
    assert subject.array(tensor).max() == 1


def test_a_tensor_made_from_an_array_owns_its_memory(subject: Subject) -> None:
    array = np.zeros(3, np.float32)
    tensor = subject.adapter.values.from_numpy(array)
    array[...] = 1
    assert subject.array(tensor).max() == 0


def test_a_read_only_or_foreign_endian_array_makes_a_tensor(subject: Subject) -> None:
    values = subject.adapter.values
    frozen = np.arange(3, dtype=np.float32)
    frozen.setflags(write=False)
    _same(subject.array(values.from_numpy(frozen)), frozen)
    big = np.arange(3, dtype=">f4")
    np.testing.assert_array_equal(subject.array(values.from_numpy(big)), [0, 1, 2])


def test_a_tensor_made_like_another_takes_its_dtype(subject: Subject) -> None:
    values = subject.adapter.values
    like = subject.tensor(np.zeros(2, np.float16))
    made = values.from_numpy(np.array([1.5, 2.0]), like=like)
    assert values.dtype(made) == "float16"
    np.testing.assert_array_equal(subject.array(made), [1.5, 2.0])


def test_a_kept_scalar_does_not_follow_its_tensor(subject: Subject) -> None:
    values = subject.adapter.values
    tensor = subject.tensor(np.array(2.5, np.float32))
    kept = values.keep(tensor)
    subject.set_in_place(tensor, np.array(9, np.float32))
    assert values.read(kept) == 2.5
    assert values.read(values.keep(subject.tensor(np.array([1, 3], np.float32)))) == 2
    assert values.read(values.keep(1.25)) == 1.25


def test_the_norm_is_over_all_tensors_together(subject: Subject) -> None:
    values = subject.adapter.values
    parts = [subject.tensor(np.full((2, 2), 3, np.float32)), subject.tensor(np.array([8], np.float32))]
    assert values.read(values.norm(parts)) == pytest.approx(10)
    assert values.read(values.norm([])) == 0


def test_the_norm_of_large_half_precision_values_does_not_overflow(subject: Subject) -> None:
    values = subject.adapter.values
    assert values.read(values.norm([subject.tensor(np.full(4, 30000, np.float16))])) == pytest.approx(60000, rel=1e-3)


def test_assigning_reaches_an_optimizer_that_has_already_stepped(subject: Subject) -> None:
    values = subject.adapter.values
    batches = make_batches(4)
    for rule in ("sgd", "adam"):
        losses = []
        for restored in (False, True):
            network = subject.make_network(0)
            optimizer = subject.make_optimizer(network, rule=rule, momentum=0.0)
            for batch in batches[:2]:
                subject.train_step(network, [optimizer], batch)
            if restored:
                kept = weights(subject, network)
                for one in values.tensors(network):
                    values.assign(one.value, np.zeros_like(kept[one.name]))
                for one in values.tensors(network):
                    values.assign(one.value, kept[one.name])
            losses.append([subject.train_step(network, [optimizer], batch) for batch in batches[2:]])
        assert losses[0] == losses[1], rule


def test_assigning_casts_to_the_tensor_s_dtype_and_keeps_its_identity(subject: Subject) -> None:
    values = subject.adapter.values
    weight = next(iter(values.tensors(subject.make_network(0)))).value
    before = values.identity(weight)
    values.assign(weight, np.full(values.shape(weight), 2, np.float64))
    assert values.dtype(weight) == "float32"
    assert values.identity(weight) == before
    assert (subject.array(weight) == 2).all()


def test_a_write_in_place_changes_the_version_where_one_is_counted(subject: Subject) -> None:
    values = subject.adapter.values
    weight = next(iter(values.tensors(subject.make_network(0)))).value
    versions = [values.version(weight)]
    for _ in range(2):
        values.assign(weight, subject.array(weight))
        versions.append(values.version(weight))
    assert versions == [None] * 3 or len(set(versions)) == 3


def test_a_shared_parameter_comes_under_both_names_with_one_identity(subject: Subject) -> None:
    values = subject.adapter.values
    found = {one.name: values.identity(one.value) for one in values.tensors(subject.make_network(0, "shared"))}
    assert list(found) == ["first.weight", "first.bias", "second.weight", "second.bias", "last.weight", "last.bias"]
    assert found["first.weight"] == found["second.weight"]
    assert len(set(found.values())) == 5


def test_tensors_are_complete_with_unique_names_and_parameters_first(subject: Subject) -> None:
    found = list(subject.adapter.values.tensors(subject.make_network(0)))
    names = [one.name for one in found]
    assert names == [*subject.traits.parameters, *subject.traits.buffers]
    assert len(set(names)) == len(names)


def test_buffers_are_told_from_parameters(subject: Subject) -> None:
    for one in subject.adapter.values.tensors(subject.make_network(0)):
        assert one.buffer == (one.name in subject.traits.buffers), one.name
        assert one.trainable == (one.name in subject.traits.parameters), one.name


def test_names_do_not_depend_on_what_else_was_built_before(subject: Subject) -> None:
    names = []
    for _ in range(2):
        network = subject.make_network(0)
        subject.make_optimizer(network)
        names.append([one.name for one in subject.adapter.values.tensors(network)])
    assert names[0] == names[1]


def test_modules_come_root_first_in_the_order_of_definition(subject: Subject) -> None:
    network = subject.make_network(0)
    found = list(subject.adapter.values.modules(network))
    assert [path for path, _ in found] == ["", "body", "body.first", "body.norm", "body.act", "last"]
    assert found[0][1] is network
    assert found[1][1] is network.body
    assert all(subject.adapter.values.is_module(module) for _, module in found)


def test_tensors_and_modules_are_recognised_and_nothing_else_is(subject: Subject) -> None:
    values = subject.adapter.values
    network = subject.make_network(0)
    tensor = subject.tensor(np.zeros(2, np.float32))
    assert values.is_tensor(tensor)
    assert values.is_module(network)
    for other in (None, 1, "x", np.zeros(2), [tensor], network):
        assert not values.is_tensor(other)
    for other in (None, tensor, type(network), "x"):
        assert not values.is_module(other)


def test_attributes_are_plain_json_values_with_epsilon_among_them(subject: Subject) -> None:
    values = subject.adapter.values
    for path, module in values.modules(subject.make_network(0)):
        found = values.attributes(module)
        assert json.loads(json.dumps(found, allow_nan=False)) == found, path
        assert "training" not in found
        if path == "body.norm":
            assert found[subject.traits.eps_argument] == pytest.approx(1e-5)


def test_groups_tell_each_group_s_learning_rate_and_parameters(subject: Subject) -> None:
    values = subject.adapter.values
    network = subject.make_network(0)
    optimizer = subject.make_optimizer(network, lr=0.5, groups=2)
    names = {values.identity(one.value): one.name for one in values.tensors(network)}
    for _ in range(2):
        groups = values.groups(optimizer)
        assert [one.settings["lr"] for one in groups] == pytest.approx([0.5, 0.05])
        assert [[names[values.identity(one)] for one in group.parameters] for group in groups] == [
            [name for name in subject.traits.parameters if name.startswith("body.")],
            [name for name in subject.traits.parameters if name.startswith("last.")],
        ]
        subject.train_step(network, [optimizer], make_batches(1)[0])


def test_one_group_tells_plain_settings(subject: Subject) -> None:
    network = subject.make_network(0)
    (group,) = subject.adapter.values.groups(subject.make_optimizer(network, lr=0.25, momentum=0.5))
    assert isinstance(group.settings["lr"], float)
    assert group.settings["lr"] == 0.25
    assert group.settings["momentum"] == pytest.approx(0.5)
    assert len(group.parameters) == len(subject.traits.parameters)
    json.dumps(dict(group.settings), allow_nan=False)


def test_training_tells_the_mode(subject: Subject) -> None:
    values = subject.adapter.values
    network = subject.make_network(0)
    assert values.training(network)
    subject.set_training(network, False)
    assert not values.training(network)
    assert not values.training(network.body)


def test_a_plain_network_is_its_own_inside(subject: Subject) -> None:
    network = subject.make_network(0)
    assert subject.adapter.values.unwrap(network) is network


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, None])
def test_one_number_that_is_none_spoils_the_total(subject: Subject, bad: float | None) -> None:
    values = subject.adapter.values
    arrays = [np.ones((3, 4), np.float32), np.linspace(-1, 1, 7, dtype=np.float32)]
    if bad is not None:
        arrays[1][3] = bad
    found = values.read(values.total([values.from_numpy(one) for one in arrays]))
    assert np.isfinite(found) == (bad is None)
