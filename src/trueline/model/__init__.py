"""The nouns and the contract; standard library only."""
