"""What hooks tell, in which order, and that they change nothing: the same in every framework."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from adapters.observing import Notebook, make_batches, watched, weights
from adapters.subjects.protocol import Subject

FORWARD = [
    "called net",
    "called body",
    "called body.first",
    "returned body.first",
    "called body.norm",
    "returned body.norm",
    "called body.act",
    "returned body.act",
    "returned body",
    "called last",
    "returned last",
    "returned net",
]
BACKWARD = ["loss", "backward_began", "backward_ended"]
STEP = ["step_began", "step_ended"]


class Nodes(Notebook):
    """Keeps the autograd node of every module's output."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self.nodes: dict[int, Any] = {}

    def returned(self, module: Any, args: Sequence[Any], kwargs: Mapping[str, Any], output: Any) -> None:
        super().returned(module, args, kwargs, output)
        self.nodes[id(module)] = self.values.node(output)


def _zeroed(subject: Subject, count: int = 1) -> list[str]:
    return ["zero_grad"] * count if subject.traits.zero_grad else []


def test_a_training_step_is_told_in_the_order_it_happens(subject: Subject) -> None:
    network = subject.make_network(0)
    optimizer = subject.make_optimizer(network)
    with watched(subject) as notebook:
        for batch in make_batches(2):
            subject.train_step(network, [optimizer], batch)
    assert notebook.story(network) == (_zeroed(subject) + FORWARD + BACKWARD + STEP) * 2
    assert [one.of for one in notebook.told("step_began", "step_ended")] == [optimizer] * 4
    assert [one.seen for one in notebook.told("step_ended")] == [False, False]


def test_accumulation_is_several_backwards_and_one_step(subject: Subject) -> None:
    network = subject.make_network(0)
    optimizer = subject.make_optimizer(network)
    with watched(subject) as notebook:
        losses = subject.accumulate(network, optimizer, make_batches(3))
    assert notebook.story(network) == _zeroed(subject) + (FORWARD + BACKWARD) * 3 + STEP
    assert [notebook.values.read(one.seen) for one in notebook.told("loss")] == losses


def test_two_optimizers_are_told_apart(subject: Subject) -> None:
    network = subject.make_network(0)
    optimizers = [subject.make_optimizer(network, part=part) for part in ("body", "last")]
    with watched(subject) as notebook:
        subject.train_step(network, optimizers, make_batches(1)[0])
    assert notebook.story(network) == _zeroed(subject, 2) + FORWARD + BACKWARD + STEP * 2
    assert [one.of for one in notebook.told("step_began")] == optimizers
    names = {id(one.value): one.name for one in notebook.values.tensors(network)}
    first, second = ({names[id(one)] for one, _ in event.seen} for event in notebook.told("step_began"))
    assert first == {name for name in subject.traits.parameters if name.startswith("body.")}
    assert second == {name for name in subject.traits.parameters if name.startswith("last.")}


def test_evaluation_tells_calls_and_no_loss_of_a_backward_and_no_step(subject: Subject) -> None:
    network = subject.make_network(0)
    with watched(subject) as notebook:
        subject.set_training(network, False)
        subject.evaluate(network, make_batches(1)[0])
        subject.set_training(network, True)
    assert notebook.story(network) == ["mode_set", *FORWARD, "mode_set"]


def test_a_mode_is_told_once_for_the_outermost_module(subject: Subject) -> None:
    network = subject.make_network(0)
    with watched(subject) as notebook:
        subject.set_training(network, False)
        subject.set_training(network.body, True)
    assert [(one.of, one.seen) for one in notebook.told("mode_set")] == [(network, False), (network.body, True)]


def test_calls_and_returns_stay_paired_when_a_forward_raises(subject: Subject) -> None:
    network = subject.make_network(0, "raising")
    healthy = subject.make_network(0)
    optimizer = subject.make_optimizer(network)
    with watched(subject) as notebook:
        with pytest.raises(ValueError, match="on purpose"):
            subject.train_step(network, [optimizer], make_batches(1)[0])
        raised = list(notebook.events)
        subject.evaluate(healthy, make_batches(1)[0])
    calls = [one for one in raised if one.name in ("called", "returned")]
    open_calls: list[Any] = []
    for one in calls:
        if one.name == "called":
            open_calls.append(one.of)
        else:
            assert open_calls.pop() is one.of
    assert not open_calls
    failed = [one.of for one in calls if one.name == "returned" and one.seen is None]
    assert failed == [network.body.act, network.body, network]
    assert not [one for one in raised if one.name in ("loss", "step_began")]
    notebook.events = notebook.events[len(raised) :]
    assert notebook.story(healthy) == FORWARD


def test_only_outermost_modules_are_told_where_no_calls_are_wanted(subject: Subject) -> None:
    network = subject.make_network(0)
    optimizer = subject.make_optimizer(network)
    with watched(subject, calls=False) as notebook:
        subject.train_step(network, [optimizer], make_batches(1)[0])
    outer = ["called net", "returned net"]
    assert notebook.story(network) == _zeroed(subject) + outer + BACKWARD + STEP


