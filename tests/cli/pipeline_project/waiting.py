"""A module whose import, after that of its framework, never ends."""

import time

import torch

while True:
    time.sleep(0.01)  # imports

healthy = torch.utils.data.TensorDataset
