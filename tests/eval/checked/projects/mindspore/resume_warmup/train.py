"""Two-stage run: first half, checkpoint, then everything is rebuilt and continued from the file."""

import pathlib
import tempfile
from dataclasses import dataclass

import numpy as np
import mindspore as ms
from mindspore import Tensor, nn
from mindspore.dataset import NumpySlicesDataset

from schedule import WarmupCosine


@dataclass
class Options:
    samples: int = 160
    batch: int = 32
    epochs: int = 4
    peak_lr: float = 0.03
    warmup_steps: int = 3


def xor_like(n, seed):
    r = np.random.default_rng(seed)
    x = r.uniform(-1, 1, (n, 2)) * 1.6
    x += 0.25 * np.sign(x)  # a gap between the quadrants
    return x.astype(np.float32), (x[:, 0] * x[:, 1] > 0).astype(np.int32)


class Session:
    def __init__(self, o: Options):
        self.o = o
        self.net = nn.SequentialCell(nn.Dense(2, 32), nn.Tanh(), nn.Dense(32, 2))
        total = o.epochs * (o.samples // o.batch)
        self.opt = nn.Adam(self.net.trainable_params(), WarmupCosine(o.peak_lr, o.warmup_steps, total))
        self.loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        self.grads = ms.value_and_grad(lambda x, y: self.loss(self.net(x), y), None, self.opt.parameters)
        self.epoch = 0

    def save(self, path):
        # the optimizer holds the weights too, together with moments and global_step
        ms.save_checkpoint(self.opt, str(path), append_dict={"epoch": self.epoch})

    def resume(self, path):
        state = ms.load_checkpoint(str(path))
        self.epoch = int(state.pop("epoch").asnumpy())
        missing, unexpected = ms.load_param_into_net(self.opt, state, strict_load=True)
        assert not missing and not unexpected

    def run(self, until, train, valid):
        batches = train.create_tuple_iterator(num_epochs=until - self.epoch)
        while self.epoch < until:
            self.net.set_train(True)
            out = []
            for x, y in batches:
                value, g = self.grads(x, y)
                self.opt(g)
                out.append(float(value.asnumpy()))
            self.epoch += 1
            print(f"epoch {self.epoch}: loss {np.mean(out):.4f}, valid acc {self.score(*valid):.3f}")

    def score(self, x, y):
        self.net.set_train(False)
        return float((self.net(Tensor(x)).asnumpy().argmax(-1) == y).mean())


def train_pipe(o, seed):
    # another seed after the restart, or the second half would repeat the order of the first
    ms.dataset.config.set_seed(seed)
    return NumpySlicesDataset(xor_like(o.samples, 0), ["x", "y"], shuffle=True).batch(o.batch, drop_remainder=True)


if __name__ == "__main__":
    ms.set_seed(5)
    o, valid = Options(), xor_like(80, 1)
    with tempfile.TemporaryDirectory() as tmp:
        ckpt = pathlib.Path(tmp) / "half.ckpt"
        first = Session(o)
        first.run(o.epochs // 2, train_pipe(o, 100), valid)
        first.save(ckpt)

        second = Session(o)
        second.resume(ckpt)
        step = int(second.opt.global_step.asnumpy()[0])
        print("resumed at epoch", second.epoch, "step", step)
        second.run(o.epochs, train_pipe(o, 101), valid)
