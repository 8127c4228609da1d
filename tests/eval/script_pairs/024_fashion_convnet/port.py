"""Fashion-like classifier, cleaned up."""
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn, optim


@dataclass(frozen=True)
class HP:
    initial_lr: float = 5e-2
    l2: float = 1e-4
    mu: float = 0.9
    minibatch: int = 32
    n_epochs: int = 4
    clip_at: float = 5.0


def make_split(count: int, seed: int):
    generator = np.random.RandomState(seed)
    templates = np.random.RandomState(61).randint(0, 200, (10, 20, 20))
    target = generator.randint(0, 10, count)
    pixels = templates[target] + generator.randint(0, 56, (count, 20, 20))
    # (v / 255 - 0.5) / 0.5 written as v / 127.5 - 1
    inputs = pixels.astype(np.uint8).astype(np.float32) / 127.5 - 1.0
    return torch.as_tensor(inputs)[:, None], torch.as_tensor(target, dtype=torch.long)


class ConvUnit(nn.Sequential):
    def __init__(self, c_in: int, c_out: int):
        super().__init__(
            nn.Conv2d(c_in, c_out, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), bias=True),
            nn.BatchNorm2d(c_out, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True),
            nn.LeakyReLU(negative_slope=1e-2),
        )


class GlobalMean(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.mean(dim=[-2, -1])


def build_model() -> nn.Module:
    return nn.Sequential(ConvUnit(1, 8), ConvUnit(8, 16), GlobalMean(), nn.Linear(in_features=16, out_features=10))


def lr_at(epoch: int) -> float:
    return 0.5 ** (epoch // 2)


class Fitter:
    def __init__(self, hp: HP):
        torch.manual_seed(7)
        self.hp = hp
        self.model = build_model()
        self.loss = nn.CrossEntropyLoss()
        make = partial(optim.SGD, lr=hp.initial_lr, momentum=hp.mu, dampening=0, nesterov=False)
        self.optim = make(self.model.parameters(), weight_decay=hp.l2)
        self.sched = optim.lr_scheduler.LambdaLR(self.optim, lr_at)

    def step(self, inputs: Tensor, target: Tensor) -> float:
        value = self.loss(self.model(inputs), target)
        self.optim.zero_grad(set_to_none=True)
        value.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), max_norm=self.hp.clip_at, norm_type=2.0)
        self.optim.step()
        return float(value.detach())

    @torch.inference_mode()
    def accuracy(self, inputs: Tensor, target: Tensor) -> float:
        was = self.model.training
        self.model.eval()
        hits = [(self.model(a).argmax(-1) == b).sum() for a, b in zip(inputs.split(40), target.split(40))]
        self.model.train(was)
        return float(sum(hits)) / len(target)


def main(hp: HP = HP()):
    train_in, train_out = make_split(320, 0)
    test_in, test_out = make_split(100, 1)
    fitter = Fitter(hp)
    source = np.random.RandomState(10)
    for epoch in range(hp.n_epochs):
        chosen = torch.as_tensor(source.permutation(len(train_in))).split(hp.minibatch)
        values = [fitter.step(train_in[c], train_out[c]) for c in chosen]
        fitter.sched.step()
        print(f"Epoch {epoch} loss {np.mean(values):.4f} acc {fitter.accuracy(test_in, test_out):.4f}")


if __name__ == "__main__":
    main()
