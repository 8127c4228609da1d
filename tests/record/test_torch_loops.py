"""Every usual way of writing a training loop in torch becomes the steps and events that the contract says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch_loops import Net, dataset, loader, train_plainly

import trueline
from trueline.formats.run_folder.reader import RankFolder, open_run
from trueline.kernel import summarise
from trueline.model.events import LOOKS, BatchEvent, ClipEvent, LossEvent, ModeEvent, NoticeEvent, StepEvent
from trueline.model.key import Key


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    torch.manual_seed(0)
    yield tmp_path / "run"


def opened(folder: Path) -> RankFolder:
    return open_run(folder).rank(0)


def names(rank: RankFolder, step: int, phase: str = "train") -> list[str]:
    return [event.name for event in rank.events(step=step, phase=phase) if event.name not in LOOKS]


def test_a_step_tells_its_events_in_order_and_the_loss_that_the_user_saw(folder: Path) -> None:
    with trueline.record(folder):
        seen = train_plainly(epochs=2, clip=0.5)
    rank = opened(folder)
    assert list(rank.curve("loss").values) == seen
    assert names(rank, 1) == ["batch", "zero_grad", "loss", "backward", "clip", "step", "end"]
    assert list(rank.curve("lr").values) == [0.05] * 4 + [pytest.approx(0.005)] * 4
    assert all(value == pytest.approx(0.5, rel=1e-5) for value in rank.curve("grad_norm").values)
    assert [(event.norm or 0.0) > 0.5 for event in rank.events(ClipEvent)] == [True] * 8
    assert "scheduler" in [event.name for event in rank.events(step=4)]


def test_samples_are_recognised_again_in_another_order(folder: Path) -> None:
    with trueline.record(folder):
        train_plainly(epochs=2)
    batches = [event.batch() for event in opened(folder).events(BatchEvent)]
    first = [mark for one in batches[:4] for mark in one.fields[0].fingerprints]
    second = [mark for one in batches[4:] for mark in one.fields[0].fingerprints]
    assert first != second
    assert sorted(first) == sorted(second)
    assert len(set(first)) == 32
    indexes = [at for one in batches[:4] for at in one.indexes or ()]
    assert sorted(indexes) == list(range(32))
    images = dataset().tensors[0].numpy()
    assert first[0] == summarise(images[indexes[0]]).fingerprint


def test_data_workers_are_silent_and_their_batches_keep_their_indexes(folder: Path) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    with trueline.record(folder):
        for x, y in loader(shuffle=True, num_workers=2):
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
    images = dataset().tensors[0].numpy()
    for event in opened(folder).events(BatchEvent):
        batch = event.batch()
        assert batch.indexes is not None
        assert list(batch.fields[0].fingerprints) == [summarise(images[at]).fingerprint for at in batch.indexes]


def test_evaluation_has_its_own_counter_and_its_loss(folder: Path) -> None:
    model, criterion = Net(), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    with trueline.record(folder):
        for _ in range(2):
            model.train()
            for x, y in loader():
                optimizer.zero_grad()
                criterion(model(x), y).backward()
                optimizer.step()
            model.eval()
            with torch.no_grad():
                expected = [criterion(model(x), y).item() for x, y in loader(16)]
    rank = opened(folder)
    assert rank.finished == 8
    assert list(rank.curve("loss", "eval").values)[-2:] == expected
    assert [event.training for event in rank.events(ModeEvent)] == [True, False, True, False]
    assert {event.phase for event in rank.events(StepEvent)} == {"train"}


def test_scaled_losses_are_told_unscaled_and_skipped_steps_are_marked(folder: Path) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    seen = []
    with trueline.record(folder):
        for number, (x, y) in enumerate(loader()):
            optimizer.zero_grad()
            with torch.autocast("cpu", torch.bfloat16):
                loss = F.cross_entropy(model(x), y)
            seen.append(loss.item())
            scaled = scaler.scale(loss) if number != 2 else scaler.scale(loss * float("inf"))
            (scaled if number != 3 else scaled / 1.0).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
    rank = opened(folder)
    assert names(rank, 0) == [
        "loader", "batch", "zero_grad", "scale", "loss", "backward", "unscale", "clip", "step", "end",
    ]  # fmt: skip
    values = rank.curve("loss").values
    assert [values[0], values[1]] == seen[:2]
    assert values[3] == pytest.approx(seen[3], rel=1e-6)
    assert [event.skipped for event in rank.events(StepEvent)] == [False, False, True, False]
    assert names(rank, 2)[-2:] == ["overflow", "end"]
    assert open_run(folder).info.precision == "autocast bfloat16"


def test_several_backward_calls_in_a_step_are_numbered(folder: Path) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    with trueline.record(folder):
        for x, y in loader():
            optimizer.zero_grad()
            for half in (slice(0, 4), slice(4, 8)):
                (F.cross_entropy(model(x[half]), y[half]) / 2).backward()
            optimizer.step()
    rank = opened(folder)
    assert rank.finished == 4
    assert [loss.micro for loss in rank.events(LossEvent, step=0)] == [0, 1]


def test_accumulation_over_batches_leaves_steps_without_an_update(folder: Path) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    with trueline.record(folder):
        for number, (x, y) in enumerate(loader()):
            F.cross_entropy(model(x), y).backward()
            if number % 2:
                optimizer.step()
                optimizer.zero_grad()
    rank = opened(folder)
    assert rank.finished == 4
    assert ["step" in names(rank, step) for step in range(4)] == [False, True, False, True]


def test_two_networks_with_two_optimizers_are_one_step_and_called_by_the_users_names(folder: Path) -> None:
    generator, critic = nn.Linear(4, 64), nn.Sequential(nn.Flatten(), nn.Linear(64, 1))
    first = torch.optim.Adam(critic.parameters(), 1e-3)
    second = torch.optim.SGD(generator.parameters(), 1e-2)
    with trueline.record(folder, stats=True):
        for x, _ in loader():
            first.zero_grad()
            (critic(generator(torch.randn(8, 4)).detach()).mean() - critic(x).mean()).backward()
            first.step()
            second.zero_grad()
            critic(generator(torch.randn(8, 4))).mean().neg().backward()
            second.step()
    rank = opened(folder)
    assert rank.finished == 4
    steps = [(event.optimizer, event.kind, event.lr) for event in rank.events(StepEvent, step=1)]
    assert steps == [(0, "Adam", [1e-3]), (1, "SGD", [1e-2])]
    assert {one.path.split(".")[0] for one in rank.modules} == {"generator", "critic"}
    assert Key.of("critic.1", "out", call=2) in rank.keys
    held = {one.name: one.optimizer for one in rank.params}
    assert held == {"generator.weight": 1, "generator.bias": 1, "critic.1.weight": 0, "critic.1.bias": 0}


def test_a_loop_without_a_loader_is_cut_into_steps_by_its_updates(folder: Path) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    x, y = dataset(8).tensors
    with trueline.record(folder):
        for _ in range(3):
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            model(x)
    rank = opened(folder)
    assert rank.finished == 3
    assert names(rank, 1) == ["zero_grad", "batch", "loss", "backward", "step", "end"]
    assert names(rank, 0, "eval")[-2:] == ["batch", "end"]


def test_a_teacher_in_eval_mode_belongs_to_the_students_step(folder: Path) -> None:
    teacher, student = Net().eval(), Net()
    optimizer = torch.optim.SGD(student.parameters(), 0.01)
    with trueline.record(folder):
        for x, _ in loader():
            with torch.no_grad():
                wanted = teacher(x)
            optimizer.zero_grad()
            F.mse_loss(student(x), wanted).backward()
            optimizer.step()
    rank = opened(folder)
    assert rank.finished == 4
    assert not list(rank.events(phase="eval"))
    held = {one.name.split(".")[0]: one.optimizer for one in rank.params if not one.buffer}
    assert held == {"teacher": None, "student": 0}


def test_recomputed_activations_are_not_calls(folder: Path) -> None:
    from torch.utils.checkpoint import checkpoint

    block, head = nn.Sequential(nn.Linear(64, 64), nn.ReLU()), nn.Linear(64, 10)
    optimizer = torch.optim.SGD([*block.parameters(), *head.parameters()], 0.01)
    with trueline.record(folder, stats=True):
        for x, y in loader():
            optimizer.zero_grad()
            hidden = checkpoint(block, x.flatten(1), use_reentrant=False)
            F.cross_entropy(head(hidden), y).backward()
            optimizer.step()
    calls = [(one.path, one.call) for one in opened(folder).calls]
    assert calls == [("block", 0), ("block.0", 0), ("block.1", 0), ("head", 0)]


def test_values_are_taken_before_an_in_place_activation_rewrites_them(folder: Path) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    with trueline.record(folder, stats=True, tensors=True, steps="0"):
        for x, y in loader():
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
    rank = opened(folder)
    before, after = Key.of("bn", "out"), Key.of("relu", "out")
    tensors, stats = rank.tensors(0), rank.stats(0)
    assert tensors[before].min() < 0
    assert stats[before].minimum == pytest.approx(float(tensors[before].min()))
    assert tensors[after].min() == 0
    assert list(rank.tensor_steps) == [0]


def test_gradients_and_weights_are_those_of_the_step(folder: Path) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    x, y = dataset(8).tensors
    with trueline.record(folder, tensors=True, grads=True, weights=True, inputs=True):
        optimizer.zero_grad()
        logits = model(x)
        logits.retain_grad()
        F.cross_entropy(logits, y).backward()
        gradient = model.fc.weight.grad.clone()
        optimizer.step()
    tensors = opened(folder).tensors(0)
    assert (tensors[Key.of("fc", "grad", "weight")] == gradient.numpy()).all()
    assert (tensors[Key.of("fc", "param", "weight")] == model.fc.weight.detach().numpy()).all()
    assert (tensors[Key.of("bn", "buffer", "running_mean")] == model.bn.running_mean.numpy()).all()
    assert (tensors[Key.of("fc", "gout")] == logits.grad.numpy()).all()
    assert (tensors[Key.of("conv", "in")] == x.numpy()).all()


def test_modules_and_steps_narrow_what_is_kept(folder: Path) -> None:
    with trueline.record(folder, stats=True, steps="1,3", modules=("fc", "conv*")):
        train_plainly()
    rank = opened(folder)
    assert {key.module for key in rank.keys} == {"conv", "fc"}
    assert list(rank.history(Key.of("fc", "out"))["step"]) == [1, 3]


def test_modules_know_how_and_where_they_were_built_and_what_feeds_them(folder: Path) -> None:
    with trueline.record(folder):
        train_plainly()
    rank = opened(folder)
    conv = next(one for one in rank.modules if one.path == "conv")
    assert conv.type == "Conv2d"
    assert conv.arguments is not None
    assert (conv.arguments["in_channels"], conv.arguments["padding"], conv.arguments["bias"]) == (1, 1, True)
    assert conv.built_at is not None
    assert conv.built_at.file.endswith("torch_loops.py")
    built = Path(__file__).with_name("torch_loops.py").read_text().splitlines()[conv.built_at.line - 1]
    assert "nn.Conv2d" in built
    calls = {one.path: one for one in rank.calls}
    order = [one.path for one in rank.calls]
    assert order == ["", "conv", "bn", "relu", "fc"]
    assert [order[at] for at in calls["bn"].feeds_from] == ["conv"]
    assert [order[at] for at in calls["fc"].feeds_from] == ["relu"]


def test_the_parameter_table_knows_sharing_freezing_and_groups(folder: Path) -> None:
    model = nn.Sequential(nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 10))
    model[1].weight = model[0].weight
    model[2].bias.requires_grad_(False)
    groups: list[dict[str, Any]] = [{"params": [model[0].weight], "lr": 0.1}, {"params": [model[2].weight]}]
    optimizer = torch.optim.SGD(groups, 0.01)
    with trueline.record(folder):
        for x, y in loader(8):
            F.cross_entropy(model(x.flatten(1)), y).backward()
            optimizer.step()
    table = {one.name: one for one in opened(folder).params}
    assert table["1.weight"].shared_with == "0.weight"
    assert not table["2.bias"].trainable
    assert (table["0.weight"].group, table["2.weight"].group, table["0.bias"].group) == (0, 1, None)
    initial = table["2.weight"].initial
    assert initial is not None
    assert initial.std > 0


def test_a_forward_that_raises_leaves_the_recording_in_order(folder: Path) -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    with trueline.record(folder, stats=True):
        for number, (x, y) in enumerate(loader()):
            if number == 1:
                with pytest.raises(RuntimeError):
                    model(x[:, :, :3])
                continue
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
    rank = opened(folder)
    assert rank.finished == 3
    assert [key.call for key in rank.stats(2)] == [0] * len(rank.stats(2))


def test_a_compiled_network_trains_the_same_and_says_what_is_missing(folder: Path) -> None:
    def train() -> tuple[list[float], int]:
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        torch.manual_seed(0)
        model = Net()
        compiled = torch.compile(model, backend="aot_eager")
        optimizer = torch.optim.SGD(model.parameters(), 0.05)
        seen = []
        for x, y in loader():
            optimizer.zero_grad()
            loss = F.cross_entropy(compiled(x), y)
            loss.backward()
            optimizer.step()
            seen.append(loss.item())
        return seen, sum(torch._dynamo.utils.counters["graph_break"].values())

    plain = train()
    with trueline.record(folder, stats=True):
        recorded = train()
    assert recorded == plain
    rank = opened(folder)
    assert [event.message.id for event in rank.events(NoticeEvent)] == ["torch.compiled"]
    assert {one.path for one in rank.modules} == {"", "conv", "bn", "relu", "fc"}
    assert rank.finished == 4


def test_copies_and_pickles_of_networks_are_untouched_by_recording(folder: Path) -> None:
    import copy
    import io

    model = Net()
    with trueline.record(folder):
        fresh = Net()
        held = io.BytesIO()
        torch.save(fresh, held)
        assert vars(fresh).keys() == vars(model).keys()
        assert copy.deepcopy(fresh).fc.weight.equal(fresh.fc.weight)
    held.seek(0)
    assert torch.load(held, weights_only=False).fc.weight.equal(fresh.fc.weight)


def test_after_the_block_nothing_is_recorded_and_nothing_is_left_in_torch(folder: Path) -> None:
    before = (
        torch.autograd.backward,
        nn.Module.train,
        nn.Module._call_impl,
        torch.optim.Optimizer.zero_grad,
        nn.utils.clip_grad_norm_,
    )
    with trueline.record(folder):
        train_plainly()
    train_plainly()
    assert before == (
        torch.autograd.backward,
        nn.Module.train,
        nn.Module._call_impl,
        torch.optim.Optimizer.zero_grad,
        nn.utils.clip_grad_norm_,
    )
    assert not torch.nn.modules.module._global_forward_hooks
    assert opened(folder).finished == 4


def test_full_tensors_are_kept_of_the_first_two_steps_unless_asked_otherwise(folder: Path) -> None:
    with trueline.record(folder, tensors=True):
        train_plainly()
    assert list(opened(folder).tensor_steps) == [0, 1]


def test_modules_made_anew_in_every_forward_are_told_apart_by_their_calls(folder: Path) -> None:
    class Careless(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(64, 10)

        def forward(self, x: Any) -> Any:
            return nn.Softplus()(nn.Softplus()(self.fc(x)))

    model = Careless()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    with trueline.record(folder, stats=True):
        for x, y in loader(16):
            optimizer.zero_grad()
            F.cross_entropy(model(x.flatten(1)), y).backward()
            optimizer.step()
    made = [key.call for key in opened(folder).stats(1) if key.module == "~Softplus"]
    assert made == [0, 1]
