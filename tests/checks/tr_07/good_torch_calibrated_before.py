# run:
"""Before training the network sees training samples once, so that its first activations have mean 0 and variance 1."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(128, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
train = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 16)
        self.head = nn.Linear(16, 2)

    @torch.no_grad()
    def calibrate(self, inputs):
        hidden = self.body(inputs)
        self.body.weight.div_(hidden.std(0).unsqueeze(1))
        self.body.bias.sub_(hidden.mean(0)).div_(hidden.std(0))

    def forward(self, inputs):
        return self.head(torch.relu(self.body(inputs)))


net = Net()
net.calibrate(x[:64])
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(2):
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = loss_fn(net(inputs), labels)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
