from .corpus import ReviewDataset
from .modeling import MeanPoolClassifier
from .trainer import Trainer, TrainingArguments

__all__ = ["MeanPoolClassifier", "ReviewDataset", "Trainer", "TrainingArguments"]
