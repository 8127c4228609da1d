"""Keypoint heat maps with an encoder-decoder in half precision."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class HeatmapNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.enc1 = nn.Conv2d(1, width, 3, stride=2, padding=1)
        self.enc2 = nn.Conv2d(width, width, 3, padding=1)
        self.dec1 = nn.Conv2d(width, width, 3, padding=1)
        self.dec2 = nn.Conv2d(width, 1, 1)
        for m in (self.dec1, self.dec2):
            nn.init.normal_(m.weight, std=0.01)
            nn.init.zeros_(m.bias)

    def forward(self, x):
        h = F.relu(self.enc2(F.relu(self.enc1(x))))
        h = F.interpolate(h, scale_factor=2, mode="nearest")
        return self.dec2(F.relu(self.dec1(h)))


def sample_batch(n, size, gen):
    centre = torch.rand(n, 2, generator=gen) * (size - 8) + 4
    axis = torch.arange(size, dtype=torch.float32)
    dy = (axis.view(1, size, 1) - centre[:, 0].view(n, 1, 1)) ** 2
    dx = (axis.view(1, 1, size) - centre[:, 1].view(n, 1, 1)) ** 2
    blob = torch.exp(-(dx + dy) / 8.0).unsqueeze(1)
    image = (blob > 0.5).float() + 0.1 * torch.randn(n, 1, size, size, generator=gen)
    return image, blob


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--size", type=int, default=32)
    p.add_argument("--batch", type=int, default=24)
    p.add_argument("--accumulate", type=int, default=8)
    p.add_argument("--updates", type=int, default=5)
    p.add_argument("--precision", choices=["fp16", "fp32"], default="fp16")
    args = p.parse_args()

    torch.manual_seed(4)
    gen = torch.Generator().manual_seed(40)
    net = HeatmapNet()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for update in range(args.updates):
        opt.zero_grad()
        shown = 0.0
        for _ in range(args.accumulate):
            image, target = sample_batch(args.batch, args.size, gen)
            with torch.autocast("cpu", dtype=torch.float16, enabled=args.precision == "fp16"):
                pred = net(image)
                loss = F.mse_loss(pred, target)
            shown += loss.item() / args.accumulate
            (loss / args.accumulate).backward()
        opt.step()
        if update % 2 == 0:
            print(f"update {update} loss {shown:.5f}")


if __name__ == "__main__":
    main()