def test_outermost_calls_are_still_found_after_a_forward_raised(subject: Subject) -> None:
    broken, network = subject.make_network(0, "raising"), subject.make_network(0)
    with watched(subject, calls=False) as notebook:
        with pytest.raises(ValueError, match="on purpose"):
            subject.evaluate(broken, make_batches(1)[0])
        notebook.events.clear()
        subject.evaluate(network, make_batches(1)[0])
    assert notebook.story(network) == ["called net", "returned net"]


def test_optimizers_are_never_told_as_modules(subject: Subject) -> None:
    network = subject.make_network(0)
    optimizer = subject.make_optimizer(network)
    with watched(subject) as notebook:
        subject.train_step(network, [optimizer], make_batches(1)[0])
    assert not [one for one in notebook.told("called", "returned") if one.of is optimizer]


def test_inputs_and_outputs_are_the_real_ones(subject: Subject) -> None:
    network = subject.make_network(0)
    subject.set_training(network, False)
    inputs = make_batches(1)[0][0]
    with watched(subject) as notebook:
        outputs = subject.forward(network, inputs)
    called = {id(one.of): one.seen for one in notebook.told("called")}
    returned = {id(one.of): one.seen for one in notebook.told("returned")}
    np.testing.assert_array_equal(called[id(network)]["0.0"], inputs)
    np.testing.assert_array_equal(returned[id(network)]["0"], outputs[0])
    np.testing.assert_array_equal(returned[id(network.body)]["0"], called[id(network.last)]["0.0"])


def test_several_outputs_are_told_by_their_place(subject: Subject) -> None:
    network = subject.make_network(0, "outputs")
    subject.set_training(network, False)
    with watched(subject) as notebook:
        outputs = subject.forward(network, make_batches(1)[0][0])
    (seen,) = [one.seen for one in notebook.told("returned") if one.of is network]
    assert list(seen) == ["0", "1"]
    np.testing.assert_array_equal(seen["0"], outputs[0])
    np.testing.assert_array_equal(seen["1"], outputs[1])


def test_the_losses_told_are_the_ones_the_user_saw(subject: Subject) -> None:
    network = subject.make_network(0, "outputs")
    optimizer = subject.make_optimizer(network)
    with watched(subject) as notebook:
        losses = [subject.train_step(network, [optimizer], batch) for batch in make_batches(4)]
    assert [notebook.values.read(one.seen) for one in notebook.told("loss")] == losses
    assert {one.of for one in notebook.told("loss")} <= {"backward", "value_and_grad"}


def test_the_gradients_told_are_the_ones_the_optimizer_gets(subject: Subject) -> None:
    network = subject.make_network(0)
    optimizer = subject.make_optimizer(network, groups=2)
    (batch,) = make_batches(1)
    real = subject.gradients(network, batch)
    with watched(subject) as notebook:
        subject.train_step(network, [optimizer], batch)
    values = subject.adapter.values
    names = {values.identity(one.value): one.name for one in values.tensors(network)}
    (event,) = notebook.told("step_began")
    told = {names[values.identity(parameter)]: gradient for parameter, gradient in event.seen}
    assert list(told) == list(subject.traits.parameters)
    for name, gradient in told.items():
        np.testing.assert_allclose(gradient, real[name], rtol=1e-5, atol=1e-6, err_msg=name)


def test_a_shared_parameter_s_gradient_is_told_once(subject: Subject) -> None:
    network = subject.make_network(0, "shared")
    optimizer = subject.make_optimizer(network)
    with watched(subject) as notebook:
        subject.train_step(network, [optimizer], make_batches(1)[0])
    (event,) = notebook.told("step_began")
    assert len(event.seen) == 5


def test_output_gradients_belong_to_their_call_and_come_within_backward(subject: Subject) -> None:
    network = subject.make_network(0, "double")
    optimizer = subject.make_optimizer(network)
    (batch,) = make_batches(1)
    with watched(subject, gradients=True) as notebook:
        subject.train_step(network, [optimizer], batch)
    names = [one.name for one in notebook.events]
    places = [at for at, name in enumerate(names) if name == "gradient"]
    assert places, "no gradient of an output was told"
    assert names.index("backward_began") < min(places)
    assert max(places) < names.index("backward_ended")
    told = notebook.told("gradient")
    assert {(one.seen[0], one.seen[1]) for one in told if one.of is network.body.act} == {(0, "0"), (1, "0")}
    (at_last,) = [one.seen[2] for one in told if one.of is network.last]
    (output,) = [one.seen["0"] for one in notebook.told("returned") if one.of is network.last]
    share = np.exp(output - output.max(1, keepdims=True))
    share /= share.sum(1, keepdims=True)
    share[np.arange(len(share)), batch[1]] -= 1
    np.testing.assert_allclose(at_last, share / len(share), rtol=1e-4, atol=1e-6)


