"""House-price style regression with a Huber-like loss written by hand."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Prices(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.features = torch.randn(n, 6, generator=g)
        coef = torch.tensor([1.5, -2.0, 0.7, 0.0, 0.4, 1.0])
        self.price = self.features @ coef + 0.1 * torch.randn(n, generator=g)

    def __len__(self):
        return len(self.price)

    def __getitem__(self, i):
        return {"features": self.features[i], "price": self.price[i]}


class PriceModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, features):
        return self.net(features)


def pseudo_huber(prediction, target, delta=1.0):
    scaled = (prediction - target) / delta
    return (delta ** 2 * (torch.sqrt(1 + scaled ** 2) - 1)).mean()


class Fitter:
    def __init__(self, model, lr):
        self.model = model
        self.optim = torch.optim.RMSprop(model.parameters(), lr=lr)

    def training_step(self, batch):
        prediction = self.model(batch["features"])
        return pseudo_huber(prediction, batch["price"])

    def validation_step(self, batch):
        prediction = self.model(batch["features"])[:, 0]
        return (prediction - batch["price"]).abs().mean()

    def fit(self, train, val, epochs):
        for epoch in range(epochs):
            self.model.train()
            train_loss = 0.0
            for batch in train:
                loss = self.training_step(batch)
                self.optim.zero_grad()
                loss.backward()
                self.optim.step()
                train_loss += loss.item()
            self.model.eval()
            with torch.no_grad():
                mae = sum(self.validation_step(b).item() for b in val) / len(val)
            print(f"epoch {epoch} loss {train_loss / len(train):.4f} val mae {mae:.4f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    train = DataLoader(Prices(256, 0), batch_size=32, shuffle=True)
    val = DataLoader(Prices(64, 1), batch_size=32)
    Fitter(PriceModel(), 1e-2).fit(train, val, epochs=5)
