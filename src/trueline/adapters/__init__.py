"""One folder per framework, files of the same names with the same verbs; a framework is never imported to find out."""

from trueline.adapters.registry import FRAMEWORKS, adapter_of, adapters_present

__all__ = ["FRAMEWORKS", "adapter_of", "adapters_present"]
