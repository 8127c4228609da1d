"""Advantage actor-critic on a corridor of cells."""
import torch
import torch.nn as nn
from torch.distributions import Categorical


class Corridor:
    def __init__(self, envs=8, length=8, seed=0):
        self.g = torch.Generator().manual_seed(seed)
        self.envs, self.length = envs, length
        self.reset_all()

    def reset_all(self):
        self.pos = torch.randint(0, self.length - 1, (self.envs,), generator=self.g)

    def observe(self):
        return nn.functional.one_hot(self.pos, self.length).float()

    def step(self, action):
        self.pos = (self.pos + 2 * action - 1).clamp(0, self.length - 1)
        done = self.pos == self.length - 1
        reward = done.float() - 0.02
        fresh = torch.randint(0, self.length - 1, (self.envs,), generator=self.g)
        self.pos = torch.where(done, fresh, self.pos)
        return self.observe(), reward, done.float()


class ActorCritic(nn.Module):
    def __init__(self, n_obs=8, n_act=2):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(n_obs, 32), nn.Tanh())
        self.policy = nn.Linear(32, n_act)
        self.value = nn.Linear(32, 1)

    def forward(self, obs):
        h = self.shared(obs)
        return Categorical(logits=self.policy(h)), self.value(h)


def collect(env, model, horizon):
    rows = []
    obs = env.observe()
    for _ in range(horizon):
        with torch.no_grad():
            action = model(obs)[0].sample()
        nxt, reward, done = env.step(action)
        rows.append((obs, action, reward, done))
        obs = nxt
    with torch.no_grad():
        bootstrap = model(obs)[1].squeeze(-1)
    returns = []
    for _, _, reward, done in reversed(rows):
        bootstrap = reward + 0.95 * bootstrap * (1 - done)
        returns.insert(0, bootstrap)
    cols = list(zip(*rows))
    return torch.cat(cols[0]), torch.cat(cols[1]), torch.cat(returns)


def main():
    torch.manual_seed(0)
    env = Corridor()
    model = ActorCritic()
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for it in range(40):
        obs, act, ret = collect(env, model, horizon=6)
        dist, value = model(obs)
        advantage = ret - value.detach()
        policy_loss = -(dist.log_prob(act) * advantage).mean()
        value_loss = (ret - value.squeeze(-1)).pow(2).mean()
        loss = policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 8 == 7:
            print(f"it {it} value loss {value_loss.item():.4f} return {ret.mean().item():.3f}")


main()
