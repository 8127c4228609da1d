"""Trainings that are written in less usual ways are recorded as truly as the usual ones."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from launching import python, script
from launching import trueline as trueline_command
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, RandomSampler
from torch_loops import Net, dataset, loader

import trueline
from trueline.adapters import adapter_of
from trueline.formats.run_folder.reader import RankFolder, open_run
from trueline.model.events import LOOKS, BackwardEvent, BatchEvent, LoaderEvent, NoticeEvent, StepEvent
from trueline.model.key import Key
from trueline.record.project import Project
from trueline.record.recorder import Recorder
from trueline.record.sink import new_info
from trueline.record.wanted import Wanted


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    return tmp_path / "run"


def opened(folder: Path) -> RankFolder:
    return open_run(folder).rank(0)


def notices(rank: RankFolder) -> list[str]:
    return [event.message.id for event in rank.events(NoticeEvent)]


def train(model: Any, batches: Any, optimizer: Any = None) -> list[float]:
    optimizer = optimizer or torch.optim.SGD(model.parameters(), 0.01)
    seen = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        seen.append(loss.item())
    return seen


def indexes(rank: RankFolder, step: int) -> list[Any]:
    return [event.indexes for event in rank.events(BatchEvent, step=step)]


def test_settings_that_are_numpy_s_numbers_are_recorded_as_numbers(folder: Path) -> None:
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=np.float32(0.25), weight_decay=np.float32(0.5))
    with trueline.record(folder):
        for number, batch in enumerate(loader(24)):
            train(model, [batch], optimizer)
            # As a schedule does that computes with NumPy.
            optimizer.param_groups[0]["lr"] = np.power(4, -0.5) * (number + 1)
    run = open_run(folder)
    assert run.info.recorded["off"] is None
    assert run.info.hyper["optimizers"][0]["groups"][0]["weight_decay"] == 0.5
    assert [event.lr for event in opened(folder).events(StepEvent)] == [[0.25], [0.5], [1.0]]


def test_networks_built_one_after_the_other_keep_their_own_parameters(folder: Path) -> None:
    first_values = {}
    with trueline.record(folder, stats=True, grads=True):
        for fold in range(4):
            model = nn.Sequential(nn.Flatten(), nn.Linear(64, 8 + fold), nn.ReLU(), nn.Linear(8 + fold, 10))
            first_values[8 + fold] = float(model[1].weight.detach().double().norm())
            train(model, loader(16))
            del model
    rank = opened(folder)
    by_width = {one.shape[0]: one for one in rank.params if one.name.endswith("1.weight") and one.shape[1] == 64}
    assert sorted(by_width) == [8, 9, 10, 11], "all four networks are in the table, also those that are gone"
    for width, one in by_width.items():
        assert one.initial is not None
        assert one.initial.l2 == pytest.approx(first_values[width], rel=1e-6)
    widths = {key.module: summary.count for key, summary in rank.stats(7).items() if str(key).endswith("grad/weight")}
    assert 11 * 64 in widths.values()
    assert all(count in (11 * 64, 11 * 10) for count in widths.values())


def test_a_backward_inside_a_backward_is_no_loss_of_the_users(folder: Path) -> None:
    from torch.utils.checkpoint import checkpoint

    block, head = nn.Linear(64, 64), nn.Linear(64, 10)
    optimizer = torch.optim.SGD([*block.parameters(), *head.parameters()], 0.01)
    seen = []
    with trueline.record(folder):
        for x, y in loader():
            optimizer.zero_grad()
            hidden = checkpoint(block, x.flatten(1).requires_grad_(), use_reentrant=True)
            loss = F.cross_entropy(head(hidden), y)
            loss.backward()
            optimizer.step()
            seen.append(loss.item())
    rank = opened(folder)
    assert list(rank.curve("loss").values) == seen
    assert [event.micro for event in rank.events(BackwardEvent)] == [0, 0, 0, 0]


@pytest.mark.parametrize("in_place", [False, True])
def test_a_compiled_network_keeps_its_own_inputs_and_outputs(folder: Path, in_place: bool) -> None:
    with trueline.record(folder, stats=True, inputs=True):
        torch._dynamo.reset()
        model = Net()
        if in_place:
            model.compile(backend="aot_eager")
        called = model if in_place else torch.compile(model, backend="aot_eager")
        seen = train(called, loader(), torch.optim.SGD(model.parameters(), 0.01))
    rank = opened(folder)
    assert list(rank.curve("loss").values) == seen
    assert notices(rank) == ["torch.compiled"]
    assert set(rank.keys) == {Key.of("", "in"), Key.of("", "out")}
    assert {one.path for one in rank.modules} == {"", "conv", "bn", "relu", "fc"}


def test_tensors_without_values_leave_a_notice_and_the_rest_is_recorded(folder: Path) -> None:
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    model = nn.TransformerEncoder(layer, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    hidden = torch.zeros(2, 5, dtype=torch.bool)
    hidden[0, 3:] = True
    with trueline.record(folder, stats=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):
            model.train()
            optimizer.zero_grad()
            model(torch.randn(2, 5, 16), src_key_padding_mask=hidden).pow(2).mean().backward()
            optimizer.step()
            model.eval()
            with torch.no_grad():
                model(torch.randn(2, 5, 16), src_key_padding_mask=hidden)
    rank = opened(folder)
    assert rank.finished == 3
    assert len(list(rank.events(phase="eval"))) > 0
    assert "torch.fused" in notices(rank)
    assert open_run(folder).info.recorded["off"] is None


def test_function_transforms_lazy_and_meta_modules_do_not_end_the_recording(folder: Path) -> None:
    lazy = nn.Sequential(nn.Flatten(), nn.LazyLinear(10))
    with trueline.record(folder, stats=True):
        parameters = dict(Net().named_parameters())
        net = nn.Linear(4, 1)
        torch.func.vmap(torch.func.grad(lambda x: net(x).sum()))(torch.randn(3, 4))
        nn.Linear(4, 4, device="meta")(torch.randn(2, 4, device="meta"))
        seen = [loss for x, y in loader() for loss in train(lazy, [(x, y)])]
    assert parameters
    rank = opened(folder)
    assert list(rank.curve("loss").values) == seen
    assert "torch.transformed" in notices(rank)


@pytest.mark.parametrize("with_loader", [True, False])
def test_an_optimizer_with_a_closure_has_its_own_gradients_and_steps(folder: Path, with_loader: bool) -> None:
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    norms, losses = [], []
    x, y = dataset(8).tensors
    with trueline.record(folder):
        for batch in loader(24) if with_loader else [(x, y)] * 3:

            def closure(batch: Any = batch) -> Any:
                optimizer.zero_grad()
                loss = F.cross_entropy(model(batch[0]), batch[1])
                loss.backward()
                norms.append(float(torch.cat([one.grad.flatten() for one in model.parameters()]).norm()))
                return loss

            losses.append(float(optimizer.step(closure)))
    rank = opened(folder)
    assert rank.finished == 3
    assert list(rank.curve("loss").values) == losses
    assert list(rank.curve("grad_norm").values) == pytest.approx(norms)


def ahead(source: Any) -> Iterator[Any]:
    held = None
    for batch in source:
        if held is not None:
            yield held
        held = batch
    yield held


@pytest.mark.parametrize("fetch", [list, ahead], ids=["all at once", "one ahead"])
def test_batches_fetched_early_belong_to_the_step_that_uses_them(folder: Path, fetch: Any) -> None:
    with trueline.record(folder):
        seen = train(Net(), fetch(loader(shuffle=True)))
    rank = opened(folder)
    assert list(rank.curve("loss").values) == seen
    assert [len(indexes(rank, step)) for step in range(4)] == [1, 1, 1, 1]
    found = sorted(at for step in range(4) for batch in indexes(rank, step) for at in batch)
    assert found == list(range(32))
    events = [event.name for event in rank.events(step=2) if event.name not in {"loader", *LOOKS}]
    assert events == ["batch", "zero_grad", "loss", "backward", "step", "end"]


def test_a_loader_is_known_for_what_it_is(folder: Path) -> None:
    data = dataset()
    with trueline.record(folder):
        train(Net(), DataLoader(data, batch_sampler=BatchSampler(RandomSampler(data), 8, False)))
    rank = opened(folder)
    loading = next(rank.events(LoaderEvent))
    assert (loading.sampler, loading.shuffle) == ("RandomSampler", True)
    assert {event.loader for event in rank.events(BatchEvent)} == {0}


def test_a_rollout_belongs_to_the_update_that_learns_from_it(folder: Path) -> None:
    policy = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(policy.parameters(), 0.1)
    with trueline.record(folder):
        for _ in range(3):
            log_probabilities = [F.log_softmax(policy(torch.randn(4)), -1)[0] for _ in range(5)]
            optimizer.zero_grad()
            (-torch.stack(log_probabilities).sum()).backward()
            optimizer.step()
    rank = opened(folder)
    assert rank.finished == 3
    assert not list(rank.events(phase="eval"))


def test_recordings_may_end_in_any_order(tmp_path: Path) -> None:
    before = torch.autograd.backward
    first, second = trueline.record(tmp_path / "a"), trueline.record(tmp_path / "b")
    first.__enter__()
    second.__enter__()
    train(Net(), loader())
    first.__exit__(None, None, None)
    seen = train(Net(), loader())
    second.__exit__(None, None, None)
    assert list(opened(tmp_path / "b").curve("loss").values)[4:] == seen
    assert opened(tmp_path / "a").finished == 4
    with trueline.record(tmp_path / "c"):
        train(Net(), loader())
    assert opened(tmp_path / "c").finished == 4
    assert torch.autograd.backward.__name__ == before.__name__


def test_tracing_gives_no_warnings_of_ours(folder: Path) -> None:
    with trueline.record(folder, stats=True), warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        torch.jit.trace(nn.Sequential(nn.Linear(4, 4), nn.ReLU()), torch.randn(2, 4))


def test_what_implies_statistics_keeps_them(folder: Path) -> None:
    with trueline.record(folder, grads=True):
        train(Net(), loader())
    assert Key.of("fc", "grad", "weight") in opened(folder).keys


def test_losses_that_come_from_an_iterator_still_reach_the_backward_pass(folder: Path) -> None:
    weight = torch.ones(3, requires_grad=True)
    with trueline.record(folder):
        for _ in range(2):
            (slope,) = torch.autograd.grad((weight**2).sum(), weight, create_graph=True)
            torch.autograd.backward(loss for loss in [(weight * 2).sum(), slope.sum()])
    assert weight.grad is not None
    assert weight.grad.tolist() == [8.0, 8.0, 8.0]


def test_a_rate_that_numpy_computed_is_a_number(folder: Path) -> None:
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with trueline.record(folder):
        for x, y in loader():
            optimizer.param_groups[0]["lr"] = np.power(64, -0.5) * np.float64(0.1)
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()
    assert opened(folder).curve("lr").values[0] == pytest.approx(0.0125)


SCRIPTED = """
import warnings
warnings.simplefilter("ignore")
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer

