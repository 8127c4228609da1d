"""Pretrain an encoder by reconstruction, save it, fine-tune a classifier from the file."""
import pathlib
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F


def encoder():
    return nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 6))


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = encoder()
        self.decoder = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 12))

    def forward(self, x):
        return self.decoder(self.encoder(x))


class Classifier(nn.Module):
    def __init__(self, classes=2):
        super().__init__()
        self.backbone = encoder()
        self.head = nn.Linear(6, classes)

    def forward(self, x):
        return self.head(F.relu(self.backbone(x)))


def load_pretrained(model, path):
    state = torch.load(path)
    state = {k.replace("encoder.", "backbone."): v for k, v in state.items() if k.startswith("encoder.")}
    report = model.load_state_dict(state, strict=False)
    print(f"{path.name}: {len(state)} tensors, left as they are: {report.missing_keys}")
    return model


def make(n):
    g = torch.Generator().manual_seed(24)
    latent = torch.randn(n, 4, generator=g)
    x = torch.tanh(latent @ torch.randn(4, 12, generator=g))
    return x, (latent[:, 0] * latent[:, 1] > 0).long()


def loop(model, x, y, loss_fn, lr, epochs, tag):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(epochs):
        total = 0.0
        batches = torch.randperm(len(x)).split(40)
        for idx in batches:
            opt.zero_grad()
            loss = loss_fn(model(x[idx]), y[idx])
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"{tag} {epoch} loss {total / len(batches):.4f}")


def main(workdir):
    torch.manual_seed(0)
    path = pathlib.Path(workdir) / "autoencoder.pt"
    x, y = make(400)
    auto = Denoiser()
    loop(auto, x, x, F.mse_loss, 5e-3, 4, "pretrain")
    torch.save(auto.state_dict(), path)
    model = load_pretrained(Classifier(), path)
    loop(model, x[:200], y[:200], F.cross_entropy, 3e-3, 6, "finetune")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as workdir:
        main(workdir)
