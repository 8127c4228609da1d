import numpy as np

WORDS = "<pad> the film was plot acting a bit very good great lovely fun bad dull awful slow".split()
VOCAB = {w: i for i, w in enumerate(WORDS)}
GOOD, BAD = WORDS[9:13], WORDS[13:17]
FILLER = WORDS[1:9]


class ReviewDataset:
    """Short synthetic reviews, padded on the right with <pad> = 0."""

    columns = ["input_ids", "attention_mask", "labels"]

    def __init__(self, n, seed, max_length=8):
        rng = np.random.default_rng(seed)
        self.examples = []
        for i in range(n):
            label = i % 2
            words = list(rng.choice(FILLER, rng.integers(2, 6))) + list(rng.choice(GOOD if label else BAD, 2))
            rng.shuffle(words)
            ids = [VOCAB[w] for w in words]
            gap = max_length - len(ids)
            row = np.array(ids + [0] * gap, np.int32)
            mask = np.array([1.0] * len(ids) + [0.0] * gap, np.float32)
            self.examples.append((row, mask, np.int32(label)))

    def __len__(self):
        return len(self.examples)

    def __getitem__(self, idx):
        return self.examples[idx]
