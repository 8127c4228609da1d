"""The divergence is summed over the latents and averaged over the samples."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
train = DataLoader(TensorDataset(torch.rand(64, 12)), batch_size=16, shuffle=True)
encoder, decoder = nn.Linear(12, 8), nn.Linear(4, 12)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.01)
for epoch in range(2):
    for (inputs,) in train:
        mean, log_variance = encoder(inputs).chunk(2, dim=1)
        latent = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        far = (decoder(latent) - inputs).pow(2).sum(dim=1).mean()
        apart = -0.5 * (1 + log_variance - mean.pow(2) - log_variance.exp()).sum(dim=1).mean()
        optimizer.zero_grad()
        (far + apart).backward()
        optimizer.step()
    print(epoch, far.item(), apart.item())
