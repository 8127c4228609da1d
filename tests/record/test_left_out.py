"""What would take too much memory is left out of a recording, which says so and goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

import trueline as library
from trueline.formats.run_folder.reader import open_run
from trueline.model.events import BatchEvent, NoticeEvent
from trueline.model.message import Message
from trueline.record import tensors, whole_batches
from trueline.record.recording import Recording
from trueline.record.wanted import Wanted


class _Rows(torch.utils.data.Dataset[torch.Tensor]):
    def __len__(self) -> int:
        return 8

    def __getitem__(self, place: int) -> torch.Tensor:
        return torch.full((8,), float(place))


def _collated(rows: list[torch.Tensor]) -> dict[str, torch.Tensor]:
    return {"x": torch.stack(rows), "mask": torch.ones(1, 1).expand(len(rows), 1 << 24)}


def _train(steps: int = 4) -> list[float]:
    torch.manual_seed(0)
    net, seen = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1)), []
    net.register_buffer("table", torch.zeros(1, 1).expand(1 << 13, 1 << 12))
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for batch in torch.utils.data.DataLoader(_Rows(), 8 // steps, collate_fn=_collated):
        optimizer.zero_grad()
        loss = net(batch["x"]).pow(2).mean()
        loss.backward()
        optimizer.step()
        seen.append(loss.item())
    return seen


def _with_batches(folder: Path) -> list[float]:
    recording = Recording(Wanted(folder, batches=2), lambda _: None)
    recording.begin()
    try:
        return _train()
    finally:
        recording.finish(0)
        assert (recording.off, recording.steps) == (None, 4)


def _notices(folder: Path) -> list[Message]:
    return [event.message for event in open_run(folder).rank(0).events(NoticeEvent)]


def test_fields_and_first_weights_that_are_too_far_expanded_are_named_once(tmp_path: Path) -> None:
    plain = _train()
    assert _with_batches(tmp_path / "run") == plain
    said = [(notice.id, notice.params) for notice in _notices(tmp_path / "run")]
    assert sorted(said, key=str) == [
        ("record.expanded", {"module": "table"}),
        ("record.field_expanded", {"field": "mask"}),
    ]
    batch = next(open_run(tmp_path / "run").rank(0).events(BatchEvent)).batch()
    assert [field.name for field in batch.fields] == ["x"]


def test_the_tensors_of_a_step_take_their_share_of_the_memory_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = _train()
    monkeypatch.setattr(tensors, "memory_share", lambda: 100)
    with library.record(tmp_path / "run", tensors=True, steps="all") as recording:
        assert _train() == plain
    assert (recording.off, recording.steps) == (None, 4)
    rank = open_run(tmp_path / "run").rank(0)
    kept = {step: sum(one.nbytes for one in rank.tensors(step).values()) for step in rank.tensor_steps}
    assert set(kept) == {0, 1, 2, 3}
    assert all(0 < one <= 100 for one in kept.values()), "every step has its share anew"
    assert "record.too_large" in {notice.id for notice in _notices(tmp_path / "run")}


def test_whole_batches_take_no_more_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = _train()
    monkeypatch.setattr(whole_batches, "memory_share", lambda: 40)
    assert _with_batches(tmp_path / "run") == plain
    assert [notice.id for notice in _notices(tmp_path / "run")].count("record.batch_too_large") == 1


def test_a_quarter_of_the_machines_memory_is_that_share() -> None:
    lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    whole = int(lines["MemTotal"].split()[0]) * 1024
    assert tensors.memory_share() == pytest.approx(whole / 4, rel=0.01)
