"""Files to nouns and back, one format each; no framework is imported here."""
