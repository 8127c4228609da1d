"""The ways MindSpore users train in PyNative, and what is told of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
import pytest
from adapters.observing import Notebook, make_batches, watched
from adapters.subjects.mindspore_subject import SUBJECT, Network, Samples
from mindspore import amp, nn, ops
from mindspore.dataset.dataloader import DataLoader
from mindspore.experimental import optim

values = SUBJECT.adapter.values


def _losses(notebook: Notebook) -> list[float]:
    return [values.read(one.seen) for one in notebook.told("loss")]


def _tensors(batch: Any) -> tuple[Any, Any]:
    return ms.Tensor(batch[0]), ms.Tensor(batch[1].astype(np.int32))


class Scales(Notebook):
    """Writes down scales and clips with their numbers."""

    def scale(self, value: Any) -> None:
        self._note("scale", None, values.read(value))

    def clipped(self, kind: str, limit: float, norm: Any) -> None:
        self._note("clipped", kind, (limit, None if norm is None else values.read(norm)))


@pytest.fixture
def scales() -> Iterator[Scales]:
    notebook = Scales(SUBJECT)
    installed = SUBJECT.adapter.hooks.install(notebook)
    yield notebook
    installed.remove()


def test_a_training_cell_tells_network_and_loss_cell_as_outermost_and_its_loss_as_the_model_s() -> None:
    network = SUBJECT.make_network(0)
    criterion = nn.CrossEntropyLoss()
    optimizer = SUBJECT.make_optimizer(network)
    trainer = nn.TrainOneStepCell(nn.WithLossCell(network, criterion), optimizer).set_train()
    with watched(SUBJECT, calls=False) as notebook:
        loss = float(trainer(*_tensors(make_batches(1)[0])).asnumpy())
    assert [(one.name, one.of) for one in notebook.told("called")] == [("called", network), ("called", criterion)]
    assert _losses(notebook) == [loss]
    assert [one.of for one in notebook.told("loss")] == ["model"]
    assert [one.name for one in notebook.events][-5:] == [
        "loss",
        "backward_began",
        "backward_ended",
        "step_began",
        "step_ended",
    ]
    assert len(notebook.told("step_began")[0].seen) == 6


def test_a_training_cell_s_sens_is_told_and_the_loss_stays_unscaled(scales: Scales) -> None:
    network = SUBJECT.make_network(0)
    trainer = nn.TrainOneStepCell(
        nn.WithLossCell(network, nn.CrossEntropyLoss()), SUBJECT.make_optimizer(network), sens=512.0
    ).set_train()
    loss = float(trainer(*_tensors(make_batches(1)[0])).asnumpy())
    assert _losses(scales) == [loss]
    assert [one.seen for one in scales.told("scale")] == [512.0]


def test_model_train_tells_batches_modes_losses_and_steps() -> None:
    network = SUBJECT.make_network(0)
    optimizer = SUBJECT.make_optimizer(network)
    inputs, labels = make_batches(1, size=12)[0]
    seen: list[float] = []

    class Note(ms.Callback):
        def on_train_step_end(self, run_context: Any) -> None:
            seen.append(float(run_context.original_args().net_outputs.asnumpy()))

    data = ds.NumpySlicesDataset((inputs, labels.astype(np.int32)), ["x", "y"], shuffle=False).batch(4)
    with watched(SUBJECT, calls=False) as notebook:
        model = ms.Model(network, nn.CrossEntropyLoss(), optimizer)
        model.train(2, data, callbacks=[Note()], dataset_sink_mode=False)
    assert _losses(notebook) == seen
    assert len(seen) == 6
    assert len(notebook.told("fetched")) == len(notebook.told("step_ended")) == 6
    assert len(notebook.told("loader_began")) == len(notebook.told("loader_ended")) == 2
    assert {(one.of, one.seen) for one in notebook.told("mode_set")} == {(network, True)}
    facts = notebook.told("loader_began")[0].seen
    assert (facts["length"], facts["batch_size"], facts["samples"], facts["shuffle"]) == (3, 4, 12, False)


def test_a_fixed_loss_scale_of_a_model_is_told_and_the_loss_stays_unscaled(scales: Scales) -> None:
    network = SUBJECT.make_network(0)
    inputs, labels = make_batches(1, size=4)[0]
    data = ds.NumpySlicesDataset((inputs, labels.astype(np.int32)), ["x", "y"], shuffle=False).batch(4)
    optimizer = nn.Momentum(network.trainable_params(), 0.1, 0.9, loss_scale=64.0)
    wanted = SUBJECT.evaluate(network, (inputs, labels))
    ms.Model(
        network,
        nn.CrossEntropyLoss(),
        optimizer,
        loss_scale_manager=amp.FixedLossScaleManager(64.0, drop_overflow_update=False),
    ).train(1, data, dataset_sink_mode=False)
    assert _losses(scales) == pytest.approx([wanted], rel=1e-5)
    assert [one.seen for one in scales.told("scale")] == [64.0]


def test_model_eval_tells_calls_of_the_network_and_no_step() -> None:
    network = SUBJECT.make_network(0)
    inputs, labels = make_batches(1, size=8)[0]
    data = ds.NumpySlicesDataset((inputs, labels.astype(np.int32)), ["x", "y"], shuffle=False).batch(4)
    model = ms.Model(network, nn.CrossEntropyLoss(), metrics={"loss"})
    with watched(SUBJECT, calls=False) as notebook:
        model.eval(data, dataset_sink_mode=False)
    assert [one.of for one in notebook.told("called")].count(network) == 2
    assert not notebook.told("step_began", "loss", "backward_began")
    assert (network, False) in [(one.of, one.seen) for one in notebook.told("mode_set")]


def test_a_training_cell_of_the_user_s_own_under_jit_is_a_step_with_a_loss() -> None:
    network = SUBJECT.make_network(0)

    class OwnTrainer(nn.Cell):
        def __init__(self, net: Any, optimizer: Any) -> None:
            super().__init__(auto_prefix=False)
            self.net, self.optimizer = net, optimizer
            self.weights = optimizer.parameters
            self.grad = ms.value_and_grad(self.forward, None, self.weights)

        def forward(self, x: Any, y: Any) -> Any:
            return ops.cross_entropy(self.net(x), y)

        @ms.jit
        def construct(self, x: Any, y: Any) -> Any:
            loss, gradients = self.grad(x, y)
            self.optimizer(gradients)
            return loss

    trainer = OwnTrainer(network, SUBJECT.make_optimizer(network))
    with watched(SUBJECT) as notebook:
        loss = float(trainer(*_tensors(make_batches(1)[0])).asnumpy())
    assert _losses(notebook) == [loss]
    assert [one.of for one in notebook.told("loss")] == ["model"]
    assert [one.of for one in notebook.told("step_ended")] == [trainer.optimizer]


@pytest.mark.parametrize("by_factor", [False, True])
def test_a_scaler_s_loss_is_told_unscaled(scales: Scales, by_factor: bool) -> None:
    network = SUBJECT.make_network(0)
    optimizer = SUBJECT.make_optimizer(network)
    scaler = amp.DynamicLossScaler(1024, 2, 100)
    inputs, labels = _tensors(make_batches(1)[0])
    plain: list[float] = []

    def forward() -> Any:
        loss = ops.cross_entropy(network(inputs), labels)
        plain.append(float(loss.asnumpy()))
        return scaler.scale(loss) * 1.0 if by_factor else scaler.scale(loss)

    _, gradients = ms.value_and_grad(forward, None, optimizer.parameters)()
    optimizer(scaler.unscale(gradients))
    assert _losses(scales) == pytest.approx(plain, rel=1e-6)
    assert [one.seen for one in scales.told("scale")] == [1024.0]
    assert [one.of for one in scales.told("unscaled")] == [optimizer]


def _scaled_step(network: Any, optimizer: Any, scaler: Any, batch: Any, poison: float) -> None:
    """The loop of MindSpore's own tutorial on mixed precision."""
    inputs, labels = _tensors(batch)
    step = ms.value_and_grad(
        lambda: scaler.scale(ops.cross_entropy(network(inputs), labels) * poison), None, optimizer.parameters
    )
    _, gradients = step()
    gradients = scaler.unscale(gradients)
    finite = amp.all_finite(gradients)
    if finite:
        optimizer(gradients)
    scaler.adjust(finite)


