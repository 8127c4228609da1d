"""Fit y = sin(3x) + x/2 from noisy points; validate the averaged weights, keep the best."""

import os
import tempfile

import numpy as np
import mindspore as ms
from mindspore import Tensor, nn
from mindspore.dataset import NumpySlicesDataset

from ema import EarlyStop, WeightEMA

MAX_EPOCHS = 12


def curve(n, seed):
    g = np.random.default_rng(seed)
    x = g.uniform(-1.5, 1.5, (n, 1))
    y = np.sin(3 * x) + 0.5 * x + 0.25 * g.normal(size=x.shape)
    return x.astype(np.float32), y.astype(np.float32)


def features(x):
    # a few fixed bumps make the fit quick
    return np.concatenate([np.exp(-4 * (x - c) ** 2) for c in np.linspace(-1.5, 1.5, 9)], 1).astype(np.float32)


def main():
    ms.set_seed(17)
    x, y = curve(128, 1)
    vx, vy = curve(64, 2)
    train = NumpySlicesDataset((features(x), y), ["x", "y"], shuffle=True).batch(32)

    net = nn.Dense(9, 1)
    loss_fn = nn.MSELoss()
    opt = nn.Momentum(net.trainable_params(), learning_rate=0.4, momentum=0.3)
    ema = WeightEMA(net)
    stopper = EarlyStop(patience=2, min_delta=1e-3)

    def forward(a, b):
        return loss_fn(net(a), b)

    grad_fn = ms.value_and_grad(forward, None, opt.parameters)
    fv, tv = Tensor(features(vx)), Tensor(vy)
    with tempfile.TemporaryDirectory() as folder:
        best_file = os.path.join(folder, "best.ckpt")
        it = train.create_tuple_iterator(num_epochs=MAX_EPOCHS)
        for epoch in range(MAX_EPOCHS):
            net.set_train(True)
            losses = []
            for a, b in it:
                loss, grads = grad_fn(a, b)
                opt(grads)
                ema.update()
                losses.append(float(loss.asnumpy()))

            net.set_train(False)
            with ema:
                val = float(loss_fn(net(fv), tv).asnumpy())
                if stopper.improved(val):
                    ms.save_checkpoint(net, best_file)
            print(f"{epoch:2d}  train {np.mean(losses):.4f}  val(ema) {val:.4f}")
            if stopper.done:
                print("no progress, stop")
                break

        ms.load_checkpoint(best_file, net)
        net.set_train(False)
        final = float(loss_fn(net(fv), tv).asnumpy())
        print(f"best weights restored: {final:.4f}")
        assert abs(final - stopper.best) < 1e-5


if __name__ == "__main__":
    main()