def test_the_way_back_from_the_logits_passes_the_layer_that_fed_them(subject: Subject) -> None:
    network = subject.make_network(0)
    notebook = Nodes(subject)
    installed = subject.adapter.hooks.install(notebook)
    try:
        subject.train_step(network, [subject.make_optimizer(network)], make_batches(1)[0])
    finally:
        installed.remove()
    values = subject.adapter.values
    assert values.node(subject.tensor(np.zeros(2, np.float32))) is None
    if not subject.traits.nodes:
        assert set(notebook.nodes.values()) == {None}
        return
    waiting, seen = [notebook.nodes[id(network.last)]], []
    while waiting:
        seen.append(waiting.pop())
        waiting.extend(values.nodes_before(seen[-1]))
    assert notebook.nodes[id(network.body.norm)] in set(seen)
    assert notebook.nodes[id(network.last)] not in seen[1:]


def test_removed_hooks_are_silent_and_can_be_installed_again(subject: Subject) -> None:
    network = subject.make_network(0)
    optimizer = subject.make_optimizer(network)
    batches = make_batches(3)
    with watched(subject) as first:
        subject.train_step(network, [optimizer], batches[0])
    told = len(first.events)
    subject.train_step(network, [optimizer], batches[1])
    subject.set_training(network, True)
    assert len(first.events) == told
    with watched(subject) as second:
        subject.train_step(network, [optimizer], batches[2])
    assert len(first.events) == told
    assert second.story(network) == _zeroed(subject) + FORWARD + BACKWARD + STEP


def test_removing_twice_harms_nothing(subject: Subject) -> None:
    installed = subject.adapter.hooks.install(Notebook(subject))
    installed.remove()
    installed.remove()
    network = subject.make_network(0)
    subject.train_step(network, [subject.make_optimizer(network)], make_batches(1)[0])


def test_hooks_removed_while_a_loop_runs_leave_it_running(subject: Subject) -> None:
    network = subject.make_network(0)
    optimizer = subject.make_optimizer(network)
    (inputs, labels) = make_batches(1, size=6)[0]
    notebook = Notebook(subject)
    installed = subject.adapter.hooks.install(notebook)
    seen = 0
    for batch in subject.loader((inputs, labels), batch_size=2, order=range(6)):
        subject.train_step(network, [optimizer], subject.arrays(batch))
        installed.remove()
        seen += 1
    assert seen == 3
    assert len(notebook.told("fetched")) == 1


def test_networks_built_before_installation_are_watched_too(subject: Subject) -> None:
    network = subject.make_network(0)
    optimizer = subject.make_optimizer(network)
    (batch,) = make_batches(1)
    subject.train_step(network, [optimizer], batch)
    with watched(subject) as notebook:
        subject.train_step(network, [optimizer], batch)
    assert notebook.story(network) == _zeroed(subject) + FORWARD + BACKWARD + STEP


def test_losses_are_bitwise_those_of_an_unwatched_training(subject: Subject) -> None:
    batches = make_batches(6)

    def train() -> tuple[list[float], dict[str, Any]]:
        network = subject.make_network(3)
        optimizer = subject.make_optimizer(network)
        losses = [subject.train_step(network, [optimizer], batch) for batch in batches]
        return losses, weights(subject, network)

    plain = train()
    with watched(subject, gradients=True):
        recorded = train()
    assert plain[0] == recorded[0]
    for name, array in plain[1].items():
        assert array.tobytes() == recorded[1][name].tobytes(), name


def test_a_watched_network_can_be_deep_copied_and_the_copy_trains(subject: Subject) -> None:
    network = subject.make_network(0)
    optimizer = subject.make_optimizer(network)
    (batch,) = make_batches(1)
    with watched(subject, gradients=True) as notebook:
        subject.train_step(network, [optimizer], batch)
        copied = copy.deepcopy(network)
        assert vars(copied).keys() == vars(network).keys()
        notebook.events.clear()
        subject.train_step(copied, [subject.make_optimizer(copied)], batch)
    for name, array in weights(subject, network).items():
        assert array.shape == weights(subject, copied)[name].shape
    assert notebook.story(copied)[len(_zeroed(subject)) :][: len(FORWARD)] == FORWARD


def test_a_watched_network_can_be_pickled_and_nothing_of_the_hooks_goes_with_it(subject: Subject) -> None:
    if not subject.traits.picklable:
        return
    network = subject.make_network(0)
    optimizer = subject.make_optimizer(network)
    subject.train_step(network, [optimizer], make_batches(1)[0])
    before = pickle.dumps(network)
    with watched(subject, gradients=True):
        subject.evaluate(network, make_batches(1)[0])
        again = pickle.loads(pickle.dumps(network))
        assert b"trueline" not in pickle.dumps(network)
    assert weights(subject, again).keys() == weights(subject, network).keys()
    assert b"trueline" not in before


def test_attributes_of_a_watched_network_stay_as_they_are(subject: Subject) -> None:
    network = subject.make_network(0)
    optimizer = subject.make_optimizer(network)
    (batch,) = make_batches(1)
    subject.train_step(network, [optimizer], batch)
    before = [set(vars(module)) for _, module in subject.adapter.values.modules(network)]
    with watched(subject, gradients=True):
        subject.train_step(network, [optimizer], batch)
    assert [set(vars(module)) for _, module in subject.adapter.values.modules(network)] == before
