import tempfile
from pathlib import Path

import torch
from backbone import N_FINE, Backbone, pretrain, signals
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset


class FineClassifier(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Sequential(nn.Linear(backbone.out_dim, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, N_FINE))
        for p in self.backbone.parameters():
            p.requires_grad = False

    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()  # frozen means the running statistics as well
        return self

    def forward(self, x):
        with torch.no_grad():
            feats = self.backbone(x)
        return self.head(feats)


def load_backbone(path):
    state = torch.load(path, weights_only=True)
    state = {k.removeprefix("module."): v for k, v in state.items()}
    net = Backbone()
    net.load_state_dict(state, strict=True)
    return net


def evaluate(model, loader, loss_fn):
    model.eval()
    s, ok, n = 0.0, 0, 0
    with torch.no_grad():
        for x, y in loader:
            out = model(x)
            s += loss_fn(out, y).item() * len(y)
            ok += out.argmax(1).eq(y).sum().item()
            n += len(y)
    return s / n, ok / n


def main():
    torch.manual_seed(4)
    with tempfile.TemporaryDirectory() as d:
        ckpt = Path(d) / "backbone.pth"
        pretrain(ckpt)
        model = FineClassifier(load_backbone(ckpt))

    train_dl = DataLoader(TensorDataset(*signals(600, seed=1)), batch_size=30, shuffle=True)
    val_dl = DataLoader(TensorDataset(*signals(180, seed=2)), batch_size=60)
    trainable = [p for p in model.parameters() if p.requires_grad]
    print(f"{sum(p.numel() for p in trainable)} of {sum(p.numel() for p in model.parameters())} weights are trained")
    optimizer = optim.Adam(trainable, lr=4e-3)
    loss_fn = nn.CrossEntropyLoss()

    for epoch in range(4):
        model.train()
        run, n = 0.0, 0
        for x, y in train_dl:
            loss = loss_fn(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            run, n = run + loss.item() * len(y), n + len(y)
        val_loss, val_acc = evaluate(model, val_dl, loss_fn)
        print(f"finetune {epoch}: loss {run / n:.3f}, val {val_loss:.3f}, acc {val_acc:.3f}")


if __name__ == "__main__":
    main()
