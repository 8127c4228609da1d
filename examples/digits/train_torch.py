"""Trains the digits network with PyTorch: ``python train_torch.py``."""

import numpy as np
import torch
from digits_data import epoch_order, load
from model_torch import DigitsNet
from options import parser
from torch import nn
from torch.utils.data import DataLoader, Sampler, TensorDataset


class NumpyOrder(Sampler):
    """Hands out the samples in NumPy's order, another one in every epoch."""

    def __init__(self, count, seed, shuffle):
        self.count, self.seed, self.shuffle = count, seed, shuffle
        self.epoch = 0

    def __iter__(self):
        order = epoch_order(self.count, self.seed, self.epoch, self.shuffle)
        self.epoch += 1
        return iter(order.tolist())

    def __len__(self):
        return self.count


def load_weights(model, path):
    """Fill the network from an .npz of arrays by name."""
    with np.load(path) as arrays:
        weights = {name: torch.from_numpy(arrays[name]) for name in arrays.files}
    missing, unexpected = model.load_state_dict(weights, strict=False)
    missing = [name for name in missing if not name.endswith("num_batches_tracked")]
    if missing or unexpected:
        raise SystemExit(f"{path}: missing {missing}, unexpected {unexpected}")


def save_weights(model, path):
    """Write the network's arrays by name."""
    weights = model.state_dict()
    np.savez(path, **{name: value.numpy() for name, value in weights.items() if value.ndim})


def evaluate(model, loader):
    """The share of test images that are recognised."""
    model.eval()
    right = 0
    with torch.no_grad():
        for images, labels in loader:
            right += int((model(images).argmax(1) == labels).sum())
    return right / len(loader.dataset)


def main():
    options = parser(__doc__).parse_args()
    torch.manual_seed(options.seed)
    train_set, test_set = load()
    train_data = TensorDataset(torch.from_numpy(train_set[0]), torch.from_numpy(train_set[1]).long())
    test_data = TensorDataset(torch.from_numpy(test_set[0]), torch.from_numpy(test_set[1]).long())
    order = NumpyOrder(len(train_data), options.seed, not options.no_shuffle)
    train_loader = DataLoader(train_data, batch_size=options.batch_size, sampler=order, drop_last=True)
    test_loader = DataLoader(test_data, batch_size=256)

    model = DigitsNet()
    if options.weights:
        load_weights(model, options.weights)
    loss_fn = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=options.lr, momentum=0.9)

    step = 0
    for epoch in range(options.epochs):
        if step == options.steps:
            break
        model.train()
        for images, labels in train_loader:
            loss = loss_fn(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 15 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.6f}")
            step += 1
            if step == options.steps:
                break
        print(f"epoch {epoch} accuracy {evaluate(model, test_loader):.4f}")
    if options.save_weights:
        save_weights(model, options.save_weights)


if __name__ == "__main__":
    main()
