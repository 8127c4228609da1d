# run: cg.01
# bench: bench_torch_untied.py
"""The weights that are one in the benchmark are two here."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
start = torch.randint(0, 12, (96, 1))
tokens = (start + torch.arange(7)) % 12
train = DataLoader(TensorDataset(tokens[:64, :-1], tokens[:64, 1:]), batch_size=16, shuffle=True)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(12, 8)
        self.mixed = nn.GRU(8, 8, batch_first=True)
        self.head = nn.Linear(8, 12, bias=False)

    def forward(self, inputs):
        hidden, _ = self.mixed(self.embedding(inputs))
        return self.head(hidden)


net = Model()

optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
loss_fn = nn.CrossEntropyLoss()
for _ in range(2):
    for inputs, targets in train:
        optimizer.zero_grad()
        loss = loss_fn(net(inputs).flatten(0, 1), targets.flatten())
        loss.backward()
        optimizer.step()
