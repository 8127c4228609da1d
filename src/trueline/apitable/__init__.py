"""What a layer, argument or function is called in both frameworks, what it does, and the data that says so."""

from trueline.apitable.layers import Layer, keeps_torch_names, layer_of_class, layers

__all__ = ["Layer", "keeps_torch_names", "layer_of_class", "layers"]
