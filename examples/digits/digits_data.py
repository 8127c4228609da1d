"""The digits of scikit-learn: 1797 real 8x8 images, split the same way for both frameworks."""

import numpy as np
from sklearn.datasets import load_digits

TEST_SHARE = 5


def load(split_seed=0):
    """(train images, train labels), (test images, test labels): float32 in (N, 1, 8, 8) and int32."""
    digits = load_digits()
    images = (digits.images[:, None] / 16.0).astype(np.float32)
    labels = digits.target.astype(np.int32)
    order = np.random.RandomState(split_seed).permutation(len(labels))
    test, train = np.split(order, [len(order) // TEST_SHARE])
    return (images[train], labels[train]), (images[test], labels[test])


def epoch_order(count, seed, epoch, shuffle=True):
    """The order of an epoch's samples: NumPy's, so that it does not depend on the framework."""
    if not shuffle:
        return np.arange(count)
    return np.random.RandomState(seed + epoch).permutation(count)
