"""Small GAN on a ring of points, MindSpore PyNative, two workers."""
import numpy as np
import mindspore as ms
import mindspore.dataset as ds
from mindspore import Tensor, nn, ops
from mindspore.communication import get_group_size, get_rank, init

ms.set_device("CPU")
ms.set_context(mode=ms.PYNATIVE_MODE)


def ring(n, seed):
    rng = np.random.default_rng(seed)
    a = rng.uniform(0, 2 * np.pi, n)
    return (np.stack([np.cos(a), np.sin(a)], 1) + 0.02 * rng.normal(size=(n, 2))).astype(np.float32)


def mlp(sizes):
    cells = []
    for i, (a, b) in enumerate(zip(sizes[:-1], sizes[1:])):
        cells.append(nn.Dense(a, b))
        if i < len(sizes) - 2:
            cells.append(nn.LeakyReLU(0.2))
    return nn.SequentialCell(cells)


class Player:
    def __init__(self, net, lr):
        self.net = net
        self.params = net.trainable_params()
        self.opt = nn.Adam(self.params, learning_rate=lr, beta1=0.5)
        self.reducer = None

    def distribute(self, degree):
        self.reducer = nn.DistributedGradReducer(self.params, mean=True, degree=degree)

    def apply(self, grads):
        if self.reducer is not None:
            grads = self.reducer(grads)
        self.opt(grads)


def main():
    init()
    rank, world = get_rank(), get_group_size()
    ms.set_seed(2)
    gen = Player(mlp([4, 32, 32, 2]), 1e-3)
    disc = Player(mlp([2, 32, 32, 1]), 2e-3)
    for player in (gen,):
        player.distribute(world)
    bce = nn.BCEWithLogitsLoss()

    def disc_loss(real, z):
        fake = ops.stop_gradient(gen.net(z))
        one, zero = ops.ones((real.shape[0], 1), ms.float32), ops.zeros((real.shape[0], 1), ms.float32)
        return bce(disc.net(real), one) + bce(disc.net(fake), zero)

    def gen_loss(z):
        return bce(disc.net(gen.net(z)), ops.ones((z.shape[0], 1), ms.float32))

    d_grad = ms.value_and_grad(disc_loss, None, disc.params)
    g_grad = ms.value_and_grad(gen_loss, None, gen.params)
    data = ds.NumpySlicesDataset({"point": ring(256, 0)}, shuffle=False, num_shards=world, shard_id=rank)
    data = data.batch(16)
    noise = np.random.default_rng(100 + rank)
    for step, (real,) in enumerate(data.create_tuple_iterator(num_epochs=1)):
        z = Tensor(noise.normal(size=(16, 4)).astype(np.float32))
        dl, dg = d_grad(real, z)
        disc.apply(dg)
        gl, gg = g_grad(z)
        gen.apply(gg)
        if rank == 0:
            print(f"step {step} d {float(dl.asnumpy()):.4f} g {float(gl.asnumpy()):.4f}", flush=True)


if __name__ == "__main__":
    main()
