"""1-Lipschitz critic between two point clouds (the WGAN-GP critic, without the generator).

With the penalty the critic's value approaches the distance between the clouds, here close to 2.
"""

import numpy as np
import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.dataset import NumpySlicesDataset

LAMBDA = 5.0
STEPS_PER_EPOCH = 6


def clouds(n, seed):
    g = np.random.default_rng(seed)
    left = 0.4 * g.normal(size=(n, 2)) - [1.0, 0.0]
    right = 0.4 * g.normal(size=(n, 2)) + [1.0, 0.0]
    mix = g.uniform(size=(n, 1))
    return left.astype(np.float32), right.astype(np.float32), mix.astype(np.float32)


class Critic(nn.Cell):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Dense(2, 32)
        self.l2 = nn.Dense(32, 32)
        # an offset of the score is of no consequence for a difference of scores
        self.l3 = nn.Dense(32, 1, has_bias=False)

    def construct(self, p):
        return self.l3(ops.tanh(self.l2(ops.tanh(self.l1(p)))))


critic = None


def summed_score(p):
    return critic(p).sum()


# with respect to the points, not to the weights
score_slope = ms.grad(summed_score)


def wasserstein(left, right):
    return critic(right).mean() - critic(left).mean()


def objective(left, right, mix):
    between = mix * left + (1 - mix) * right
    slope = score_slope(between)
    length = ops.sqrt((slope * slope).sum(axis=1) + 1e-12)
    penalty = ((length - 1) ** 2).mean()
    return LAMBDA * penalty - wasserstein(left, right)


def main():
    global critic
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_seed(2)
    critic = Critic()
    opt = nn.Adam(critic.trainable_params(), learning_rate=0.01, beta1=0.5, beta2=0.9)
    step = ms.value_and_grad(objective, None, opt.parameters)
    data = NumpySlicesDataset(clouds(32 * STEPS_PER_EPOCH, 0), ["left", "right", "mix"], shuffle=True).batch(32)
    test_left, test_right, _ = (Tensor(a) for a in clouds(64, 1))

    it = data.create_tuple_iterator(num_epochs=3)
    for epoch in range(3):
        critic.set_train(True)
        out = []
        for left, right, mix in it:
            value, grads = step(left, right, mix)
            opt(grads)
            out.append(float(value.asnumpy()))
        critic.set_train(False)
        dist = float(wasserstein(test_left, test_right).asnumpy())
        print(f"epoch {epoch}: objective {np.mean(out):.3f}, distance on fresh points {dist:.2f}")


if __name__ == "__main__":
    main()
