import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset


def pad(batch):
    ids, labels = zip(*batch, strict=True)
    lengths = torch.tensor([len(x) for x in ids])
    return pad_sequence(list(ids), batch_first=True, padding_value=0), lengths, torch.tensor(labels)


class Sentences(Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, i):
        return torch.arange(1, 3 + i % 6), i % 2


def make():
    return DataLoader(Sentences(), batch_size=8, shuffle=True, collate_fn=pad)
