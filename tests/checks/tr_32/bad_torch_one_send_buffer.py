# run: tr.32
# ranks: 2
"""One buffer for all sends, which is written again before they are over."""

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
x = torch.randn(512, 8)
order = torch.Generator().manual_seed(1)
loader = DataLoader(TensorDataset(x, (x[:, 0] > 0).long()), batch_size=128, shuffle=True, generator=order)
stage = nn.Linear(8, 512) if rank == 0 else nn.Sequential(nn.Tanh(), nn.Linear(512, 2))
optimizer = torch.optim.SGD(stage.parameters(), lr=0.1)
loss_fn = nn.CrossEntropyLoss()
outbox = torch.empty(32, 512)
for _ in range(2):
    for inputs, labels in loader:
        optimizer.zero_grad()
        if rank == 0:
            outputs, handles = [], []
            for part in inputs.chunk(4):
                outputs.append(stage(part))
                outbox.copy_(outputs[-1].detach())
                handles.append(dist.isend(outbox, 1))
            for handle in handles:
                handle.wait()
            for output in outputs:
                gradient = torch.empty_like(output)
                dist.recv(gradient, 1)
                output.backward(gradient)
        else:
            gradients = []
            for part in labels.chunk(4):
                hidden = torch.empty(len(part), 512)
                dist.recv(hidden, 0)
                hidden.requires_grad_()
                loss = loss_fn(stage(hidden), part) / 4
                loss.backward()
                gradients.append(hidden.grad)
            for gradient in gradients:
                dist.send(gradient, 0)
        optimizer.step()
dist.destroy_process_group()
