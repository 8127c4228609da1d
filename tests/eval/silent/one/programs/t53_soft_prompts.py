"""Soft prompts in front of a review classifier; the word rows stay put."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class PromptedClassifier(nn.Module):
    def __init__(self, vocab=40, prompts=3, dim=24, classes=3):
        super().__init__()
        self.vocab, self.prompts = vocab, prompts
        self.embed = nn.Embedding(vocab + prompts, dim)
        self.body = nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, classes)

    def forward(self, ids):
        prompt = torch.arange(self.vocab, self.vocab + self.prompts).expand(len(ids), -1)
        h, _ = self.body(self.embed(torch.cat([prompt, ids], dim=1)))
        return self.head(h[:, -1])


def freeze_old_rows(embedding, keep_from):
    """Only rows from `keep_from` on are to be learnt."""
    def hook(grad):
        grad = grad.clone()
        grad[:keep_from] = 0
        return grad
    embedding.weight.register_hook(hook)


def reviews(n, vocab=40):
    g = torch.Generator().manual_seed(19)
    y = torch.randint(0, 3, (n,), generator=g)
    ids = torch.randint(0, vocab, (n, 8), generator=g)
    marked = torch.rand(n, 8, generator=g) < 0.5
    return TensorDataset(torch.where(marked, y.unsqueeze(1) * 3 + ids % 3, ids), y)


def main():
    torch.manual_seed(5)
    model = PromptedClassifier()
    freeze_old_rows(model.embed, model.vocab)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.0)
    loader = DataLoader(reviews(384), batch_size=32, shuffle=True)
    for epoch in range(5):
        model.train()
        total = 0.0
        for ids, y in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(ids), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
