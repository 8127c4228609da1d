"""Least squares by plain gradient descent on all rows, op by op."""

import sys
from pathlib import Path

import mindspore as ms
from mindspore import nn

sys.path.insert(0, str(Path(__file__).parent.parent))
import problem

INPUTS, TARGETS = (ms.Tensor(one) for one in problem.least_squares())


def train(rate: float, steps: int, _scheduled: bool, _seed: int) -> list[float]:
    model = nn.Dense(INPUTS.shape[1], 1, weight_init="zeros", has_bias=False)
    optimizer = nn.SGD(model.trainable_params(), learning_rate=rate)

    def loss_of(inputs, targets):
        return ((model(inputs) - targets) ** 2).mean() / 2

    step = ms.value_and_grad(loss_of, None, optimizer.parameters)
    model.set_train()
    losses = []
    for _ in range(steps):
        loss, gradients = step(INPUTS, TARGETS)
        optimizer(gradients)
        losses.append(float(loss.asnumpy()))
    return losses


if __name__ == "__main__":
    problem.main(0.05, train)
