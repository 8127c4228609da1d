"""Losses shared by the retrieval experiments."""

import torch


def softmax_loss(logits, target):
    weight = torch.exp(logits)
    total = weight.sum(dim=1, keepdim=True)
    probs = weight / total
    picked = probs.gather(1, target.unsqueeze(1)).squeeze(1)
    return -torch.log(picked).mean()


def accuracy(logits, target):
    return (logits.argmax(dim=1) == target).float().mean().item()
