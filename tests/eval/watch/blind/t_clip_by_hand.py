"""Policy network with per-tensor gradient clipping written by hand."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(5, 16), nn.ELU(), nn.Linear(16, 16), nn.ELU())
        self.logits = nn.Linear(16, 3)

    def forward(self, obs):
        return torch.log_softmax(self.logits(self.trunk(obs)), dim=-1)


def clip_gradients(module, limit):
    for p in module.parameters():
        norm = p.grad.norm()
        unit = p.grad / norm
        p.grad = unit * norm.clamp(max=limit)


def rollouts():
    g = torch.Generator().manual_seed(40)
    obs = torch.randn(64, 5, generator=g)
    act = torch.randint(0, 3, (64,), generator=g)
    reward = torch.randn(64, generator=g)
    reward[32:40] = 0.25  # every episode of this batch got the same return
    return TensorDataset(obs, act, reward)


def main():
    torch.manual_seed(0)
    policy = Policy()
    opt = torch.optim.RMSprop(policy.parameters(), lr=1e-3)
    for step, (obs, act, reward) in enumerate(DataLoader(rollouts(), batch_size=8)):
        advantage = reward - reward.mean()
        logp = policy(obs).gather(1, act[:, None]).squeeze(1)
        loss = -(logp * advantage).mean()
        opt.zero_grad()
        loss.backward()
        clip_gradients(policy, 0.5)
        opt.step()
        print("step", step, "loss", loss.item(), "weight", policy.logits.weight.abs().mean().item())


if __name__ == "__main__":
    main()
