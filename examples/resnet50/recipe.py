"""The numbers of the training recipe, and the options of the scripts: the same for both frameworks."""

import argparse
from pathlib import Path

MOMENTUM = 0.875
WEIGHT_DECAY = 1 / 32768
SMOOTHING = 0.1
LEARNING_RATE = 0.032
BATCH_SIZE = 32
TOP_K = 5
NETWORKS = ("resnet50", "resnet18", "resnet_small")


def options(description):
    """What training and evaluation share."""
    found = argparse.ArgumentParser(description=description)
    found.add_argument("--images", type=Path, default=Path("images"), help="the folder that images.py wrote")
    found.add_argument("--network", choices=NETWORKS, default="resnet50")
    found.add_argument("--batch-size", type=int, default=BATCH_SIZE, help="of one process")
    found.add_argument("--weights", metavar="FILE", help="start from these weights")
    return found


def train_options(description):
    """What training alone takes."""
    found = options(description)
    found.add_argument("--epochs", type=int, default=3, help="which is also the length of the schedule")
    found.add_argument("--steps", type=int, metavar="N", help="stop after N steps; the schedule keeps its length")
    found.add_argument("--lr", type=float, default=LEARNING_RATE, help="at the start")
    found.add_argument("--seed", type=int, default=0, help="of the initial weights and of the samples' order")
    found.add_argument("--save", metavar="FILE", help="write the weights at the end")
    return found


def report(epoch, step, loss, rank):
    """One line of the log."""
    if rank == 0:
        print(f"epoch {epoch} step {step} loss {loss:.6f}", flush=True)
