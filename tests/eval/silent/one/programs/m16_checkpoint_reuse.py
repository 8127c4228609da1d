"""Reconstruction first, then classes, through a checkpoint file."""
import os
import tempfile

import numpy as np
import mindspore as ms
from mindspore import nn, ops, Tensor

ms.set_context(mode=ms.PYNATIVE_MODE)


def trunk(n_in=10, width=32):
    return nn.SequentialCell(nn.Dense(n_in, width), nn.ReLU(), nn.Dense(width, 12), nn.Tanh())


class Reconstruct(nn.Cell):
    def __init__(self):
        super().__init__()
        self.encoder = trunk()
        self.restore = nn.Dense(12, 10)

    def construct(self, x):
        return self.restore(self.encoder(x))


class Downstream(nn.Cell):
    def __init__(self, classes=3):
        super().__init__()
        self.backbone = trunk()
        self.head = nn.Dense(12, classes)

    def construct(self, x):
        return self.head(self.backbone(x))


def fit(net, loss_fn, x, y, lr, epochs, rng, tag):
    opt = nn.Adam(net.trainable_params(), learning_rate=lr)
    grad_fn = ms.value_and_grad(lambda a, b: loss_fn(net(a), b), None, opt.parameters)
    net.set_train(True)
    for epoch in range(epochs):
        losses = []
        for idx in np.array_split(rng.permutation(len(x)), 8):
            loss, grads = grad_fn(Tensor(x[idx]), Tensor(y[idx]))
            opt(grads)
            losses.append(float(loss.asnumpy()))
        print(f"{tag} {epoch} loss {np.mean(losses):.4f}")


def restore_encoder(net, path):
    params = ms.load_checkpoint(path)
    params = {name.replace("encoder.", "backbone."): p for name, p in params.items()}
    left, _ = ms.load_param_into_net(net, params)
    print("new in this network:", left)


def main(folder):
    ms.set_seed(11)
    rng = np.random.default_rng(6)
    latent = rng.normal(size=(320, 4))
    x = np.tanh(latent @ rng.normal(size=(4, 10))).astype(np.float32)
    y = np.argmax(latent[:, :3], axis=1).astype(np.int32)
    path = os.path.join(folder, "pretext.ckpt")
    first = Reconstruct()
    fit(first, nn.MSELoss(), x, x, 5e-3, 3, rng, "pretext")
    ms.save_checkpoint(first, path)
    second = Downstream()
    restore_encoder(second, path)
    fit(second, nn.CrossEntropyLoss(), x[:160], y[:160], 3e-3, 4, rng, "downstream")


with tempfile.TemporaryDirectory() as folder:
    main(folder)
