"""Every name of the table of functions is of a framework, of NumPy, of Python, or of a library that is named."""

from __future__ import annotations

import argparse
import builtins
import collections
import copy
import gc
import glob
import io
import logging
import math
import os
import pathlib
import random
import statistics
import time
import warnings
from typing import Any

import mindspore as ms
import mindspore.communication
import mindspore.dataset.vision
import mindspore.experimental.optim
import mindspore.mint.distributed
import mindspore.mint.nn.functional
import mindspore.train
import numpy as np
import pytest
import torch
import torch.distributed.fsdp
import torch.nn.utils.rnn
import torch.utils.data
from mindspore import dataset, mint

from trueline.apitable.functions import functions

PYTHON = [
    *(builtins, math, statistics, random, os, os.path, glob, pathlib, pathlib.Path, collections, logging, time, gc),
    *(copy, str, bytes, dict, list, set, io.TextIOBase, argparse, argparse.ArgumentParser),
]
NUMPY = [np, np.ndarray, np.random, np.random.Generator, np.linalg, np.ma]
TORCH = [
    *(torch, torch.Tensor, torch.linalg, torch.nn, torch.nn.functional, torch.nn.Module, torch.nn.SyncBatchNorm),
    *(torch.nn.init, torch.nn.parallel, torch.nn.utils.rnn, torch.utils.data, torch.utils.data.DistributedSampler),
    *(torch.optim, torch.optim.lr_scheduler, torch.amp, torch.amp.GradScaler, torch.cuda, torch.distributed),
]
MINDSPORE = [
    *(ms, ms.Tensor, ms.Parameter, ms.nn, ms.nn.Cell, ms.ops, ms.amp, ms.train, ms.common.initializer),
    *(ms.communication, ms.experimental.optim, mint, mint.nn, mint.nn.functional, mint.distributed),
    *(dataset, dataset.GeneratorDataset, dataset.vision, dataset.transforms),
]
# Of libraries that the tests do without, of older versions, and of devices.
ELSEWHERE = {
    "scikit-learn": "accuracy_score balanced_accuracy_score compute_class_weight SimpleImputer KNNImputer "
    "StandardScaler MinMaxScaler RobustScaler MaxAbsScaler PowerTransformer transform fit_transform",
    "imbalanced-learn": "RandomOverSampler SMOTE",
    "torchmetrics": "accuracy multiclass_accuracy binary_accuracy",
    "pandas": "fillna dropna isna notna notnull",
    "torchvision": "to_tensor convert_image_dtype to_dtype ConvertImageDtype ToDtype RandomSizedCrop",
    "timm, torch_optimizer": "Lion LAMB AdaBelief",
    "transformers": "get_linear_schedule_with_warmup get_cosine_schedule_with_warmup",
    "accelerate": "process_index",
    "safetensors": "load_file",
    "tqdm": "tqdm trange set_description set_postfix",
    "tensorboard": "add_scalar",
    "natsort": "natsorted",
    "model averaging of torch": "average_parameters",
    "older MindSpore": "batch_matmul l2_normalize Thor get_dataset_iterator cache unscale",
    "an alias of scripts": "log_sigmoid rescale standardize per_image_standardization npu",
    "a statement": "assert",
}


def is_somewhere(name: str) -> bool:
    places: list[Any] = [*PYTHON, *NUMPY, *TORCH, *MINDSPORE]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return any(name in place if isinstance(place, dict) else hasattr(place, name) for place in places)


UNKNOWN = {name for row in functions() for name in (*row.names, *row.classes) if not is_somewhere(name)}
KNOWN_ELSEWHERE = {name for names in ELSEWHERE.values() for name in names.split()}


def test_every_name_is_a_librarys() -> None:
    assert set() == UNKNOWN - KNOWN_ELSEWHERE


def test_what_is_of_elsewhere_is_in_the_table() -> None:
    assert {name for row in functions() for name in (*row.names, *row.classes)} >= KNOWN_ELSEWHERE


@pytest.mark.parametrize("framework", [torch, ms], ids=lambda framework: framework.__name__)
def test_whole_names_of_a_framework_lead_somewhere(framework: Any) -> None:
    names = [name for row in functions() for name in row.full if name.startswith(f"{framework.__name__}.")]
    assert len(names) >= 10
    for name in names:
        found = framework
        for part in name.split(".")[1:]:
            found = getattr(found, part)
