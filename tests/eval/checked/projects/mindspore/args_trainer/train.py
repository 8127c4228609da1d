import mindspore as ms

from reviews import MeanPoolClassifier, ReviewDataset, Trainer, TrainingArguments
from reviews.corpus import VOCAB


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    return {"accuracy": float((logits.argmax(-1) == labels).mean())}


def main():
    ms.set_seed(42)
    trainer = Trainer(
        model=MeanPoolClassifier(len(VOCAB)),
        args=TrainingArguments(learning_rate=3e-2, num_train_epochs=3, weight_decay=0.01),
        train_dataset=ReviewDataset(160, seed=1),
        eval_dataset=ReviewDataset(72, seed=2),
        compute_metrics=compute_metrics,
    )
    trainer.train()


if __name__ == "__main__":
    main()
