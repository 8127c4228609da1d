# run: tr.30
"""Half of the network runs in a thread, without autocast."""

from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(96, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
train = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(6, 16)
        self.right = nn.Linear(6, 16)
        self.head = nn.Linear(16, 2)
        self.pool = ThreadPoolExecutor(max_workers=1)

    def beside(self, inputs):
        return self.right(inputs)

    def forward(self, inputs):
        waiting = self.pool.submit(self.beside, inputs)
        hidden = self.left(inputs) + waiting.result()
        return self.head(torch.relu(hidden))


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(3):
    for inputs, labels in train:
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = loss_fn(net(inputs), labels)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
net.pool.shutdown()