def test_a_step_that_the_scaler_s_user_left_out_is_told_as_skipped(scales: Scales) -> None:
    network = SUBJECT.make_network(0)
    optimizer = SUBJECT.make_optimizer(network)
    scaler = amp.DynamicLossScaler(1024, 2, 100)
    for batch, poison in zip(make_batches(4), (1.0, float("inf"), 1.0, float("inf")), strict=True):
        _scaled_step(network, optimizer, scaler, batch, poison)
    SUBJECT.train_step(network, [optimizer], make_batches(1)[0])
    assert [one.seen for one in scales.told("step_ended")] == [False, True, False, True, False]
    assert {one.of for one in scales.told("step_ended")} == {optimizer}
    assert [one.seen for one in scales.told("scale")] == [1024.0, 1024.0, 512.0, 512.0]


def test_clipping_is_told_with_its_limit_and_the_norm_before_it(scales: Scales) -> None:
    gradients = (ms.Tensor(np.array([3.0, 0.0], np.float32)), ms.Tensor(np.array([4.0], np.float32)))
    clipped = ops.clip_by_global_norm(gradients, 1.0)
    ops.clip_by_norm(gradients, 2.0)
    ops.clip_by_value(gradients, -0.5, 0.5)
    assert [(one.of, one.seen) for one in scales.told("clipped")] == [
        ("norm", (1.0, pytest.approx(5.0))),
        ("norm", (2.0, pytest.approx(5.0))),
        ("value", (0.5, pytest.approx(5.0))),
    ]
    assert not scales.told("called")
    np.testing.assert_allclose(clipped[1].asnumpy(), [0.8], rtol=1e-5)


