"""Convolutional autoencoder for textile images (MindSpore)."""
import numpy as np
import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.common.initializer import Normal, XavierUniform


def textiles(n, seed):
    rng = np.random.RandomState(seed)
    yy, xx = np.mgrid[0:16, 0:16]
    f = rng.uniform(0.3, 1.2, (n, 2, 1, 1))
    p = rng.uniform(0, 6.28, (n, 1, 1))
    img = 0.5 + 0.4 * np.sin(f[:, 0] * yy + f[:, 1] * xx + p)
    return (img[:, None] + 0.03 * rng.standard_normal((n, 1, 16, 16))).astype(np.float32)


class ConvAE(nn.Cell):
    def __init__(self):
        super().__init__()
        init = XavierUniform()
        self.e1 = nn.Conv2d(1, 8, 3, weight_init=init)
        self.n1 = nn.BatchNorm2d(8)
        self.pool = nn.MaxPool2d(2, stride=2)
        self.e2 = nn.Conv2d(8, 4, 3, weight_init=init)
        self.act = nn.LeakyReLU()
        self.d1 = nn.Conv2dTranspose(4, 8, 2, stride=2, pad_mode="valid", weight_init=Normal(0.05))
        self.n2 = nn.BatchNorm2d(8, momentum=0.95)
        self.d2 = nn.Conv2d(8, 1, 3, has_bias=True, weight_init=init, bias_init="zeros")

    def construct(self, x):
        h = self.pool(self.act(self.n1(self.e1(x))))
        h = self.act(self.e2(h))
        h = self.act(self.n2(self.d1(h)))
        return ops.sigmoid(self.d2(h))


def main():
    ms.set_seed(3)
    train, test = textiles(160, 0), textiles(40, 1)
    net = ConvAE()
    opt = nn.Adam(net.trainable_params(), learning_rate=0.005, beta1=0.9, beta2=0.99)
    mse, l1 = nn.MSELoss(), nn.L1Loss()

    def forward(x):
        out = net(x)
        return mse(out, x) + 0.1 * l1(out, x)

    grad_fn = ms.value_and_grad(forward, None, opt.parameters)
    rng = np.random.RandomState(14)
    for epoch in range(4):
        net.set_train()
        losses = []
        for j in np.array_split(rng.permutation(len(train)), 10):
            loss, grads = grad_fn(Tensor(train[j]))
            opt(grads)
            losses.append(float(loss))
        net.set_train(False)
        err = float(mse(net(Tensor(test)), Tensor(test)))
        print(f"epoch {epoch} loss {np.mean(losses):.5f} test mse {err:.5f}")


if __name__ == "__main__":
    main()
