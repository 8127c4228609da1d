import math

import torch
import torch.nn.functional as F
from data import CharVocab, NextCharDataset, make_text
from model import TinyLM
from torch.utils.data import DataLoader

BLOCK = 32
EPOCHS = 3
LR = 4e-3
WARMUP = 10
CLIP = 1.0


def configure_optimizer(model, lr, weight_decay=0.1):
    # named_parameters() yields the tied matrix once
    named = dict(model.named_parameters())
    matrices = [p for n, p in named.items() if p.dim() >= 2 and n != "pos"]
    rest = [p for n, p in named.items() if p.dim() < 2 or n == "pos"]
    groups = [{"params": matrices, "weight_decay": weight_decay}, {"params": rest, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=lr, betas=(0.9, 0.95))


def lm_loss(logits, targets):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def validate(model, loader):
    model.eval()
    nll, count = 0.0, 0
    with torch.no_grad():
        for inp, tgt in loader:
            nll += lm_loss(model(inp), tgt).item() * tgt.numel()
            count += tgt.numel()
    model.train()
    return nll / count


def main():
    torch.manual_seed(1)
    train_text, val_text = make_text(220, seed=1), make_text(50, seed=2)
    vocab = CharVocab(train_text)
    train_ds = NextCharDataset(vocab.encode(train_text), BLOCK, stride=16)
    val_ds = NextCharDataset(vocab.encode(val_text), BLOCK, stride=BLOCK)
    train_dl = DataLoader(train_ds, batch_size=16, shuffle=True, drop_last=True)
    val_dl = DataLoader(val_ds, batch_size=32)

    model = TinyLM(len(vocab), BLOCK)
    optimizer = configure_optimizer(model, LR)
    total = EPOCHS * len(train_dl)

    def lr_factor(step):
        if step < WARMUP:
            return (step + 1) / WARMUP
        return 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * (step - WARMUP) / max(1, total - WARMUP)))

    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lr_factor)
    model.train()
    for epoch in range(EPOCHS):
        for step, (inp, tgt) in enumerate(train_dl):
            loss = lm_loss(model(inp), tgt)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
            optimizer.step()
            scheduler.step()
            if step % 10 == 0:
                print(f"  {epoch}:{step:03d} loss {loss.item():.3f} lr {scheduler.get_last_lr()[0]:.2e}")
        val = validate(model, val_dl)
        print(f"epoch {epoch} val nll {val:.4f} ppl {math.exp(val):.2f}")


if __name__ == "__main__":
    main()
