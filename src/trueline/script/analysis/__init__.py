"""Questions about a trace: loaders, networks, gradients, masks, modes and their like."""
