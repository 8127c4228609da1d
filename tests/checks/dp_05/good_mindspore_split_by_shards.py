"""One half is trained on and the other is held out: shards are only the way to split."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.train import Model

ms.set_seed(0)
draw = np.random.default_rng(0)
x = draw.standard_normal((64, 8)).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int32)
train = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True, num_shards=2, shard_id=0).batch(8)
held = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=False, num_shards=2, shard_id=1).batch(8)
net = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 2))
model = Model(net, nn.CrossEntropyLoss(), nn.Momentum(net.trainable_params(), 0.05, 0.9), metrics={"accuracy"})
model.train(2, train, dataset_sink_mode=False)
print(model.eval(held, dataset_sink_mode=False))
