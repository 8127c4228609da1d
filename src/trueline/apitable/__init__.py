"""Which layer, argument and function of one framework is which of the other, what it does, and the data that says so."""

from trueline.apitable.layers import Layer, keeps_torch_names, layer_of_class, layers

__all__ = ["Layer", "keeps_torch_names", "layer_of_class", "layers"]
