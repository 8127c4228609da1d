"""Word-level language model with an LSTM and tied input/output embeddings."""
import numpy as np
import torch
import torch.nn as nn

VOCAB = 64
DIM = 32
SEQ = 12
BATCH = 16
STEPS = 30


def sentences(n, seed):
    rng = np.random.RandomState(seed)
    jump = np.random.RandomState(40).permutation(VOCAB)
    out = np.zeros((n, SEQ + 1), dtype=np.int64)
    out[:, 0] = rng.randint(0, VOCAB, n)
    for t in range(SEQ):
        follow = rng.uniform(size=n) < 0.85
        out[:, t + 1] = np.where(follow, jump[out[:, t]], rng.randint(0, VOCAB, n))
    return out


class TiedLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM)
        self.lstm = nn.LSTM(DIM, DIM, batch_first=True)
        self.dropout = nn.Dropout(0.3)
        self.decoder = nn.Linear(DIM, VOCAB)
        self.init_weights()
        self.decoder.weight = self.embed.weight

    def init_weights(self):
        nn.init.uniform_(self.embed.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)

    def forward(self, tokens):
        h, _ = self.lstm(self.embed(tokens))
        return self.decoder(self.dropout(h))


def perplexity(model, data, criterion):
    model.eval()
    with torch.no_grad():
        t = torch.from_numpy(data)
        loss = criterion(model(t[:, :-1]).reshape(-1, VOCAB), t[:, 1:].reshape(-1))
    return float(torch.exp(loss))


if __name__ == "__main__":
    torch.manual_seed(0)
    train, valid = sentences(800, 0), sentences(100, 1)
    model = TiedLM()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    rng = np.random.RandomState(5)
    for step in range(1, STEPS + 1):
        model.train()
        batch = torch.from_numpy(train[rng.randint(0, len(train), BATCH)])
        logits = model(batch[:, :-1])
        loss = criterion(logits.reshape(-1, VOCAB), batch[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f} ppl {perplexity(model, valid, criterion):.3f}")