def test_clamping_inside_a_network_is_not_clipping(scales: Scales) -> None:
    class Clamping(nn.Cell):
        def construct(self, x: Any) -> Any:
            return ops.clip_by_value([x], 0.0, 1.0)[0]

    Clamping()(ms.Tensor(np.ones(3, np.float32)))
    assert not scales.told("clipped")


@pytest.mark.parametrize(
    ("rate", "wanted"),
    [
        (nn.ExponentialDecayLR(0.8, 0.5, 1), [0.8, 0.4, 0.2]),
        ([0.3, 0.2, 0.1], [0.3, 0.2, 0.1]),
        (0.7, [0.7, 0.7, 0.7]),
    ],
)
def test_the_learning_rate_is_the_one_in_force_for_the_coming_step(rate: Any, wanted: list[float]) -> None:
    network = SUBJECT.make_network(0)
    optimizer = nn.Momentum(network.trainable_params(), rate, 0.9)
    found = []
    for batch in make_batches(3):
        found.append(values.groups(optimizer)[0].settings["lr"])
        SUBJECT.train_step(network, [optimizer], batch)
    assert found == pytest.approx(wanted, rel=1e-6)


def test_experimental_optimizers_and_schedulers_are_told() -> None:
    network = SUBJECT.make_network(0)
    optimizer = optim.SGD(network.trainable_params(), lr=0.5, momentum=0.9)
    scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.1)
    with watched(SUBJECT) as notebook:
        SUBJECT.train_step(network, [optimizer], make_batches(1)[0])
        scheduler.step()
    assert [one.of for one in notebook.told("step_ended", "scheduled")] == [optimizer, scheduler]
    assert values.groups(optimizer)[0].settings["lr"] == pytest.approx(0.05)


def test_a_data_loader_tells_the_indexes_of_its_sampler() -> None:
    data = make_batches(1, size=5)[0]
    with watched(SUBJECT) as notebook:
        batches = list(DataLoader(Samples(data), batch_size=2, shuffle=True))
    indexes = [one.seen[1] for one in notebook.told("fetched")]
    assert sorted(index for part in indexes for index in part) == [0, 1, 2, 3, 4]
    for part, batch in zip(indexes, batches, strict=True):
        np.testing.assert_array_equal(batch[0].asnumpy(), data[0][part])
    facts = notebook.told("loader_began")[0].seen
    assert (facts["length"], facts["sampler"], facts["shuffle"]) == (3, "RandomSampler", True)


def test_one_iterator_over_several_epochs_begins_and_ends_each() -> None:
    inputs, labels = make_batches(1, size=4)[0]
    data = ds.NumpySlicesDataset((inputs, labels), ["x", "y"], shuffle=False).batch(2)
    with watched(SUBJECT) as notebook:
        iterator = data.create_dict_iterator(num_epochs=2, output_numpy=True)
        for _ in range(2):
            assert [sorted(batch) for batch in iterator] == [["x", "y"], ["x", "y"]]
    names = [one.name for one in notebook.told("loader_began", "fetched", "loader_ended")]
    assert names == ["loader_began", "fetched", "fetched", "loader_ended"] * 2


def test_the_facts_of_a_pipeline_do_not_start_it() -> None:
    started: list[int] = []

    def stream() -> Iterator[Any]:
        started.append(1)
        for place in range(3):
            yield (np.full(2, place, np.float32),)

    data = ds.GeneratorDataset(stream, ["x"], shuffle=False).batch(2)
    with watched(SUBJECT) as notebook:
        assert sum(1 for _ in data) == 2
    assert notebook.told("loader_began")[0].seen["length"] is None
    assert len(started) == 1


