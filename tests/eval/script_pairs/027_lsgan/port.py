"""Least squares GAN on a ring of gaussians. MindSpore port in class form."""
import numpy as np
import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.common.initializer import XavierUniform


class RingData:
    def __init__(self, seed, batch_size, nz):
        self.rng = np.random.RandomState(seed)
        self.batch_size, self.nz = batch_size, nz

    def real(self):
        k = self.rng.randint(0, 8, self.batch_size)
        angle = k * np.pi / 4
        centre = 2 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return Tensor((centre + 0.05 * self.rng.standard_normal((self.batch_size, 2))).astype(np.float32))

    def noise(self, n=None):
        return Tensor(self.rng.standard_normal((n or self.batch_size, self.nz)).astype(np.float32))


def dense(cin, cout):
    return nn.Dense(cin, cout, weight_init=XavierUniform(gain=1), bias_init="zeros")


class Generator(nn.Cell):
    def __init__(self, nz, hidden):
        super().__init__()
        self.fc1, self.bn1 = dense(nz, hidden), nn.BatchNorm1d(hidden, momentum=0.9)
        self.fc2, self.bn2 = dense(hidden, hidden), nn.BatchNorm1d(hidden, momentum=0.9)
        self.fc3 = dense(hidden, 2)

    def construct(self, z):
        h = ops.relu(self.bn1(self.fc1(z)))
        h = ops.relu(self.bn2(self.fc2(h)))
        return self.fc3(h)


class Discriminator(nn.Cell):
    def __init__(self, hidden):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = dense(2, hidden), dense(hidden, hidden), dense(hidden, 1)
        self.act = nn.LeakyReLU(alpha=0.2)

    def construct(self, x):
        return self.fc3(self.act(self.fc2(self.act(self.fc1(x))))).squeeze(1)


class LSGAN:
    def __init__(self, nz=8, hidden=48, lr=0.001):
        self.gen, self.dis = Generator(nz, hidden), Discriminator(hidden)
        adam = dict(learning_rate=lr, beta1=0.5, beta2=0.9, eps=1e-8)
        self.opt_d = nn.Adam(self.dis.trainable_params(), **adam)
        self.opt_g = nn.Adam(self.gen.trainable_params(), **adam)
        self.grad_d = ms.value_and_grad(self.loss_d, None, self.opt_d.parameters)
        self.grad_g = ms.value_and_grad(self.loss_g, None, self.opt_g.parameters)

    def loss_d(self, real, fake):
        # (D(x) - 1)^2 and D(G(z))^2, means over the batch
        return (ops.square(self.dis(real) - 1).mean() + ops.square(self.dis(fake)).mean()) / 2

    def loss_g(self, z):
        return ops.square(self.dis(self.gen(z)) - 1).mean() / 2

    def train(self, data, steps, critic_steps=2):
        self.gen.set_train(True)
        self.dis.set_train(True)
        for step in range(steps):
            for _ in range(critic_steps):
                real, z = data.real(), data.noise()
                value_d, grads = self.grad_d(real, ops.stop_gradient(self.gen(z)))
                self.opt_d(grads)
            value_g, grads = self.grad_g(data.noise())
            self.opt_g(grads)
            if (step + 1) % 10 == 0:
                print(f"step {step + 1} D {float(value_d):.4f} G {float(value_g):.4f}")

    def sample(self, z):
        self.gen.set_train(False)
        return self.gen(z).asnumpy()


if __name__ == "__main__":
    ms.set_seed(42)
    data = RingData(100, 32, 8)
    gan = LSGAN()
    gan.train(data, 30)
    points = gan.sample(data.noise(256))
    print("mean radius %.4f" % np.sqrt((points ** 2).sum(1)).mean())
