import torch
from torch.utils.data import DataLoader, Dataset


def pad_batch(batch):
    longest = max(len(boxes) for boxes, _ in batch)
    out = torch.zeros(len(batch), longest, 4)
    for k, (boxes, _) in enumerate(batch):
        out[k, : len(boxes)] = torch.stack([torch.tensor(b) for b in boxes])  # expect
    return out, torch.tensor([n for _, n in batch])


class Boxes(Dataset):
    def __init__(self):
        self.boxes = [[[0.0, 0.0, 1.0, float(k)] for k in range(1 + i % 3)] for i in range(32)]
        self.boxes[27] = []

    def __len__(self):
        return len(self.boxes)

    def __getitem__(self, i):
        return self.boxes[i], len(self.boxes[i])


def make():
    return DataLoader(Boxes(), batch_size=8, collate_fn=pad_batch)