def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2

@torch.jit.script
def loss(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(F.dropout(twice(x), 0.5, False), y)

def build():
    @torch.jit.script
    class Inside:
        def __init__(self):
            self.one = 1
    return Inside

@torch.jit.script_if_tracing
def dropped(x: torch.Tensor):
    return F.dropout(x, 0.5, False)

class Whole(torch.jit.ScriptModule):
    @torch.jit.script_method
    def forward(self, x: torch.Tensor):
        return F.dropout(x, 0.5, False)

build()
x, y = torch.ones(2, 3), torch.zeros(2).long()
print(loss(x, y), torch.jit.script(F.cross_entropy)(x, y))
print(torch.jit.script(nn.Sequential(nn.Linear(3, 2), nn.Dropout(0.1)))(x).shape)
print(torch.jit.trace(lambda a: dropped(a), x)(x), Whole()(x))
"""


@pytest.mark.parametrize("verb", [("run", "-o", "run"), ("watch",)], ids=["run", "watch"])
def test_torchscript_compiles_what_it_compiles_plainly(tmp_path: Path, verb: tuple[str, ...]) -> None:
    name = script(tmp_path, SCRIPTED)
    plainly = python(name, cwd=tmp_path, forked="torch")
    assert plainly.returncode == 0, plainly.stderr
    done = trueline_command(*verb, name, cwd=tmp_path, forked="torch")
    assert done.stdout == plainly.stdout, done.stderr


COMPILED = """
import torch
from torch import nn
from torch._dynamo.utils import counters

class Layer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.fc = nn.Linear(size, size)
    def forward(self, x):
        return torch.relu(self.fc(x))

class Network(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layers = nn.ModuleList([Layer(size), Layer(size)])
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
            torch._dynamo.graph_break()
        return x

graphs = []
def backend(graph, _):
    graphs.append([str(node.target) for node in graph.graph.nodes])
    return graph.forward

def hooked(module):
    module[0].register_forward_hook(lambda module, args, output: output * 2)
    return module

def in_place(module):
    module.compile(backend=backend)
    return module

def compiled(module):
    return torch.compile(module, backend=backend)

torch.manual_seed(0)
# More of them than the compiler makes graphs of one function.
networks = [compiled(Network(size)) for size in range(2, 14)]
networks += [compiled(nn.Linear(3, 3)), in_place(nn.Sequential(Layer(3), Layer(3)))]
networks += [compiled(hooked(nn.Sequential(Layer(3), Layer(3))))]
for network in networks:
    weights = list(network.parameters())
    optimizer = torch.optim.SGD(weights, 0.1)
    for _ in range(2):
        optimizer.zero_grad()
        loss = network(torch.ones(2, weights[0].shape[1])).sum()
        loss.backward()
        optimizer.step()
        print(loss.item().hex())
print(sum(counters["graph_break"].values()), graphs)
for strict in (False, True):
    print(torch.export.export(nn.Sequential(Layer(3), Layer(3)), (torch.ones(2, 3),), strict=strict).graph)
print(torch.fx.symbolic_trace(Layer(3)).graph)
"""


@pytest.mark.parametrize("verb", [("run", "-o", "run"), ("watch",)], ids=["run", "watch"])
def test_torch_s_compiler_makes_the_graphs_that_it_makes_plainly(tmp_path: Path, verb: tuple[str, ...]) -> None:
    name = script(tmp_path, COMPILED)
    plainly = python(name, cwd=tmp_path, forked="torch")
    assert plainly.returncode == 0, plainly.stderr
    done = trueline_command(*verb, name, cwd=tmp_path, forked="torch")
    assert done.stdout == plainly.stdout, done.stderr


def test_what_a_module_s_own_hooks_change_is_recorded_as_its_caller_gives_and_gets_it(folder: Path) -> None:
    first, second = nn.Linear(64, 8), nn.Linear(8, 10)
    first.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
    first.register_forward_hook(lambda module, args, output: output * 0 + 3)
    second.register_full_backward_hook(lambda module, given, arrived: None)
    with trueline.record(folder, stats=True, inputs=True):
        train(nn.Sequential(nn.Flatten(), first, second), loader(16))
    found = {str(key): one for key, one in opened(folder).stats(0).items()}
    outputs, inputs = found["train/1#0/out/0"], found["train/2#0/in/0"]
    assert (outputs.minimum, outputs.maximum) == (inputs.minimum, inputs.maximum) == (3, 3)
    assert found["train/1#0/in/0"] == found["train/0#0/out/0"]


def calls_of_a_step(folder: Path, blocks: int) -> float:
    """How many of its own functions a recording calls in a training step that it does not look at more closely."""
    layers = (layer for _ in range(blocks) for layer in (torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4)))
    network = torch.nn.Sequential(*layers)
    optimizer = torch.optim.SGD(network.parameters(), 0.001)
    recorder = Recorder(Wanted(folder), new_info(argv=["train.py"]), Project(folder), lambda said: None)
    calls = 0

    def hear(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        calls += event == "call" and "src/trueline/" in frame.f_code.co_filename

    hooks = recorder.listen(adapter_of("torch"))
    try:
        for number, x in enumerate(torch.utils.data.DataLoader(torch.ones(8 * 14, 4), 8)):
            if number == 10:
                sys.setprofile(hear)
            optimizer.zero_grad()
            network(x).sum().backward()
            optimizer.step()
    finally:
        sys.setprofile(None)
        hooks.remove()
    assert recorder.on
    return calls / 4


def test_a_layer_more_costs_a_step_few_calls_of_the_recording(tmp_path: Path) -> None:
    # A linear layer and a normalisation: two modules, four parameters, three buffers.
    few, many = (calls_of_a_step(tmp_path / str(blocks), blocks) for blocks in (10, 50))
    assert (many - few) / 40 < 90


@pytest.mark.parametrize("kind", [torch.optim.AdamW, torch.optim.SGD, torch.optim.LBFGS])
def test_optimizer_files_have_the_same_bytes_as_without_a_recording(folder: Path, kind: Any) -> None:
    def saved() -> list[bytes]:
        torch.manual_seed(0)
        model = nn.Linear(4, 1)
        optimizer = kind(model.parameters(), 0.1)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
        scaler, found = torch.amp.GradScaler("cpu", enabled=kind is not torch.optim.LBFGS), []

        def closure() -> Any:
            optimizer.zero_grad()
            loss = model(torch.ones(2, 4)).pow(2).mean()
            scaler.scale(loss).backward()
            return loss

        for _ in range(3):
            if scaler.is_enabled():
                closure()
                scaler.step(optimizer)
                scaler.update()
            else:
                optimizer.step(closure)
            schedule.step()
        for one in (model, optimizer, schedule, scaler):
            for thing in (one, one.state_dict()):
                file = io.BytesIO()
                torch.save(thing, file)
                found.append(file.getvalue())
        return found

    plain = saved()
    with trueline.record(folder):
        recorded = saved()
    assert opened(folder).finished == 3
    assert recorded == plain
