"""Both lists are given, in one list of groups or one after the other; a third is only counted."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def optimizer_for(network, decay):
    named = list(network.named_parameters())
    decayed = [weight for name, weight in named if name.endswith("weight")]
    plain = [weight for name, weight in named if name.endswith("bias")]
    large = [weight for _, weight in named if weight.numel() > 50]
    print(len(large), "of", len(named))
    built = torch.optim.AdamW([{"params": decayed, "weight_decay": decay}], lr=1e-2)
    built.add_param_group({"params": plain, "weight_decay": 0.0})
    return built


torch.manual_seed(0)
x = torch.randn(64, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = optimizer_for(net, 0.01)
loss_fn = nn.CrossEntropyLoss()
for _ in range(2):
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss_fn(net(inputs), labels).backward()
        optimizer.step()
