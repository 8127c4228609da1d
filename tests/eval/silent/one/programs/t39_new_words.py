"""Word model with tied embeddings; new words join the vocabulary between rounds."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class TiedLM(nn.Module):
    def __init__(self, vocab, dim=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.decoder = nn.Linear(dim, vocab, bias=False)
        nn.init.normal_(self.embed.weight, std=0.1)
        self.tie_weights()

    def tie_weights(self):
        self.decoder.weight = self.embed.weight

    def extended(self, weight, extra):
        fresh = torch.randn(extra, weight.size(1)) * 0.1
        return torch.cat([weight.detach(), fresh])

    def resize(self, vocab):
        extra = vocab - self.embed.num_embeddings
        grown = self.extended(self.embed.weight, extra)
        self.embed = nn.Embedding.from_pretrained(grown, freeze=False)
        head = nn.Linear(grown.size(1), vocab, bias=False)
        head.weight.data.copy_(grown)
        self.decoder = head
        self.tie_weights()

    def forward(self, ids):
        h, _ = self.rnn(self.embed(ids))
        return self.decoder(h)


def sentences(vocab, n, seed):
    g = torch.Generator().manual_seed(seed)
    first = torch.randint(0, vocab, (n, 1), generator=g)
    step = torch.randint(1, 3, (n, 1), generator=g)
    return (first + step * torch.arange(9)) % vocab


def train_round(model, vocab, rows, lr, epochs, tag):
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.0)
    for epoch in range(epochs):
        total, count = 0.0, 0
        for idx in torch.randperm(len(rows)).split(24):
            batch = rows[idx]
            logits = model(batch[:, :-1])
            loss = F.cross_entropy(logits.reshape(-1, vocab), batch[:, 1:].reshape(-1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            count += 1
        print(f"{tag} epoch {epoch} loss {total / count:.4f}")


def main():
    torch.manual_seed(9)
    model = TiedLM(vocab=22)
    train_round(model, 22, sentences(22, 192, 1), lr=5e-3, epochs=3, tag="base")
    model.resize(30)
    train_round(model, 30, sentences(30, 192, 2), lr=5e-3, epochs=3, tag="extended")


main()
