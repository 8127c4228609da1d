"""How both PointNets are trained; MindSpore is the benchmark."""

import numpy as np

steps_per_epoch = 6
epochs = 4
port_schedule_per = "epoch"
WEIGHTS = (1.0, 2.0, 0.5, 1.0, 1.5, 1.0, 3.0, 0.7)


def batches():
    """Three labelled batches of clouds."""
    draw = np.random.default_rng(21)
    return [(draw.standard_normal((4, 3, 40)).astype(np.float32), draw.integers(0, 8, 4)) for _ in range(3)]


def bench_loss():
    """Weighted negative log likelihood."""
    import mindspore
    from mindspore import nn

    nll = nn.NLLLoss(weight=mindspore.Tensor(np.array(WEIGHTS, np.float32)))
    return lambda scores, labels: nll(scores, labels.astype(mindspore.int32))


def port_loss():
    """Weighted negative log likelihood."""
    import torch

    return torch.nn.NLLLoss(weight=torch.tensor(WEIGHTS))


def bench_optimizer(model):
    """Momentum with one rate for all."""
    from mindspore import nn

    return nn.Momentum(model.trainable_params(), learning_rate=0.02, momentum=0.9)


def port_optimizer(model):
    """SGD with momentum."""
    import torch

    return torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)


def bench_schedule(optimizer):
    """Half the rate after each two epochs, one rate for each step."""
    return [0.02 * 0.5 ** (step // steps_per_epoch // 2) for step in range(steps_per_epoch * epochs)]


def port_schedule(optimizer):
    """Half the rate after each two epochs."""
    import torch

    return torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)


def clouds():
    """Ten raw clouds (points, 3) with labels."""
    draw = np.random.default_rng(22)
    return [(draw.uniform(-2, 5, (40, 3)).astype(np.float32), int(draw.integers(0, 8))) for _ in range(10)]


def prepared(cloud):
    """Centred, inside the unit ball, coordinates first."""
    cloud = cloud - cloud.mean(axis=0)
    cloud = cloud / np.sqrt((cloud**2).sum(axis=1)).max()
    return np.ascontiguousarray(cloud.T)


def bench_dataset():
    """Batches of four in order, the last one smaller."""
    from mindspore.dataset import GeneratorDataset

    rows = [(prepared(cloud), np.int32(label)) for cloud, label in clouds()]
    return GeneratorDataset(rows, ["points", "label"], shuffle=False).batch(4, drop_remainder=False)


def port_dataset():
    """Batches of four in order, the last one smaller."""
    import torch

    rows = []
    for cloud, label in clouds():
        points = torch.from_numpy(cloud)
        points = points - points.mean(dim=0)
        points = points / points.norm(dim=1).max()
        rows.append((points.t().contiguous(), label))
    return torch.utils.data.DataLoader(rows, batch_size=4, shuffle=False, drop_last=False)
