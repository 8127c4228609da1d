# run: dp.04
"""The next word is learned, also where there is none."""

import torch
from torch import nn
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
train = DataLoader(TensorDataset(words[:, :-1], words[:, 1:]), batch_size=16, shuffle=True)
loss_fn = nn.CrossEntropyLoss()  # expect: dp.04
net = Writer()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(2):
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = loss_fn(net(inputs).flatten(0, 1), labels.flatten())
        loss.backward()
        optimizer.step()
