# run:
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
maker, judge = nn.Linear(2, 4), nn.Linear(4, 1)
making = torch.optim.Adam(maker.parameters(), lr=1e-3)
judging = torch.optim.Adam(judge.parameters(), lr=1e-3)
score = nn.BCEWithLogitsLoss()
for _ in range(3):
    for (real,) in DataLoader(TensorDataset(torch.randn(64, 4)), 8, shuffle=True):
        judge.zero_grad()
        made = maker(torch.randn(8, 2))
        loss = score(judge(real), torch.ones(8, 1)) + score(judge(made.detach()), torch.zeros(8, 1))
        loss.backward()
        judging.step()
        maker.zero_grad()
        score(judge(made), torch.ones(8, 1)).backward()
        making.step()
