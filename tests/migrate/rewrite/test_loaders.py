"""A loader's draft gives the batches that torch's gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mindspore
import pytest
import torch
from tests.migrate.rewrite.pairs import drafted, load

_SOURCE = """import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset


class Words(Dataset):
    def __init__(self):
        self.rows = [[1, 2, 3], [4], [5, 6], [7, 8, 9, 10], [11]]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return torch.tensor(self.rows[index]), index


class Squares(Dataset):
    def __len__(self):
        return 7

    def __getitem__(self, index):
        return torch.tensor([index * 1.0, index * index])


def collate(batch):
    texts, places = zip(*batch)
    return pad_sequence(texts, batch_first=True, padding_value=-1), torch.tensor(places)


def collated():
    loader = DataLoader(Words(), batch_size=2, collate_fn=collate)
    return list(loader), len(loader), len(loader.dataset)


def of_a_tensor():
    loader = DataLoader(torch.arange(10).reshape(5, 2), batch_size=2, drop_last=True)
    return numbered(loader), len(loader), 0


def of_single_values():
    loader = DataLoader(Squares(), batch_size=3)
    first = next(iter(loader))
    return [first, *numbered(loader)], len(loader), len(loader.dataset)


def spread():
    options = {"batch_size": 2, "num_workers": 0}
    loader = DataLoader(Squares(), **options)
    return numbered(loader), len(loader), len(loader.dataset)


def numbered(loader):
    return [batch for _, batch in enumerate(loader)]
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    folder = Path(tmp_path_factory.mktemp("loaders"))
    draft = drafted(folder, _SOURCE)
    assert [left.reason.text() for left in draft.left] == []
    (folder / "draft.py").write_text(draft.text)
    return load(folder / "script.py", "bench_loaders"), load(folder / "draft.py", "port_loaders")


@pytest.mark.parametrize("name", ["collated", "of_a_tensor", "of_single_values", "spread"])
def test_batches_are_torchs(name: str, modules: tuple[Any, Any]) -> None:
    ours, theirs = (getattr(module, name)() for module in modules)
    assert ours[1:] == theirs[1:]
    assert _plain(ours[0]) == _plain(theirs[0])


def _plain(value: Any) -> Any:
    if isinstance(value, torch.Tensor | mindspore.Tensor):
        return value.tolist()
    return [_plain(part) for part in value]
