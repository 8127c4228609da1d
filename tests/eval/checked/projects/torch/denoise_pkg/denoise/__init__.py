"""Denoising autoencoder for 12x12 patches."""
