"""Evaluates trained weights with PyTorch: ``python eval_torch.py --weights FILE.pth``."""

import resnet_torch
import torch
from data_torch import val_loader
from recipe import TOP_K, options


def accuracy(logits, labels):
    """The share of images with fewer than K scores above that of their class, for K = 1 and for TOP_K."""
    above = (logits > logits.gather(1, labels.long()[:, None])).sum(1)
    return {f"top{k}": (above < k).float().mean().item() for k in (1, TOP_K)}


@torch.no_grad()
def main():
    asked = options(__doc__).parse_args()
    model = getattr(resnet_torch, asked.network)()
    if asked.weights:
        model.load_state_dict(torch.load(asked.weights, weights_only=True))
    model.eval()
    found = [(model(images), labels) for images, labels in val_loader(asked.images, asked.batch_size)]
    logits, labels = (torch.cat(parts) for parts in zip(*found, strict=True))
    print(" ".join(f"{name} {value:.4f}" for name, value in accuracy(logits, labels).items()))


if __name__ == "__main__":
    main()
