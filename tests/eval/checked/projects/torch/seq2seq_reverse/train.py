"""Teach a small attention model to spell a word backwards."""

import torch
from torch import nn
from torch.utils.data import DataLoader
from vocab import BOS, EOS, PAD, SIZE, collate, make_pairs


class Config:
    dim = 48
    batch = 24
    epochs = 3
    lr = 8e-3
    seed = 123


class Seq2Seq(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.embed = nn.Embedding(SIZE, dim, padding_idx=PAD)  # one table for both sides
        self.encoder = nn.GRU(dim, dim // 2, batch_first=True, bidirectional=True)
        self.decoder = nn.GRUCell(dim, dim)
        self.combine = nn.Linear(2 * dim, dim)
        self.out = nn.Linear(dim, SIZE)

    def encode(self, src):
        mask = src != PAD
        packed = nn.utils.rnn.pack_padded_sequence(self.embed(src), mask.sum(1), batch_first=True, enforce_sorted=False)
        states, last = self.encoder(packed)
        memory, _ = nn.utils.rnn.pad_packed_sequence(states, batch_first=True, total_length=src.size(1))
        return memory, mask, torch.cat([last[0], last[1]], dim=1)

    def step(self, token, h, memory, mask):
        h = self.decoder(self.embed(token), h)
        score = (memory @ h.unsqueeze(2)).squeeze(2).masked_fill(~mask, float("-inf"))
        context = (score.softmax(dim=1).unsqueeze(1) @ memory).squeeze(1)
        return self.out(torch.tanh(self.combine(torch.cat([h, context], dim=1)))), h

    def forward(self, src, dec_in):
        memory, mask, h = self.encode(src)
        logits = []
        for token in dec_in.unbind(1):
            z, h = self.step(token, h, memory, mask)
            logits.append(z)
        return torch.stack(logits, dim=1)

    @torch.no_grad()
    def greedy(self, src, max_len):
        memory, mask, h = self.encode(src)
        token = torch.full((src.size(0),), BOS)
        done = torch.zeros(src.size(0), dtype=torch.bool)
        result = []
        for _ in range(max_len):
            z, h = self.step(token, h, memory, mask)
            token = z.argmax(1).masked_fill(done, PAD)
            done |= token == EOS
            result.append(token)
        return torch.stack(result, dim=1)


def validate(model, loader, criterion):
    model.eval()
    loss = tokens = exact = words = 0
    with torch.no_grad():
        for src, dec_in, dec_out in loader:
            n = (dec_out != PAD).sum().item()
            loss += criterion(model(src, dec_in).flatten(0, 1), dec_out.flatten()).item() * n
            tokens += n
            exact += (model.greedy(src, dec_out.size(1)) == dec_out).all(dim=1).sum().item()
            words += len(src)
    return loss / tokens, exact / words


def main():
    torch.manual_seed(Config.seed)
    train_pairs = make_pairs(720, seed=1)
    # short words come up in both draws, keep only the unseen ones for validation
    val_pairs = [p for p in make_pairs(200, seed=2) if p not in train_pairs]
    train_dl = DataLoader(train_pairs, Config.batch, shuffle=True, collate_fn=collate)
    val_dl = DataLoader(val_pairs, 80, collate_fn=collate)
    model = Seq2Seq(Config.dim)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD)
    optimizer = torch.optim.Adam(model.parameters(), lr=Config.lr)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=Config.epochs)
    for epoch in range(Config.epochs):
        model.train()
        loss_sum = tokens = 0
        for src, dec_in, dec_out in train_dl:
            optimizer.zero_grad()
            loss = criterion(model(src, dec_in).flatten(0, 1), dec_out.flatten())
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            n = (dec_out != PAD).sum().item()
            loss_sum, tokens = loss_sum + loss.item() * n, tokens + n
        scheduler.step()
        val_loss, exact = validate(model, val_dl, criterion)
        print(f"epoch {epoch}  train {loss_sum / tokens:.3f}  val {val_loss:.3f}  whole words {exact:.2f}")


if __name__ == "__main__":
    main()
