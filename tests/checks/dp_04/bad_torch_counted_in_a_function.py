# run: dp.04
"""The next word is learned by a function, also where there is none."""

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(40, 16)
        self.read = nn.GRU(16, 16, batch_first=True)
        self.out = nn.Linear(16, 40)

    def forward(self, words):
        return self.out(self.read(self.words(words))[0])


torch.manual_seed(0)
words = torch.randint(1, 40, (48, 10))
lengths = torch.randint(4, 11, (48,))
words[torch.arange(10) >= lengths[:, None]] = 0
train = DataLoader(TensorDataset(words), batch_size=16, shuffle=True)
net = Writer()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(2):
    for (batch,) in train:
        optimizer.zero_grad()
        scores = net(batch[:, :-1])
        loss = functional.cross_entropy(scores.reshape(-1, 40), batch[:, 1:].reshape(-1))  # expect: dp.04
        loss.backward()
        optimizer.step()
