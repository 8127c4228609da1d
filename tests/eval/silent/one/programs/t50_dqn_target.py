"""Deep Q-learning on a small grid, with a target network refreshed now and then."""
import collections
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

Transition = collections.namedtuple("Transition", "s a r s2 done")


class Grid:
    moves = [(-1, 0), (1, 0), (0, -1), (0, 1)]

    def __init__(self, size=4):
        self.size = size

    def reset(self):
        self.at = [random.randrange(self.size), random.randrange(self.size - 1)]
        return self.code()

    def code(self):
        return self.at[0] * self.size + self.at[1]

    def step(self, a):
        dr, dc = self.moves[a]
        self.at = [min(max(self.at[0] + dr, 0), self.size - 1), min(max(self.at[1] + dc, 0), self.size - 1)]
        done = self.at == [self.size - 1, self.size - 1]
        return self.code(), 1.0 if done else -0.05, done


def q_network(states=16, actions=4):
    return nn.Sequential(nn.Embedding(states, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, actions))


class Agent:
    def __init__(self):
        self.online, self.target = q_network(), q_network()
        self.target.load_state_dict(self.online.state_dict())
        self.memory = collections.deque(maxlen=2000)
        self.opt = torch.optim.Adam(self.online.parameters(), lr=3e-3)
        self.updates = 0

    def act(self, s, eps):
        if random.random() < eps:
            return random.randrange(4)
        with torch.no_grad():
            return int(self.online(torch.tensor([s])).argmax())

    def learn(self, batch=32, gamma=0.95, sync=40):
        rows = Transition(*zip(*random.sample(list(self.memory), batch)))
        s, a, s2 = (torch.tensor(c) for c in (rows.s, rows.a, rows.s2))
        r, done = torch.tensor(rows.r), torch.tensor(rows.done).float()
        q = self.online(s).gather(1, a.unsqueeze(1)).squeeze(1)
        wanted = r + gamma * (1 - done) * self.target(s2).max(1).values.detach()
        loss = F.smooth_l1_loss(q, wanted)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.updates += 1
        if self.updates % sync == 0:
            self.target.load_state_dict(self.online.state_dict())
        return loss.item()


def main():
    random.seed(0)
    torch.manual_seed(0)
    env, agent = Grid(), Agent()
    losses, s, returns, ret = [], env.reset(), [], 0.0
    for t in range(360):
        a = agent.act(s, eps=max(0.1, 1 - t / 200))
        s2, r, done = env.step(a)
        agent.memory.append(Transition(s, a, r, s2, done))
        ret += r
        s = s2
        if done:
            returns.append(ret)
            s, ret = env.reset(), 0.0
        if t >= 64:
            losses.append(agent.learn())
            if t % 60 == 0:
                print(f"t {t} loss {sum(losses[-40:]) / 40:.4f} return {sum(returns[-5:]) / 5:.2f}")


main()
