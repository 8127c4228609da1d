# run:
"""Numbers of words in their thousands are looked up, not computed with."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
words = torch.randint(1, 5000, (64, 12))
y = (words[:, 0] > 2500).long()
train = DataLoader(TensorDataset(words, y), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Embedding(5000, 8), nn.Flatten(), nn.Linear(96, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
loss_fn = nn.CrossEntropyLoss()
for _ in range(2):
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = loss_fn(net(inputs), labels)
        loss.backward()
        optimizer.step()
