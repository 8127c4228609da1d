"""The checklist: an item is a folder, found by walking this package; engine asks, evidence is what several read."""
