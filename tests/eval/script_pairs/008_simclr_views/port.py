"""SimCLR-style contrastive pretraining + linear probe. MindSpore."""
import numpy as np
import mindspore as ms
from mindspore import Tensor, nn, ops


def images(n, seed):
    rng = np.random.RandomState(seed)
    proto = np.random.RandomState(50).randn(5, 3, 16, 16)
    y = rng.randint(0, 5, n)
    return (proto[y] + 0.7 * rng.randn(n, 3, 16, 16)).astype(np.float32), y


def augment(x, rng):
    out = x.copy()
    flip = rng.uniform(size=len(x)) < 0.5
    out[flip] = out[flip][:, :, :, ::-1]
    out = out * rng.uniform(0.8, 1.2, (len(x), 3, 1, 1)) + 0.1 * rng.standard_normal(x.shape)
    return out.astype(np.float32)


class Encoder(nn.Cell):
    def __init__(self, feat=32, proj=16):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, stride=2, has_bias=True)
        self.conv2 = nn.Conv2d(16, feat, 3, stride=2, has_bias=True)
        self.proj1 = nn.Dense(feat, feat)
        self.proj2 = nn.Dense(feat, proj)

    def features(self, x):
        h = ops.relu(self.conv1(x))
        h = ops.relu(self.conv2(h))
        return h.mean(axis=(2, 3))

    def construct(self, x):
        return self.proj2(ops.relu(self.proj1(self.features(x))))


l2_normalize = ops.L2Normalize(axis=0, epsilon=1e-12)


def nt_xent(z1, z2, temperature=0.2):
    n = z1.shape[0]
    z = l2_normalize(ops.cat((z1, z2), axis=0))
    sim = ops.matmul(z, z.T) / temperature
    sim = ops.masked_fill(sim, Tensor(np.eye(2 * n, dtype=bool)), -1e9)
    target = Tensor(np.concatenate([np.arange(n, 2 * n), np.arange(n)]), ms.int32)
    return ops.cross_entropy(sim, target)


def linear_probe(net, x, y, xt, yt):
    f, ft = net.features(Tensor(x)).asnumpy(), net.features(Tensor(xt)).asnumpy()
    f1, ft1 = np.c_[f, np.ones(len(f))], np.c_[ft, np.ones(len(ft))]
    w = np.linalg.lstsq(f1.T @ f1 + 1e-2 * np.eye(f1.shape[1]), f1.T @ np.eye(5)[y], rcond=None)[0]
    return float(((ft1 @ w).argmax(1) == yt).mean())


def run(epochs=4, batch=32):
    x, y = images(192, 0)
    xt, yt = images(64, 1)
    ms.set_seed(0)
    net = Encoder()
    steps = len(x) // batch
    lr = nn.cosine_decay_lr(0.0, 0.05, epochs * steps, steps, epochs)
    opt = nn.Momentum(net.trainable_params(), lr, momentum=0.9, weight_decay=1e-4)
    grad_fn = ms.value_and_grad(lambda a, b: nt_xent(net(a), net(b)), None, opt.parameters)
    rng = np.random.RandomState(8)
    for epoch in range(epochs):
        perm = rng.permutation(len(x))
        total = []
        for b in range(steps):
            xb = x[perm[b * batch:(b + 1) * batch]]
            v1, v2 = augment(xb, rng), augment(xb, rng)
            loss, grads = grad_fn(Tensor(v1), Tensor(v2))
            opt(grads)
            total.append(float(loss))
        print(f"epoch {epoch} contrastive {np.mean(total):.4f} probe {linear_probe(net, x, y, xt, yt):.3f}")


if __name__ == "__main__":
    run()
