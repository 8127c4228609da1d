"""Logistic regression on digits by gradient descent under Model.train in graph mode, with a list of rates."""

import sys
from pathlib import Path

import mindspore as ms
from mindspore import dataset, nn
from mindspore.train import Callback, Model

sys.path.insert(0, str(Path(__file__).parent.parent))
import problem

ms.set_context(mode=ms.GRAPH_MODE)
INPUTS, LABELS = problem.digits()


class Losses(Callback):
    """Keeps the loss of every step."""

    def __init__(self):
        self.seen: list[float] = []

    def on_train_step_end(self, run_context):
        self.seen.append(float(run_context.original_args().net_outputs.asnumpy()))


def train(rate: float, steps: int, scheduled: bool, seed: int) -> list[float]:
    ms.set_seed(seed)
    model = nn.Dense(64, 10)
    rates = [rate / 2 ** (step // 60 if scheduled else 0) for step in range(steps)]
    optimizer = nn.SGD(model.trainable_params(), learning_rate=rates)
    loss = nn.CrossEntropyLoss()
    rows = dataset.NumpySlicesDataset((INPUTS, LABELS), shuffle=True).batch(64, drop_remainder=True)
    trainer = Model(model, loss, optimizer)
    rows = rows.repeat(1 + steps // rows.get_dataset_size()).take(steps)
    losses = Losses()
    trainer.train(1, rows, callbacks=losses, dataset_sink_mode=False)
    return losses.seen


if __name__ == "__main__":
    problem.main(0.1, train)
