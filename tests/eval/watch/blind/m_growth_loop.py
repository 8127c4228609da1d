"""Population model: a learned growth factor applied once per simulated day."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


class GrowthCell(nn.Cell):
    def __init__(self):
        super().__init__()
        self.rate = nn.Dense(3, 4)

    def construct(self, weather, population):
        factor = 3.0 + ops.sigmoid(self.rate(weather))
        return population * factor


class Simulator(nn.Cell):
    def __init__(self):
        super().__init__()
        self.cell = GrowthCell()
        self.read = nn.Dense(4, 1)

    def construct(self, weather):
        population = ops.ones((weather.shape[1], 4), ms.float32)
        for day in range(weather.shape[0]):
            population = self.cell(weather[day], population)
        return self.read(ops.log(population))


def seasons():
    rng = np.random.default_rng(13)
    for days in (6, 10, 8, 12, 7, 80, 9, 8):
        weather = rng.normal(size=(days, 3, 3)).astype(np.float32)
        yield Tensor(weather), Tensor(np.full((3, 1), 0.5 * days, np.float32))


def main():
    ms.set_seed(0)
    net = Simulator()
    mae = nn.L1Loss()
    opt = nn.SGD(net.trainable_params(), 1e-3)
    grad_fn = ms.value_and_grad(lambda w, y: mae(net(w), y), None, opt.parameters)
    for step, (weather, target) in enumerate(seasons()):
        loss, grads = grad_fn(weather, target)
        opt(grads)
        print(step, weather.shape[0], loss)


if __name__ == "__main__":
    main()
