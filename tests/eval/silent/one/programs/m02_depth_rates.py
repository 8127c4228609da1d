"""Residual classifier with a rate per depth."""
import numpy as np
import mindspore as ms
from mindspore import nn, ops
import mindspore.dataset as ds

ms.set_context(mode=ms.PYNATIVE_MODE)


class ResidualMLP(nn.Cell):
    def __init__(self, dim=16, depth=4, classes=3):
        super().__init__()
        self.blocks = nn.CellList([nn.Dense(dim, dim) for _ in range(depth)])
        self.head = nn.Dense(dim, classes)

    def construct(self, x):
        for block in self.blocks:
            x = x + ops.relu(block(x))
        return self.head(x)


def make_dataset(n=320, dim=16, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, dim)).astype(np.float32)
    y = np.argmax(x[:, :3] + np.abs(x[:, 3:6]), axis=1).astype(np.int32)
    data = ds.NumpySlicesDataset({"x": x, "y": y}, shuffle=True)
    return data.batch(32, drop_remainder=True)


def layerwise_groups(net, base_lr):
    late = [p for p in net.trainable_params() if p.name.startswith(("blocks.2", "blocks.3"))]
    early = [p for p in net.trainable_params() if p.name.startswith(("blocks.0", "blocks.1"))]
    head = net.head.trainable_params()
    return [
        {"params": late, "lr": base_lr},
        {"params": early, "lr": base_lr * 0.3},
        {"params": head, "lr": base_lr},
    ]


def main():
    ms.set_seed(2)
    net = ResidualMLP()
    loss_fn = nn.CrossEntropyLoss()
    optimizer = nn.Adam(layerwise_groups(net, 4e-3), learning_rate=4e-3)

    def forward(x, y):
        return loss_fn(net(x), y)

    grad_fn = ms.value_and_grad(forward, None, optimizer.parameters)
    net.set_train(True)
    data = make_dataset()
    for epoch in range(4):
        losses = []
        for x, y in data.create_tuple_iterator():
            loss, grads = grad_fn(x, y)
            optimizer(grads)
            losses.append(float(loss.asnumpy()))
        print(f"epoch {epoch} loss {np.mean(losses):.4f}")


if __name__ == "__main__":
    main()
