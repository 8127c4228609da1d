"""A recorded run as a folder: what ``writer`` writes, ``reader`` reads, and docs/run-folder.md describes."""
