import copy

import torch


class ModelEma:
    """Exponential moving average of weights; buffers (BatchNorm statistics) are copied."""

    def __init__(self, model, decay):
        self.decay = decay
        self.module = copy.deepcopy(model).eval()
        for p in self.module.parameters():
            p.requires_grad_(False)
        self.updates = 0

    @torch.no_grad()
    def update(self, model):
        self.updates += 1
        d = min(self.decay, (1 + self.updates) / (10 + self.updates))
        for avg, new in zip(self.module.parameters(), model.parameters()):
            avg.lerp_(new.detach(), 1 - d)
        for avg, new in zip(self.module.buffers(), model.buffers()):
            avg.copy_(new)
