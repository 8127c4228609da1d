"""Set classifier with an attention layer over the elements."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class AttentionCore(nn.Module):
    def __init__(self, dim, heads, attention_dropout=0.2):
        super().__init__()
        self.heads = heads
        self.dropout_p = attention_dropout
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        if not self.training:
            self.dropout_p = 0.0
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout_p)
        return self.out(y.transpose(1, 2).reshape(b, n, c))


class SetNet(nn.Module):
    def __init__(self, dim=24, classes=3):
        super().__init__()
        self.inp = nn.Linear(4, dim)
        self.core = AttentionCore(dim, 3)
        self.norm = nn.LayerNorm(dim)
        self.cls = nn.Linear(dim, classes)

    def forward(self, x):
        h = self.inp(x)
        h = self.norm(h + self.core(h))
        return self.cls(h.mean(1))


def sets(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 3, (n,), generator=g)
    x = torch.randn(n, 9, 4, generator=g) * (1.0 + 0.8 * y.view(-1, 1, 1))
    return x, y


def run_epoch(model, x, y, batch, optimizer=None):
    training = optimizer is not None
    model.train(training)
    order = torch.randperm(len(x)) if training else torch.arange(len(x))
    losses, hits = [], 0
    with torch.set_grad_enabled(training):
        for idx in order.split(batch):
            logits = model(x[idx])
            loss = F.cross_entropy(logits, y[idx])
            if training:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            losses.append(loss.item())
            hits += (logits.argmax(1) == y[idx]).sum().item()
    return sum(losses) / len(losses), hits / len(x)


def main():
    torch.manual_seed(12)
    model = SetNet()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    xt, yt = sets(360, 0)
    xv, yv = sets(90, 1)
    for epoch in range(5):
        tl, ta = run_epoch(model, xt, yt, 30, opt)
        vl, va = run_epoch(model, xv, yv, 45)
        print(f"epoch {epoch} train {tl:.4f}/{ta:.2f} val {vl:.4f}/{va:.2f}")


main()
