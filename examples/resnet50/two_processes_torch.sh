#!/bin/sh
# Trains with PyTorch on two processes; the options are train_torch.py's.
exec torchrun --standalone --nproc_per_node=2 "$(dirname "$0")/train_torch.py" "$@"
