"""Everything that differs between a single process and a job started by msrun."""

import os

from mindspore import nn, ops


def setup():
    """(rank, world). Communication is only touched when a launcher has set the environment."""
    if int(os.environ.get("MS_WORKER_NUM", "1")) > 1:
        import mindspore as ms
        from mindspore.communication import get_group_size, get_rank, init

        init()
        ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
        return get_rank(), get_group_size()
    return 0, 1


def grad_reducer(params, world):
    """Averages over the ranks; in a single process there is nothing to average."""
    if world == 1:
        return ops.identity
    return nn.DistributedGradReducer(params, mean=True, degree=world)
