"""A script beside its benchmark's: what differs, by the item that it breaks."""
