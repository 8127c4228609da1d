"""The rows that a loader gives in order are the steps of one long series; windows are stacked with time first."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def time_first(samples):
    return torch.stack([one[0] for one in samples], dim=1)


torch.manual_seed(0)
series = torch.sin(torch.arange(640) * 0.1).unsqueeze(-1)
windows = DataLoader(TensorDataset(series.view(32, 20, 1)), batch_size=8, shuffle=True, collate_fn=time_first)
rows = DataLoader(TensorDataset(series), batch_size=32)
rnn = nn.LSTM(1, 8)
last = nn.Linear(8, 1)
optimizer = torch.optim.Adam([*rnn.parameters(), *last.parameters()], lr=1e-2)
loss_fn = nn.MSELoss()
for _ in range(2):
    for window in windows:
        optimizer.zero_grad()
        loss_fn(last(rnn(window[:-1])[0]), window[1:]).backward()
        optimizer.step()
with torch.no_grad():
    for (steps,) in rows:
        print(loss_fn(last(rnn(steps[:-1])[0]), steps[1:]).item())