def test_workers_of_a_dataset_tell_nothing() -> None:
    class Telling(Samples):
        def __getitem__(self, index: int) -> Any:
            # In a worker: a cell that is called and a mode that is set there are not the training's.
            Network().set_train(True)
            return super().__getitem__(index)

    data = ds.GeneratorDataset(
        Telling(make_batches(1, size=4)[0]), ["x", "y"], shuffle=False, num_parallel_workers=2
    ).batch(2)
    with watched(SUBJECT) as notebook:
        assert len(list(data)) == 2
    assert {one.name for one in notebook.events} == {"loader_began", "fetch_began", "fetched", "loader_ended"}


def test_the_network_inside_every_wrapper_is_found() -> None:
    network = SUBJECT.make_network(0)
    with_loss = nn.WithLossCell(network, nn.CrossEntropyLoss())
    assert values.unwrap(with_loss) is network
    assert values.unwrap(nn.WithEvalCell(network, nn.CrossEntropyLoss())) is network
    assert values.unwrap(nn.TrainOneStepCell(with_loss, SUBJECT.make_optimizer(network))) is network

    class OwnTrainer(nn.Cell):
        def __init__(self, net: Any, optimizer: Any) -> None:
            super().__init__(auto_prefix=False)
            self.net, self.optimizer = net, optimizer

    assert values.unwrap(OwnTrainer(network, SUBJECT.make_optimizer(network))) is network

    class Pair(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.network, self.other = network, nn.Dense(2, 2)

    pair = Pair()
    assert values.unwrap(pair) is pair


def test_frozen_weights_are_parameters_and_running_statistics_are_buffers() -> None:
    network = SUBJECT.make_network(0)
    network.last.weight.requires_grad = False
    found = {one.name: (one.trainable, one.buffer) for one in values.tensors(network)}
    assert found["last.weight"] == (False, False)
    assert found["body.norm.moving_mean"] == (False, True)
    assert found["body.first.weight"] == (True, False)


def test_a_state_restored_into_an_optimizer_that_has_stepped_trains_on_bit_for_bit() -> None:
    network = SUBJECT.make_network(0)
    optimizer = SUBJECT.make_optimizer(network, rule="adam")
    batches = make_batches(20)
    for batch in batches:
        SUBJECT.train_step(network, [optimizer], batch)
    kept = SUBJECT.adapter.replaying.keeper()
    kept.take([network], [optimizer])
    first = [SUBJECT.train_step(network, [optimizer], batch) for batch in batches[:5]]
    kept.restore()
    assert [SUBJECT.train_step(network, [optimizer], batch) for batch in batches[:5]] == first
    assert kept.whole


def test_a_function_under_jit_is_named_and_its_whole_step_is_told() -> None:
    network = SUBJECT.make_network(0)
    optimizer = SUBJECT.make_optimizer(network)
    inputs, labels = _tensors(make_batches(1)[0])

    def forward(x: Any, y: Any) -> Any:
        return ops.cross_entropy(network(x), y)

    gradient = ms.value_and_grad(forward, None, optimizer.parameters)

    @ms.jit
    def train_step(x: Any, y: Any) -> Any:
        loss, gradients = gradient(x, y)
        optimizer(gradients)
        return loss

    with watched(SUBJECT) as notebook:
        losses = [float(train_step(inputs, labels).asnumpy()) for _ in range(2)]
    assert {one.of for one in notebook.told("notice")} == {"mindspore.jit"}
    assert notebook.told("notice")[0].seen["function"].endswith("train_step")
    assert _losses(notebook) == losses
    assert [one.of for one in notebook.told("step_ended")] == [optimizer] * 2
    assert losses[0] != losses[1]


def test_an_output_that_the_loss_does_not_use_tells_no_gradient() -> None:
    class Recurrent(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(4, 3, batch_first=True)

        def construct(self, x: Any) -> Any:
            return self.lstm(x)[0]

    network = Recurrent().set_train()
    inputs = ms.Tensor(np.ones((2, 5, 4), np.float32))
    with watched(SUBJECT, gradients=True) as notebook:
        ms.grad(lambda: network(inputs).sum(), None, network.trainable_params())()
    told = {(one.of, one.seen[1]): one.seen[2] for one in notebook.told("gradient")}
    np.testing.assert_array_equal(told[network, "0"], np.ones((2, 5, 3)))
    assert not [index for module, index in told if module is network.lstm and index != "0"]
