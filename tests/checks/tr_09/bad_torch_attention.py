"""Attention drops values in evaluation too."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Attending(nn.Module):
    def __init__(self, width=8, p=0.1):
        super().__init__()
        self.mix = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, 2)
        self.p = p

    def forward(self, steps):
        query, key, value = self.mix(steps).chunk(3, dim=-1)
        seen = F.scaled_dot_product_attention(query, key, value, dropout_p=self.p)  # expect: tr.09
        return self.out(seen.mean(dim=1))


@torch.inference_mode()
def accuracy(net, loader):
    net.eval()
    return sum((net(steps).argmax(1) == labels).sum().item() for steps, labels in loader) / len(loader.dataset)


torch.manual_seed(0)
x = torch.randn(96, 5, 8)
y = (x.mean((1, 2)) > 0).long()
train = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(x[64:], y[64:]), batch_size=16)
net = Attending()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
for _ in range(2):
    net.train()
    for steps, labels in train:
        loss = F.cross_entropy(net(steps), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(accuracy(net, test))
