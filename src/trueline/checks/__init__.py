"""The checklist: one file per item, found by walking this package."""
