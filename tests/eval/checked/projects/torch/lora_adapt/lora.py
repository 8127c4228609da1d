import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class LoRALinear(nn.Linear):
    """y = W x + b + (alpha / r) * B A x"""

    def __init__(self, n_in, n_out, r=4, alpha=8):
        super().__init__(n_in, n_out)
        self.lora_A = nn.Parameter(torch.empty(r, n_in))
        self.lora_B = nn.Parameter(torch.zeros(n_out, r))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.scaling = alpha / r

    def forward(self, x):
        return super().forward(x) + (x @ self.lora_A.T @ self.lora_B.T) * self.scaling


class Regressor(nn.Module):
    def __init__(self, n_in=8, width=48, linear=nn.Linear):
        super().__init__()
        self.fc1 = linear(n_in, width)
        self.fc2 = linear(width, width)
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        return self.head(F.silu(self.fc2(F.silu(self.fc1(x))))).squeeze(-1)


def freeze_all_but_adapters(model):
    for name, p in model.named_parameters():
        p.requires_grad = "lora_" in name or name.startswith("head.")
    return [p for p in model.parameters() if p.requires_grad]
