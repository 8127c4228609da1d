import random

import torch

PAD, BOS, EOS = 0, 1, 2
FIRST, N_SYMBOLS = 3, 8
SIZE = FIRST + N_SYMBOLS


def make_pairs(n, seed, lo=2, hi=5):
    rnd = random.Random(seed)
    out = []
    for _ in range(n):
        src = [rnd.randrange(FIRST, SIZE) for _ in range(rnd.randint(lo, hi))]
        out.append((src, src[::-1]))
    return out


def _pad(rows):
    width = max(map(len, rows))
    return torch.tensor([r + [PAD] * (width - len(r)) for r in rows])


def collate(pairs):
    """src, decoder input (BOS y1 y2 ..), decoder target (y1 y2 .. EOS)"""
    src = _pad([s for s, _ in pairs])
    dec_in = _pad([[BOS, *t] for _, t in pairs])
    dec_out = _pad([[*t, EOS] for _, t in pairs])
    return src, dec_in, dec_out
