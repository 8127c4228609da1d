# run: wi.02
"""Only names are taken that no layer of the network has: nothing is loaded."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(96, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
train = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(x[64:], y[64:]), batch_size=16)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 16)
        self.head = nn.Linear(16, 2)

    def forward(self, inputs):
        return self.head(torch.relu(self.body(inputs)))


net = Net()
source = Net().state_dict()
net.load_state_dict({k: v for k, v in source.items() if k.startswith("network.")}, strict=False)  # expect: wi.02
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(2):
    net.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = loss_fn(net(inputs), labels)
        loss.backward()
        optimizer.step()

    net.eval()
    with torch.no_grad():
        hits = sum((net(inputs).argmax(1) == labels).sum().item() for inputs, labels in test)
    print(epoch, hits / len(test.dataset))
