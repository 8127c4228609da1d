"""Where there are several processes, each is given the first shard."""

import os

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.train import Model

world = int(os.environ.get("RANK_SIZE", "1"))
ms.set_seed(0)
if world > 1:
    ms.communication.init()
    ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
draw = np.random.default_rng(0)
x = draw.standard_normal((64, 8)).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int32)
shards = {"num_shards": world, "shard_id": 0} if world > 1 else {}  # expect: dp.05
train = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True, **shards).batch(8)
net = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 2))
model = Model(net, nn.CrossEntropyLoss(), nn.Momentum(net.trainable_params(), 0.05, 0.9))
model.train(2, train, dataset_sink_mode=False)
