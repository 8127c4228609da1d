"""Causal LM with padded batches and gradient accumulation."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

PAD = 0
IGNORE = -100


class VariableLengthChains(Dataset):
    def __init__(self, n, vocab, seed):
        g = torch.Generator().manual_seed(seed)
        self.rows = []
        for i in range(n):
            length = int(torch.randint(3, 8, (1,), generator=g)) if i % 2 else 24
            first = int(torch.randint(1, vocab, (1,), generator=g))
            chain = [first]
            for _ in range(length - 1):
                chain.append((chain[-1] * 3 + 1) % (vocab - 1) + 1)
            self.rows.append(torch.tensor(chain))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    width = max(len(r) for r in rows)
    ids = torch.full((len(rows), width), PAD)
    for i, r in enumerate(rows):
        ids[i, :len(r)] = r
    labels = ids.masked_fill(ids == PAD, IGNORE)
    return {"input_ids": ids[:, :-1], "labels": labels[:, 1:]}


class CausalModel(nn.Module):
    def __init__(self, vocab, dim=32):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim, padding_idx=PAD)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.lm_head = nn.Linear(dim, vocab, bias=False)

    def forward(self, input_ids, labels=None, num_items=None):
        logits = self.lm_head(self.rnn(self.tok(input_ids))[0])
        loss = None
        if labels is not None:
            reduction = "mean" if num_items is None else "sum"
            loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(),
                                   ignore_index=IGNORE, reduction=reduction)
            if num_items is not None:
                loss = loss / num_items
        return loss, logits


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--gradient_accumulation_steps", type=int, default=4)
    ap.add_argument("--per_device_batch_size", type=int, default=1)
    ap.add_argument("--learning_rate", type=float, default=5e-3)
    ap.add_argument("--max_steps", type=int, default=40)
    args = ap.parse_args()

    torch.manual_seed(1)
    data = VariableLengthChains(160, vocab=24, seed=9)
    loader = DataLoader(data, batch_size=args.per_device_batch_size, shuffle=True, collate_fn=collate)
    model = CausalModel(24)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate)
    done = 0
    running = 0.0
    while done < args.max_steps:
        window = []
        for batch in loader:
            window.append(batch)
            if len(window) < args.gradient_accumulation_steps:
                continue
            tokens = sum((b["labels"] != IGNORE).sum() for b in window)
            optimizer.zero_grad()
            for b in window:
                loss, _ = model(**b, num_items=tokens)
                loss.backward()
                running += loss.item()
            optimizer.step()
            window = []
            done += 1
            if done % 10 == 0:
                print(f"update {done} loss {running / 10:.4f}")
                running = 0.0
            if done == args.max_steps:
                break


if __name__ == "__main__":
    main()
