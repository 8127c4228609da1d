import numpy as np
import mindspore.dataset as ds


class LogStream:
    """Reads like a log file: forward only, no length, no random access.

    Machines report one after the other, so neighbours look alike.
    """

    def __init__(self, rows, seed):
        self.rows, self.seed = rows, seed

    def __iter__(self):
        rng = np.random.default_rng(self.seed)
        for i in range(self.rows):
            state = (i // 8) % 3
            t = np.linspace(0, 1, 20)
            wave = (np.sin(2 * np.pi * 2 * t), 4 * np.abs(t - 0.5) - 1, np.sign(np.sin(2 * np.pi * 3 * t)))[state]
            x = wave * rng.uniform(0.8, 1.2) + 0.4 * rng.standard_normal(20)
            yield x.astype(np.float32)[None, :], np.int32(state)


def open_stream(rows, seed, batch, training):
    data = ds.GeneratorDataset(LogStream(rows, seed), ["signal", "state"], shuffle=False)
    if training:
        # the source cannot be indexed; a buffer of the full length mixes it completely
        data = data.shuffle(buffer_size=rows)
    return data.batch(batch, drop_remainder=training)
