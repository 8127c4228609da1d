"""A script that ends without some of its standard streams, in the way that its argument says."""

import os
import sys

import torch

ENDING = sys.argv[1]
weight = torch.zeros(2, requires_grad=True)
optimizer = torch.optim.SGD([weight], 0.1)
for _ in range(3):
    optimizer.zero_grad()
    ((weight - 1) ** 2).sum().backward()
    optimizer.step()
print("trained")
if ENDING == "both streams closed":
    sys.stdout.close()
    sys.stderr.close()
elif ENDING == "stdout's descriptor closed with a line in the buffer":
    os.close(1)
elif ENDING == "both descriptors closed":
    sys.stdout.flush()
    os.closerange(1, 3)
elif ENDING == "no stderr, and a last word":
    sys.stderr = None
    sys.exit("enough")
elif ENDING == "stderr closed, and an error":
    sys.stderr.close()
    raise ValueError
elif ENDING == "printed after stdout was closed":
    sys.stdout.close()
    print("more")
