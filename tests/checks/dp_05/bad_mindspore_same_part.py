"""Every process asks for part 0."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.communication import get_group_size, init
from mindspore.train import Model


def pipeline(batch, parts):
    draw = np.random.default_rng(0)
    x = draw.standard_normal((64, 8)).astype(np.float32)
    y = (x[:, 0] > 0).astype(np.int32)
    data = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True, num_shards=parts, shard_id=0)  # expect: dp.05
    return data.batch(batch, drop_remainder=True)


def main():
    init()
    ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
    ms.set_seed(0)
    net = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 2))
    model = Model(net, nn.CrossEntropyLoss(), nn.Momentum(net.trainable_params(), 0.05, 0.9))
    model.train(2, pipeline(16, get_group_size()), dataset_sink_mode=False)


if __name__ == "__main__":
    main()
