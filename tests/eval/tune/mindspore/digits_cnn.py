"""A small convolutional network on digits by momentum, each step one compiled function, with a cosine schedule."""

import sys
from pathlib import Path

import mindspore as ms
from mindspore import nn

sys.path.insert(0, str(Path(__file__).parent.parent))
import problem

INPUTS, LABELS = problem.digits()
INPUTS = INPUTS.reshape(-1, 1, 8, 8)


def train(rate: float, steps: int, scheduled: bool, seed: int) -> list[float]:
    ms.set_seed(seed)
    model = nn.SequentialCell(
        nn.Conv2d(1, 8, 3, pad_mode="pad", padding=1, has_bias=True),
        nn.ReLU(),
        nn.MaxPool2d(2, 2),
        nn.Flatten(),
        nn.Dense(8 * 16, 10),
    )
    schedule = nn.CosineDecayLR(0.0, rate, 2 * steps) if scheduled else rate
    optimizer = nn.Momentum(model.trainable_params(), schedule, 0.9)
    loss_of = nn.CrossEntropyLoss()

    def forward(inputs, labels):
        return loss_of(model(inputs), labels)

    differentiate = ms.value_and_grad(forward, None, optimizer.parameters)

    @ms.jit
    def step(inputs, labels):
        loss, gradients = differentiate(inputs, labels)
        optimizer(gradients)
        return loss

    model.set_train()
    losses = []
    for rows in problem.batches(len(INPUTS), 64, steps, seed):
        losses.append(float(step(ms.Tensor(INPUTS[rows]), ms.Tensor(LABELS[rows])).asnumpy()))
    return losses


if __name__ == "__main__":
    problem.main(0.02, train)
