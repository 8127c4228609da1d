"""The options both training scripts share."""

import argparse


def parser(description):
    """An argument parser with everything but what one framework's script adds."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument("--epochs", type=int, default=3)
    options.add_argument("--steps", type=int, default=None, metavar="N", help="stop after N training steps")
    options.add_argument("--batch-size", type=int, default=32)
    options.add_argument("--lr", type=float, default=0.02)
    options.add_argument("--seed", type=int, default=0, help="of the initial weights and of the samples' order")
    options.add_argument("--no-shuffle", action="store_true", help="take the samples in the order of the file")
    options.add_argument("--weights", metavar="FILE.npz", help="start from these weights (torch's names)")
    options.add_argument("--save-weights", metavar="FILE.npz", help="write the weights at the end (torch's names)")
    return options
