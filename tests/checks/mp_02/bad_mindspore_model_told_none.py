"""O2 would bring a dynamic loss scale: None takes it away."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.train import Model

ms.set_seed(0)
x = np.random.default_rng(0).standard_normal((96, 6)).astype(np.float32)
y = (x[:, 0] + x[:, 1] > 0).astype(np.int32)
train = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True).batch(16)
net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 2))
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)
model = Model(net, nn.CrossEntropyLoss(), optimizer, amp_level="O2", loss_scale_manager=None)  # expect: mp.02
model.train(2, train, dataset_sink_mode=False)
