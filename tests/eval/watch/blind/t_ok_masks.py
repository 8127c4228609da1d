"""Causal language model with key padding, all masks made of -inf."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class CausalAttention(nn.Module):
    def __init__(self, dim, longest):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)
        block = torch.full((longest, longest), float("-inf")).triu(1)
        self.register_buffer("causal", block)

    def forward(self, x, pad):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = q @ k.transpose(1, 2) / x.shape[-1] ** 0.5 + self.causal
        scores = scores.masked_fill(pad[:, None, :], float("-inf"))
        return self.out(torch.softmax(scores, dim=-1) @ v)


class TinyLM(nn.Module):
    def __init__(self, vocab=30, dim=16, longest=8):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=0)
        self.norm = nn.LayerNorm(dim)
        self.attn = CausalAttention(dim, longest)
        self.layer = nn.TransformerEncoderLayer(dim, 2, 32, dropout=0.0, batch_first=True)
        self.head = nn.Linear(dim, vocab)

    def forward(self, tokens):
        pad = tokens == 0
        x = self.embed(tokens)
        x = x + self.attn(self.norm(x), pad)
        additive = torch.zeros(pad.shape).masked_fill(pad, float("-inf"))
        x = self.layer(x, src_mask=self.attn.causal, src_key_padding_mask=additive)
        return self.head(x)


def main():
    torch.manual_seed(0)
    tokens = torch.randint(1, 30, (64, 8))
    for row in range(0, 64, 3):
        tokens[row, 4 + row % 4 :] = 0
    model = TinyLM()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step, (batch,) in enumerate(DataLoader(TensorDataset(tokens), batch_size=8)):
        logits = model(batch)[:, :-1]
        loss = nn.functional.cross_entropy(logits.reshape(-1, 30), batch[:, 1:].reshape(-1), ignore_index=0)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
