"""What the generator made is detached for the critic only; rounding lets gradients through."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
real_data = DataLoader(TensorDataset(torch.randn(64, 2)), batch_size=16, shuffle=True)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
for_generator = torch.optim.Adam(generator.parameters(), lr=1e-3)
for_critic = torch.optim.Adam(critic.parameters(), lr=1e-3)


def judged(samples, real):
    logits = critic(samples)
    return F.binary_cross_entropy_with_logits(logits, torch.full_like(logits, float(real)))


for _ in range(2):
    for (real,) in real_data:
        made = generator(torch.randn(len(real), 4))
        for_critic.zero_grad()
        (judged(real, True) + judged(made.detach(), False)).backward()
        for_critic.step()

        rounded = made + (made.round() - made).detach()
        for_generator.zero_grad()
        (judged(rounded, True) + F.mse_loss(made, made.detach().clamp(-2, 2))).backward()
        for_generator.step()
