"""Logistic regression with a penalty on digits under Model.train in graph mode, with a list of rates."""

import sys
from pathlib import Path

import mindspore as ms
from mindspore import dataset, nn
from mindspore.train import Callback, Model

sys.path.insert(0, str(Path(__file__).parent.parent))
import problem

ms.set_context(mode=ms.GRAPH_MODE)
INPUTS, LABELS = problem.digits()


class Penalised(nn.Cell):
    """The network with its loss."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(64, 10)
        self.loss = nn.CrossEntropyLoss()

    def construct(self, inputs, labels):
        return self.loss(self.dense(inputs), labels) + problem.PENALTY / 2 * (self.dense.weight**2).sum()


class Losses(Callback):
    """Keeps the loss of every step."""

    def __init__(self):
        self.seen: list[float] = []

    def on_train_step_end(self, run_context):
        self.seen.append(float(run_context.original_args().net_outputs.asnumpy()))


def train(rate: float, steps: int, scheduled: bool, seed: int) -> list[float]:
    ms.set_seed(seed)
    model = Penalised()
    rates = [rate / 2 ** (step // 60 if scheduled else 0) for step in range(steps)]
    optimizer = nn.SGD(model.trainable_params(), learning_rate=rates)
    rows = dataset.NumpySlicesDataset((INPUTS, LABELS), shuffle=True).batch(64, drop_remainder=True)
    trainer = Model(model, None, optimizer)
    rows = rows.repeat(1 + steps // rows.get_dataset_size()).take(steps)
    losses = Losses()
    trainer.train(1, rows, callbacks=losses, dataset_sink_mode=False)
    return losses.seen


if __name__ == "__main__":
    problem.main(0.1, train)
