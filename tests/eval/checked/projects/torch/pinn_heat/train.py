"""u_t = a u_xx on [0,1]x[0,1], u(x,0)=sin(pi x), u(0,t)=u(1,t)=0; the exact solution is known."""

import math

import torch
from torch import nn

torch.set_default_dtype(torch.float64)

A = 0.15
N_POINTS, BATCH, EPOCHS = 1024, 64, 4


class Field(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
        )

    def forward(self, xt):
        return self.net(2 * xt - 1).squeeze(-1)


def exact(xt):
    return torch.exp(-A * math.pi**2 * xt[:, 1]) * torch.sin(math.pi * xt[:, 0])


def residual(field, xt, create_graph):
    """u_t - a u_xx; needs gradients with respect to the input even when nothing is trained."""
    xt = xt.clone().requires_grad_(True)
    u = field(xt)
    du = torch.autograd.grad(u.sum(), xt, create_graph=True)[0]
    u_x, u_t = du[:, 0], du[:, 1]
    u_xx = torch.autograd.grad(u_x.sum(), xt, create_graph=create_graph)[0][:, 0]
    return u_t - A * u_xx


def boundary_points(n):
    t = torch.rand(n)
    side = torch.randint(0, 2, (n,)).to(t.dtype)
    x0 = torch.rand(n)
    start = torch.stack([x0, torch.zeros(n)], dim=1)
    wall = torch.stack([side, t], dim=1)
    return start, wall


def validation(field, grid):
    field.eval()
    with torch.no_grad():
        rel = (field(grid) - exact(grid)).norm() / exact(grid).norm()
    res = residual(field, grid, create_graph=False).detach()
    return rel.item(), res.pow(2).mean().item()


def main():
    torch.manual_seed(30)
    axis = torch.linspace(0.02, 0.98, 20)
    grid = torch.cartesian_prod(axis, axis)

    field = Field()
    opt = torch.optim.Adam(field.parameters(), lr=1e-2)
    steps = N_POINTS // BATCH
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=1.5e-2, total_steps=EPOCHS * steps)
    for epoch in range(EPOCHS):
        field.train()
        interior = torch.rand(N_POINTS, 2)  # new points every epoch
        total = 0.0
        for xt in interior.split(BATCH):
            start, wall = boundary_points(BATCH)
            l_pde = residual(field, xt, create_graph=True).pow(2).mean()
            l_start = (field(start) - exact(start)).pow(2).mean()
            l_wall = field(wall).pow(2).mean()
            loss = l_pde + 5 * l_start + 5 * l_wall
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            total += loss.item()
        rel, res = validation(field, grid)
        print(f"epoch {epoch}: loss {total / steps:.4f}  relative error {rel:.4f}  residual {res:.4f}")


if __name__ == "__main__":
    main()
