"""A session saves itself before it has run; another one goes on from the file."""

import tempfile

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn

x = np.random.default_rng(0).standard_normal((64, 6)).astype(np.float32)
y = (x[:, 0] + x[:, 1] > 0).astype(np.int32)
train = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True).batch(16)


class Session:
    def __init__(self):
        self.net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 2))
        self.optimizer = nn.SGD(self.net.trainable_params(), learning_rate=0.1, momentum=0.9)
        self.loss_fn = nn.CrossEntropyLoss()
        self.step = ms.value_and_grad(lambda a, b: self.loss_fn(self.net(a), b), None, self.optimizer.parameters)

    def save(self, path):
        ms.save_checkpoint(self.optimizer, path)

    def resume(self, path):
        ms.load_param_into_net(self.optimizer, ms.load_checkpoint(path), strict_load=True)

    def run(self):
        self.net.set_train()
        for inputs, labels in train.create_tuple_iterator():
            _, gradients = self.step(inputs, labels)
            self.optimizer(gradients)


ms.set_seed(0)
path = tempfile.mkdtemp() + "/half.ckpt"
first = Session()
first.save(path)  # expect: wi.02
first.run()
second = Session()
second.resume(path)
second.run()
