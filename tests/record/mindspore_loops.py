"""Small MindSpore trainings in the usual styles, by the name given as the first argument; prints every loss."""

import sys

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops

STYLE = sys.argv[1]
ms.set_device("CPU")
ms.set_seed(0)
if STYLE.endswith("_graph"):
    ms.set_context(mode=ms.GRAPH_MODE)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, pad_mode="pad", padding=1, has_bias=True)
        self.bn = nn.BatchNorm2d(4)
        self.relu = nn.ReLU()
        self.fc = nn.Dense(256, 10)

    def construct(self, x):
        return self.fc(self.relu(self.bn(self.conv(x))).reshape(x.shape[0], -1))


draw = np.random.RandomState(0)
IMAGES = draw.randn(32, 1, 8, 8).astype(np.float32)
LABELS = draw.randint(0, 10, 32).astype(np.int32)


def data():
    return ds.NumpySlicesDataset({"x": IMAGES, "y": LABELS}, shuffle=False).batch(8)


def tell(loss):
    print(repr(float(loss.asnumpy())), flush=True)


net = Net()
loss_fn = nn.CrossEntropyLoss()
optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9)


def value_and_grad():
    def forward(x, y):
        logits = net(x)
        return loss_fn(logits, y), logits

    gradients_of = ms.value_and_grad(forward, None, optimizer.parameters, has_aux=True)
    net.set_train()
    for x, y in data().create_tuple_iterator():
        (loss, _), gradients = gradients_of(x, y)
        optimizer(ops.clip_by_global_norm(gradients, 1.0))
        tell(loss)
    net.set_train(False)
    for batch in data().create_dict_iterator():
        loss_fn(net(batch["x"]), batch["y"])


def scaled():
    scaler = ms.amp.DynamicLossScaler(1024, 2, 100)

    def forward(x, y, factor):
        loss = loss_fn(net(x), y) * factor
        return scaler.scale(loss), loss

    gradients_of = ms.value_and_grad(forward, None, optimizer.parameters, has_aux=True)
    net.set_train()
    for number, (x, y) in enumerate(data().create_tuple_iterator()):
        (_, loss), gradients = gradients_of(x, y, 1.0 if number != 2 else float("inf"))
        fine = ms.amp.all_finite(gradients)
        gradients = scaler.unscale(gradients)
        if fine:
            optimizer(gradients)
        scaler.adjust(fine)
        tell(loss)


class Teller(ms.Callback):
    def on_train_step_end(self, run_context):
        tell(run_context.original_args().net_outputs)


def model():
    trained = ms.Model(net, loss_fn, optimizer, metrics={"acc"})
    trained.train(2, data(), callbacks=[Teller()], dataset_sink_mode=False)
    trained.eval(data(), dataset_sink_mode=False)


def one_step_cell():
    cell = nn.TrainOneStepCell(nn.WithLossCell(net, loss_fn), optimizer)
    cell.set_train()
    for x, y in data().create_tuple_iterator():
        tell(cell(x, y))


def two_optimizers():
    first = nn.SGD(list(net.conv.get_parameters()), 0.1)
    second = nn.Adam(list(net.fc.get_parameters()), 0.01)
    held = [*first.parameters, *second.parameters]
    gradients_of = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, ms.ParameterTuple(held))
    net.set_train()
    for x, y in data().create_tuple_iterator():
        loss, gradients = gradients_of(x, y)
        first(gradients[: len(first.parameters)])
        second(gradients[len(first.parameters) :])
        tell(loss)


def jitted():
    def forward(x, y):
        return loss_fn(net(x), y)

    gradients_of = ms.value_and_grad(forward, None, optimizer.parameters)

    @ms.jit
    def train_step(x, y):
        loss, gradients = gradients_of(x, y)
        optimizer(gradients)
        return loss

    net.set_train()
    for x, y in data().create_tuple_iterator():
        tell(train_step(x, y))


def jitted_without_data():
    def forward(x, y):
        return loss_fn(net(x), y)

    gradients_of = ms.value_and_grad(forward, None, optimizer.parameters)

    @ms.jit
    def train_step(x, y):
        loss, gradients = gradients_of(x, y)
        optimizer(gradients)
        return loss

    net.set_train()
    for _ in range(3):
        tell(train_step(ms.Tensor(IMAGES), ms.Tensor(LABELS)))


class Rates(ms.Callback):
    def on_train_step_end(self, run_context):
        arguments = run_context.original_args()
        arguments.optimizer.get_lr()
        tell(arguments.net_outputs)


def scheduled():
    rates = nn.cosine_decay_lr(0.001, 0.1, 12, 4, 3)
    scaling = ms.amp.FixedLossScaleManager(128.0, drop_overflow_update=False)
    held = nn.Momentum(net.trainable_params(), rates, 0.9, loss_scale=128.0)
    trained = ms.Model(net, loss_fn, held, loss_scale_manager=scaling)
    trained.train(2, data(), callbacks=[Rates()], dataset_sink_mode=False)


def dropped():
    net.insert_child_to_cell("relu", nn.Dropout(p=0.5))
    one_step_cell()


globals()[STYLE.removesuffix("_graph")]()
