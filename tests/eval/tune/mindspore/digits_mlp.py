"""A small network on digits by Adam, its last layer at a tenth of the rate; prints the accuracy of every batch."""

import sys
from pathlib import Path

import mindspore as ms
from mindspore import nn

sys.path.insert(0, str(Path(__file__).parent.parent))
import problem

INPUTS, LABELS = problem.digits()


def train(rate: float, steps: int, _scheduled: bool, seed: int) -> list[float]:
    ms.set_seed(seed)
    model = nn.SequentialCell(nn.Dense(64, 64), nn.ReLU(), nn.Dense(64, 64), nn.ReLU(), nn.Dense(64, 10))
    body, last = model[:4].trainable_params(), model[4].trainable_params()
    optimizer = nn.Adam([{"params": body}, {"params": last, "lr": rate / 10}], learning_rate=rate)
    loss_of = nn.CrossEntropyLoss()

    def forward(inputs, labels):
        logits = model(inputs)
        return loss_of(logits, labels), logits

    step = ms.value_and_grad(forward, None, optimizer.parameters, has_aux=True)
    model.set_train()
    losses = []
    for number, rows in enumerate(problem.batches(len(INPUTS), 64, steps, seed)):
        (loss, logits), gradients = step(ms.Tensor(INPUTS[rows]), ms.Tensor(LABELS[rows]))
        optimizer(gradients)
        accuracy = (logits.asnumpy().argmax(1) == LABELS[rows]).mean()
        losses.append(float(loss.asnumpy()))
        print(f"step {number} loss {losses[-1]:.4f} acc {accuracy:.4f}", file=sys.stderr)
    return losses


if __name__ == "__main__":
    problem.main(0.003, train)
