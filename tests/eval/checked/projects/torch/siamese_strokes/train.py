import torch
import torch.nn.functional as F
from pairs import StrokePairs, stroke_library
from torch import nn
from torch.utils.data import DataLoader

MARGIN = 1.0


class Encoder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.conv1 = nn.Conv1d(1, 8, 5, padding=2)
        self.conv2 = nn.Conv1d(8, 16, 5, padding=2)
        self.fc = nn.Linear(16 * 8, dim)

    def forward(self, x):
        x = F.max_pool1d(F.relu(self.conv1(x.unsqueeze(1))), 2)
        x = F.max_pool1d(F.relu(self.conv2(x)), 2)
        return F.normalize(self.fc(x.flatten(1)), dim=-1)


class Siamese(nn.Module):
    """Both branches are the same module: one set of weights, two calls."""

    def __init__(self):
        super().__init__()
        self.encoder = Encoder()

    def forward(self, a, b):
        return F.pairwise_distance(self.encoder(a), self.encoder(b))


def contrastive(dist, same):
    pull = same * dist.pow(2)
    push = (1 - same) * F.relu(MARGIN - dist).pow(2)
    return (pull + push).mean()


def main():
    torch.manual_seed(11)
    gen = torch.Generator().manual_seed(11)
    kinds = stroke_library(6, 32, gen)
    train = DataLoader(StrokePairs(kinds, 600, gen, resample=True), batch_size=40, shuffle=True)
    valid = DataLoader(StrokePairs(kinds, 180, gen, resample=False), batch_size=90, shuffle=False)

    net = Siamese()
    optim = torch.optim.RMSprop(net.parameters(), lr=1e-3)

    for epoch in range(1, 5):
        net.train()
        tot = cnt = 0
        for a, b, same in train:
            same = same.float()  # default_collate makes doubles of Python floats
            loss = contrastive(net(a, b), same)
            optim.zero_grad()
            loss.backward()
            optim.step()
            tot, cnt = tot + loss.item() * len(same), cnt + len(same)

        net.eval()
        v_tot = v_ok = v_cnt = 0
        with torch.no_grad():
            for a, b, same in valid:
                d = net(a, b)
                v_tot += contrastive(d, same.float()).item() * len(same)
                v_ok += ((d < MARGIN / 2) == same.bool()).sum().item()
                v_cnt += len(same)
        print(f"epoch {epoch} | pair loss {tot / cnt:.4f} | valid {v_tot / v_cnt:.4f} | pairs right {v_ok / v_cnt:.1%}")


if __name__ == "__main__":
    main()
