"""Writes about a gigabyte of weights with torch and with MindSpore, one tensor in ten moved a little."""

import sys

import mindspore
import numpy as np
import torch

random = np.random.default_rng(0)
shapes = [(2048, 256, 3, 3) if place % 2 else (4096, 1024) for place in range(60)]
weights = {
    f"layer{place}.weight": random.standard_normal(shape, dtype=np.float32) for place, shape in enumerate(shapes)
}
torch.save({name: torch.from_numpy(one) for name, one in weights.items()}, sys.argv[1])
for name in list(weights)[::10]:
    weights[name] *= np.float32(1.01)
mindspore.save_checkpoint([{"name": name, "data": mindspore.Tensor(one)} for name, one in weights.items()], sys.argv[2])
