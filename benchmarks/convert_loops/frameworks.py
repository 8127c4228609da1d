"""A .pth into a .ckpt, or back, with the frameworks' own load and save; prints the CPU seconds without the imports."""

from __future__ import annotations

import sys
import time

import mindspore
import torch

source, output = sys.argv[1:]
start = time.process_time()
if source.endswith(".pth"):
    state = torch.load(source, weights_only=True)
    mindspore.save_checkpoint(
        [{"name": name, "data": mindspore.Tensor(tensor.numpy())} for name, tensor in state.items()], output
    )
else:
    state = mindspore.load_checkpoint(source)
    torch.save({name: torch.from_numpy(one.asnumpy()) for name, one in state.items()}, output)
print(time.process_time() - start)
