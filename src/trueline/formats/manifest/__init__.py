"""Lists of files with their sizes and hashes: TrueLine's own JSON, and the text that md5sum and people write."""
