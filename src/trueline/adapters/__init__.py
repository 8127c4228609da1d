"""One folder per framework, with modules of the same names; a framework is never imported to find out if it is used."""

from trueline.adapters.registry import FRAMEWORKS, adapter_of, adapters_present

__all__ = ["FRAMEWORKS", "adapter_of", "adapters_present"]
