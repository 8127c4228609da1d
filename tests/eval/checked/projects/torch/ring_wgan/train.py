"""WGAN-GP on a noisy ring of eight Gaussians."""

import math

import torch
from torch import autograd, nn
from torch.utils.data import DataLoader, TensorDataset

LATENT = 8
LAMBDA = 0.3
N_CRITIC = 3
EPOCHS = 4


def ring(n, gen):
    k = torch.randint(0, 8, (n,), generator=gen).float() * (2 * math.pi / 8)
    pts = torch.stack([k.cos(), k.sin()], dim=1) * 1.3
    return pts + 0.12 * torch.randn(n, 2, generator=gen) + torch.tensor([0.5, -0.4])


def mlp(*dims, last_bias=True):
    layers = []
    for i, (a, b) in enumerate(zip(dims[:-1], dims[1:])):
        final = i == len(dims) - 2
        layers.append(nn.Linear(a, b, bias=last_bias or not final))
        if not final:
            layers.append(nn.LeakyReLU(0.2))
    return nn.Sequential(*layers)


def gradient_penalty(critic, real, fake):
    eps = torch.rand(real.size(0), 1)
    mix = (eps * real + (1 - eps) * fake).requires_grad_(True)
    score = critic(mix)
    (grad,) = autograd.grad(score.sum(), mix, create_graph=True)
    return ((grad.norm(2, dim=1) - 1) ** 2).mean()


def set_requires_grad(net, flag):
    for p in net.parameters():
        p.requires_grad_(flag)


@torch.no_grad()
def sliced_wasserstein(gen_net, latent, points, n_proj=64):
    a, b = gen_net(latent), points
    theta = torch.linspace(0, math.pi, n_proj)
    proj = torch.stack([theta.cos(), theta.sin()])
    return ((a @ proj).sort(0).values - (b @ proj).sort(0).values).abs().mean().item()


def critic_step(gen_net, critic, opt_c, real):
    with torch.no_grad():
        fake = gen_net(torch.randn(real.size(0), LATENT))
    loss = critic(fake).mean() - critic(real).mean() + LAMBDA * gradient_penalty(critic, real, fake)
    opt_c.zero_grad()
    loss.backward()
    opt_c.step()
    return loss.item()


def generator_step(gen_net, critic, opt_g, n):
    set_requires_grad(critic, False)  # saves the critic's weight gradients, the path through it stays
    loss = -critic(gen_net(torch.randn(n, LATENT))).mean()
    opt_g.zero_grad()
    loss.backward()
    opt_g.step()
    set_requires_grad(critic, True)
    return loss.item()


def main():
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(0)
    train_points, held_out = ring(2048, gen), ring(512, gen)
    loader = DataLoader(TensorDataset(train_points), batch_size=32, shuffle=True, drop_last=True)
    probe = torch.randn(512, LATENT, generator=gen)

    # an offset of the critic cancels in its loss, so its last layer needs no bias
    critic, gen_net = mlp(2, 48, 48, 1, last_bias=False), mlp(LATENT, 48, 48, 2)
    opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.9))
    opt_g = torch.optim.Adam(gen_net.parameters(), lr=1e-3, betas=(0.5, 0.9))

    print(f"before: distance {sliced_wasserstein(gen_net, probe, held_out):.3f}")
    for epoch in range(EPOCHS):
        c_sum, g_sum, g_steps = 0.0, 0.0, 0
        for i, (real,) in enumerate(loader):
            c_sum += critic_step(gen_net, critic, opt_c, real)
            if (i + 1) % N_CRITIC == 0:
                g_sum += generator_step(gen_net, critic, opt_g, real.size(0))
                g_steps += 1
        distance = sliced_wasserstein(gen_net, probe, held_out)
        print(f"epoch {epoch}: critic {c_sum / len(loader):+.3f} gen {g_sum / g_steps:+.3f} distance {distance:.3f}")


if __name__ == "__main__":
    main()
