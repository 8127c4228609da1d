"""Denoising autoencoder on drawn bars. Settings live in config.json."""

import json
import pathlib

import numpy as np
import mindspore as ms
from mindspore import dataset, nn, ops

HERE = pathlib.Path(__file__).parent


class Bars:
    """One or two bars on a dark square, values 0..1. There are no labels."""

    def __init__(self, count, size, seed):
        rng = np.random.default_rng(seed)
        self.imgs = np.zeros((count, size, size), np.float32)
        for img in self.imgs:
            for _ in range(rng.integers(1, 3)):
                k = rng.integers(0, size - 1)
                if rng.random() < 0.5:
                    img[k : k + 2, :] = 1.0
                else:
                    img[:, k : k + 2] = 1.0

    def __len__(self):
        return len(self.imgs)

    def __getitem__(self, i):
        return (self.imgs[i].reshape(-1),)


class Autoencoder(nn.Cell):
    def __init__(self, pixels, width, code):
        super().__init__()
        self.enc = nn.SequentialCell(nn.Dense(pixels, width), nn.ReLU(), nn.Dense(width, code))
        self.dec = nn.SequentialCell(nn.Dense(code, width), nn.ReLU(), nn.Dense(width, pixels))

    def construct(self, x):
        return self.dec(self.enc(x))  # logits, see Trainer.loss


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        d, m = cfg["data"], cfg["model"]
        self.rng = np.random.default_rng(cfg["seed"])
        self.train_data = self._pipe(d["train"], 1, training=True)
        self.valid_data = self._pipe(d["valid"], 2, training=False)
        self.net = Autoencoder(d["size"] ** 2, m["width"], m["code"])
        self.opt = nn.Adam(self.net.trainable_params(), learning_rate=cfg["optim"]["lr"])
        self.grad = ms.value_and_grad(self.loss, None, self.opt.parameters)

    def _corrupt(self, x):
        drop = self.rng.random(x.shape) < self.cfg["noise"]
        return np.where(drop, 0, x).astype(np.float32), x

    def _pipe(self, count, seed, training):
        d = self.cfg["data"]
        pipe = dataset.GeneratorDataset(Bars(count, d["size"], seed), ["clean"], shuffle=training)
        if training:
            # fresh noise each time a picture is drawn
            pipe = pipe.map(self._corrupt, ["clean"], ["noisy", "clean"], num_parallel_workers=1)
        else:
            pipe = pipe.map(lambda x: (x, x), ["clean"], ["noisy", "clean"], num_parallel_workers=1)
        return pipe.project(["noisy", "clean"]).batch(d["batch"], drop_remainder=training)

    def loss(self, noisy, clean):
        return ops.binary_cross_entropy_with_logits(self.net(noisy), clean, ops.ones_like(clean), ops.ones_like(clean))

    def validate(self, it):
        self.net.set_train(False)
        err = [((ops.sigmoid(self.net(a)) - b) ** 2).mean(axis=1).asnumpy() for a, b in it]
        return float(np.concatenate(err).mean())

    def fit(self):
        epochs = self.cfg["optim"]["epochs"]
        train_it = self.train_data.create_tuple_iterator(num_epochs=epochs)
        valid_it = self.valid_data.create_tuple_iterator(num_epochs=epochs)
        for e in range(epochs):
            self.net.set_train()
            tot = 0.0
            for noisy, clean in train_it:
                value, grads = self.grad(noisy, clean)
                self.opt(grads)
                tot += float(value.asnumpy())
            mean = tot / self.train_data.get_dataset_size()
            print(f"epoch {e + 1}: bce {mean:.4f}, clean reconstruction error {self.validate(valid_it):.4f}")


if __name__ == "__main__":
    config = json.loads((HERE / "config.json").read_text())
    ms.set_seed(config["seed"])
    Trainer(config).fit()
