"""What a difference between two scripts is about."""

from __future__ import annotations

from enum import StrEnum


class Subject(StrEnum):
    """The part of a training that a difference changes."""

    # Samples: which, in which order, and how they are prepared.
    SAMPLES = "samples"
    DRAWN_SAMPLES = "samples drawn by another seed or in another number"
    HELD_OUT_SAMPLES = "held-out samples"
    MISSING_VALUES = "missing values"
    LABELS = "labels"
    LABEL_SHIFT = "labels against inputs"
    CLASS_BALANCE = "class balance"
    ORDER = "order of samples"
    SHARDING = "sharding"
    WORKERS = "randomness of workers"
    INPUT_SCALE = "scale of inputs"
    EVALUATION_SCALE = "scale of inputs in evaluation"
    EVALUATION_AUGMENTATION = "augmentation in evaluation"
    AUGMENTATION = "augmentation"
    PADDING = "padding and masks"
    # The network and its weights.
    NETWORK = "network"
    ARGUMENT = "argument of a layer, loss or optimizer"
    AXIS = "axis"
    MODE = "train and eval mode"
    EVALUATION_BEHAVIOUR = "layers that act in evaluation"
    INITIAL_WEIGHTS = "initial weights"
    LOADED_WEIGHTS = "loaded weights"
    SHARED_WEIGHTS = "shared weights"
    TIED_WEIGHTS = "tied weights"
    UNUSED_WEIGHTS = "unused weights"
    # The loss and what is measured.
    LOSS = "loss"
    DETACHED_LOSS = "gradient of the loss"
    GRADIENT_PENALTY = "gradient penalty"
    MEAN = "mean over an evaluation"
    # Gradients and the update.
    TRAINED_PARAMETERS = "trained parameters"
    FROZEN_PARAMETERS = "parameters that the benchmark freezes"
    STALE_PARAMETERS = "parameters of a network that was replaced"
    PARAMETER_GROUPS = "parameter groups"
    CLEARED_GRADIENTS = "cleared gradients"
    ACCUMULATION = "gradient accumulation"
    CLIPPING = "gradient clipping"
    UPDATE = "update"
    RANKS = "ranks"
    # Hyper-parameters.
    LEARNING_RATE = "learning rate"
    EPOCHS = "epochs"
    BATCH_SIZE = "batch size"
    FULL_BATCH = "the whole set as one batch"
    SCHEDULE = "schedule"
    SCHEDULE_LENGTH = "length of the schedule"
    # Precision.
    NUMERIC_RANGE = "numeric range"
    LOSS_SCALE = "loss scale"
