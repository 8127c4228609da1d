from pathlib import Path

import torch
import torch.nn.functional as F
import yaml
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

NAMES = ["clear", "cloudy", "rain", "storm"]


class Classifier(nn.Module):
    def __init__(self, d_in, hidden, n_out, dropout):
        super().__init__()
        dims = [d_in, *hidden]
        self.layers = nn.ModuleList([nn.Linear(a, b) for a, b in zip(dims[:-1], dims[1:])])
        self.dropout = dropout
        self.out = nn.Linear(dims[-1], n_out)

    def forward(self, x):
        for layer in self.layers:
            x = F.relu(layer(x))
            x = F.dropout(x, p=self.dropout, training=self.training)
        return F.log_softmax(self.out(x), dim=-1)


def sample_station(n, priors, protos, gen):
    label = torch.multinomial(torch.tensor(priors), n, replacement=True, generator=gen)
    # pressure, humidity, wind, temperature drop, cloud base: in the units the station sends
    raw = protos[label] + torch.randn(n, protos.shape[1], generator=gen) * torch.tensor([6.0, 12.0, 4.0, 2.2, 0.8])
    return raw, label


def main():
    cfg = yaml.safe_load((Path(__file__).parent / "config.yaml").read_text())
    torch.manual_seed(cfg["seed"])
    gen = torch.Generator().manual_seed(cfg["seed"])
    protos = torch.tensor(
        [
            [1022.0, 45.0, 6.0, 0.0, 4.0],
            [1015.0, 60.0, 8.0, 1.0, 2.6],
            [1008.0, 80.0, 11.0, 3.0, 1.5],
            [998.0, 88.0, 19.0, 7.0, 0.9],
        ]
    )
    d = cfg["data"]
    raw_train, y_train = sample_station(d["n_train"], d["priors"], protos, gen)
    raw_val, y_val = sample_station(d["n_val"], d["priors"], protos, gen)
    center, spread = raw_train.mean(0), raw_train.std(0)
    train_set = TensorDataset((raw_train - center) / spread, y_train)
    val_set = TensorDataset((raw_val - center) / spread, y_val)

    counts = torch.bincount(y_train, minlength=len(NAMES)).float()
    class_weight = counts.sum() / (len(NAMES) * counts)
    print("counts", dict(zip(NAMES, counts.int().tolist())))

    model = Classifier(raw_train.shape[1], cfg["model"]["hidden"], len(NAMES), cfg["model"]["dropout"])
    loss_fn = nn.NLLLoss(weight=class_weight)
    o = cfg["optim"]
    optimizer = torch.optim.SGD(
        model.parameters(), lr=o["lr"], momentum=o["momentum"], weight_decay=o["weight_decay"], nesterov=True
    )
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=o["milestones"], gamma=o["gamma"])
    train_loader = DataLoader(train_set, batch_size=cfg["train"]["batch_size"], shuffle=True)
    val_loader = DataLoader(val_set, batch_size=len(val_set))

    for epoch in range(cfg["train"]["epochs"]):
        model.train()
        epoch_loss, weight_sum = 0.0, 0.0
        for x, y in train_loader:
            loss = loss_fn(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            w = class_weight[y].sum().item()
            epoch_loss += loss.item() * w
            weight_sum += w
        scheduler.step()

        model.eval()
        with torch.no_grad():
            x, y = next(iter(val_loader))  # one batch holds all of it
            log_probs = model(x)
            val_loss = loss_fn(log_probs, y).item()
            guess = log_probs.argmax(dim=-1)
            recall = torch.stack([(guess[y == k] == k).float().mean() for k in range(len(NAMES))])
        print(
            f"epoch {epoch}: loss {epoch_loss / weight_sum:.4f}, val {val_loss:.4f}, "
            f"balanced accuracy {recall.mean():.3f}, lr {optimizer.param_groups[0]['lr']:.4f}"
        )


if __name__ == "__main__":
    main()
