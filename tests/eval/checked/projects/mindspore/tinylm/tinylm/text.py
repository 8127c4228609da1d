import numpy as np

PAD, BOS, EOS = 0, 1, 2
IGNORE = -100
SUBJ = range(3, 7)  # verbs follow at 7..10, objects at 11..14
VOCAB = 16  # one spare id


def sentence(rng):
    """subject, verb (bound to the subject), object (bound to the verb), said one to three times"""
    toks = [BOS]
    for _ in range(int(rng.integers(1, 4))):
        s = int(rng.choice(SUBJ))
        toks += [s, s + 4, s + 8]
    return toks + [EOS]


def encode(toks, length):
    """Right padding. Inputs are toks[:-1], targets toks[1:]; the shift is done here and nowhere else."""
    x = np.full(length, PAD, np.int32)
    y = np.full(length, IGNORE, np.int32)
    n = len(toks) - 1
    x[:n] = toks[:-1]
    y[:n] = toks[1:]
    return x, y


class Corpus:
    def __init__(self, n, seed, length):
        rng = np.random.default_rng(seed)
        self.rows = [encode(sentence(rng), length) for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
