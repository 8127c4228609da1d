"""Trains ResNet with PyTorch: ``python train_torch.py``, or on two processes ``torchrun --nproc_per_node=2 …``."""

import os
import time

import resnet_torch
import torch
from data_torch import train_loader
from recipe import MOMENTUM, SMOOTHING, WEIGHT_DECAY, report, train_options
from torch import distributed, nn


def loss_function():
    """Cross entropy with smoothed labels."""
    return nn.CrossEntropyLoss(label_smoothing=SMOOTHING)


def optimizer_of(model, lr):
    """SGD with momentum; BatchNorm's parameters and the biases do not decay."""
    decayed = [one for one in model.parameters() if one.ndim > 1]
    others = [one for one in model.parameters() if one.ndim <= 1]
    groups = [{"params": decayed, "weight_decay": WEIGHT_DECAY}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.SGD(groups, lr, momentum=MOMENTUM)


def schedule_of(optimizer, steps):
    """A cosine from the first rate to zero, a little lower at every step."""
    return torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps)


def place():
    """The number of this process and of all; torchrun tells."""
    if int(os.environ.get("WORLD_SIZE", 1)) == 1:
        return 0, 1
    distributed.init_process_group("gloo")
    return distributed.get_rank(), distributed.get_world_size()


def main():
    options = train_options(__doc__).parse_args()
    rank, ranks = place()
    torch.manual_seed(options.seed)
    model = getattr(resnet_torch, options.network)()
    if options.weights:
        model.load_state_dict(torch.load(options.weights, weights_only=True))
    loader = train_loader(options.images, options.batch_size, options.seed, rank, ranks)
    replica = nn.parallel.DistributedDataParallel(model) if ranks > 1 else model
    loss_of = loss_function()
    optimizer = optimizer_of(model, options.lr)
    schedule = schedule_of(optimizer, max(1, options.epochs * len(loader)))

    step = 0
    model.train()
    for epoch in range(options.epochs):
        if step == options.steps:
            break
        for images, labels in loader:
            loss = loss_of(replica(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            report(epoch, step, loss.item(), rank)
            step += 1
            if step == options.steps:
                break
    if options.save and rank == 0:
        torch.save(model.state_dict(), options.save)
    if ranks > 1:
        distributed.destroy_process_group()
        # Gloo's thread lets go of its last tensor a moment later; where Python has ended by then, torch aborts.
        time.sleep(1)


if __name__ == "__main__":
    main()
