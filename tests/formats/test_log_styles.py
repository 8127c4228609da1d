"""The loss and its steps are found in the styles of log that trainers print."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from trueline.formats.log import read_log
from trueline.model.curve import Curve


def _read(tmp_path: Path, text: str) -> dict[str, Curve]:
    path = tmp_path / "train.log"
    path.write_text(text, encoding="utf-8", newline="")
    return {curve.name: curve for curve in read_log(path)}


# Each style three times over, so that what was learned of its first lines is used on the others.
STYLES = {
    "MindSpore LossMonitor": (
        "".join(f"epoch: {e} step: {s}, loss is {9 - e - s / 10}\n" for e in (1, 2) for s in (1, 2, 3, 4)),
        [1, 2, 3, 4, 5, 6, 7, 8],
        [9 - e - s / 10 for e in (1, 2) for s in (1, 2, 3, 4)],
    ),
    "MindSpore with totals": (
        "".join(
            f"Train epoch time: 1234.5 ms, per step time: 2.4 ms\nEpoch:[{e:3}/ 90], step:[{s:5}/  500], "
            f"loss:[{e}.{s}/3.351], time:12.5, lr:0.1\n"
            for e in (1, 2)
            for s in (100, 200)
        ),
        [100, 200, 600, 700],
        [1.1, 1.2, 2.1, 2.2],
    ),
    "brackets": (
        "".join(
            f"Epoch [{e}/90][{s}/500]\tTime 0.5 (0.6)\tLoss {e}.{s} (6.95)\n" for e in (1, 2) for s in (10, 20, 30)
        ),
        [10, 20, 30, 510, 520, 530],
        [1.1, 1.2, 1.3, 2.1, 2.2, 2.3],
    ),
    "torch imagenet": (
        "".join(
            f"Epoch: [{e}][{s:5}/5005]\tTime  0.45 ( 0.91)\tData  0.00 ( 0.34)\t"
            f"Loss {e}.0{s:02}0e+00 (6.95e+00)\tAcc@1   0.39 (  0.14)\n"
            for e in (0, 1)
            for s in (10, 20, 30)
        ),
        [10, 20, 30, 5015, 5025, 5035],
        [0.01, 0.02, 0.03, 1.01, 1.02, 1.03],
    ),
    "torch mnist": (
        "".join(f"Train Epoch: {e} [{s}/60000 ({s // 600}%)]\tLoss: 0.{e}{s}\n" for e in (1, 2) for s in (640, 1280)),
        [640, 1280, 60640, 61280],
        [0.1640, 0.11280, 0.2640, 0.21280],
    ),
    "torch tutorial": (
        "".join(f"[{e}, {s:5}] loss: {e}.{s}\n" for e in (1, 2) for s in (2000, 4000, 6000)),
        [2000, 4000, 6000, 8000, 10000, 12000],
        [1.2, 1.4, 1.6, 2.2, 2.4, 2.6],
    ),
    "nanoGPT": (
        "step 0: train loss 4.3, val loss 4.4\n"
        + "".join(f"iter {s}: loss {4 - s / 100:.4f}, time 123.45ms, mfu -100.00%\n" for s in (0, 10, 20, 30)),
        [0, 10, 20, 30],
        [4.0, 3.9, 3.8, 3.7],
    ),
    "equal signs": (
        "".join(f"iter {s}: loss=2.{s}, lr=1e-3\n" for s in (100, 200, 300)),
        [100, 200, 300],
        [2.1, 2.2, 2.3],
    ),
    "both losses": (
        "".join(f"step={s} train_loss=0.{s} val_loss=0.7\n" for s in (12, 13, 14)),
        [12, 13, 14],
        [0.12, 0.13, 0.14],
    ),
    "dates and levels": (
        "".join(f"[2024-01-01 10:00:0{s}] INFO train.py:31 | loss: 1.{s}e-3\n" for s in (1, 2, 3)),
        [0, 1, 2],
        [1.1e-3, 1.2e-3, 1.3e-3],
    ),
    "mmengine": (
        "".join(
            f"2024/01/01 10:00:00 - mmengine - INFO - Epoch(train)  [{e}][{s:4}/1000]  lr: 1.0000e-02  eta: 0:10:00  "
            f"time: 0.5  data_time: 0.1  memory: 2000  grad_norm: 3.1  loss: {e}.{s}  loss_cls: 0.5  loss_bbox: 0.4\n"
            for e in (1, 2)
            for s in (50, 100, 150)
        )
        + "2024/01/01 10:09:00 - mmengine - INFO - Epoch(val)  [2][100/100]  accuracy/top1: 75.1  loss: 9.5\n",
        [50, 100, 150, 1050, 1100, 1150],
        [1.5, 1.1, 1.15, 2.5, 2.1, 2.15],
    ),
    "Megatron": (
        "".join(
            f" [2024-01-01 10:00:00] iteration {s:8}/     500 | consumed samples:          160 | "
            f"elapsed time per iteration (ms): 123.4 | learning rate: 1.500E-04 | global batch size:    16 | "
            f"lm loss: 1.{s}E+01 | loss scale: 1.0 | grad norm: 1.234 | number of skipped iterations:   0 |\n"
            for s in (10, 20, 30)
        )
        + " validation loss at iteration 30 | lm loss value: 5.3E+00 | lm loss PPL: 2.0E+02 |\n",
        [10, 20, 30],
        [11.0, 12.0, 13.0],
    ),
    "MindFormers": (
        "".join(
            f"2024-01-01 10:00:00,123 - mindformers[callback.py:314] - INFO - {{ Epoch:[  {e}/  2], step:[{s:5}/ 50], "
            f"loss: 1{e}.{s}, per_step_time: 5000ms, lr: 1e-06, overflow cond: False, loss_scale: 65536.0\n"
            for e in (1, 2)
            for s in (2, 4, 6)
        ),
        [2, 4, 6, 52, 54, 56],
        [11.2, 11.4, 11.6, 12.2, 12.4, 12.6],
    ),
    "detectron2": (
        "".join(
            f"[01/01 10:00:00 d2.utils.events]:  eta: 0:10:00  iter: {s}  total_loss: 2.{s}  loss_cls: 0.9  "
            f"loss_box_reg: 0.8  time: 0.3  lr: 0.0002  max_mem: 2000M\n"
            for s in (19, 39, 59)
        ),
        [19, 39, 59],
        [2.19, 2.39, 2.59],
    ),
    "fairseq": (
        "".join(
            f"2024-01-01 10:00:00 | INFO | train_inner | epoch 00{e}:  {s:5} / 500 loss={e}.{s}, nll_loss=7.1, "
            f"wps=1000, num_updates={(e - 1) * 500 + s}, lr=0.0001, gnorm=1.2\n"
            for e in (1, 2)
            for s in (100, 200)
        ),
        [100, 200, 600, 700],
        [1.1, 1.2, 2.1, 2.2],
    ),
    "Paddle": (
        "".join(
            f"global step {s}, epoch: {1 + s // 20}, batch: {s % 20}, loss: 0.{s}, speed: 1.2 step/s\n"
            for s in (10, 20, 30)
        ),
        [10, 20, 30],
        [0.1, 0.2, 0.3],
    ),
    "Keras with bars": (
        "".join(
            f"Epoch {e}/5\n\r  1/469 [......] - ETA: 1:00 - loss: 9.{e}\r469/469 [======] - 3s 7ms/step - loss: 0.{e} "
            f"- accuracy: 0.92 - val_loss: 0.3\n"
            for e in (1, 2, 3)
        ),
        [1, 469, 470, 938, 939, 1407],
        [9.1, 0.1, 9.2, 0.2, 9.3, 0.3],
    ),
    "Keras without bars": (
        "".join(f"1875/1875 - 3s - loss: 0.{e} - accuracy: 0.92\n" for e in (3, 2, 1)),
        [1875, 3750, 5625],
        [0.3, 0.2, 0.1],
    ),
    "Keras 3": (
        "".join(
            f"Epoch {e}/3\n1875/1875 ━━━━━━━━━━━━━━━━━━━━ 3s 1ms/step - accuracy: 0.87 - loss: 0.{e}\n"
            for e in (1, 2, 3)
        ),
        [1875, 3750, 5625],
        [0.1, 0.2, 0.3],
    ),
    "Lightning": (
        "".join(
            f"\rEpoch {e}:  50%|█████     | {s}/20 [00:01<00:01,  9.50it/s, loss={e}.{s}, v_num=0]"
            for e in (0, 1)
            for s in (5, 10, 15)
        ),
        [5, 10, 15, 25, 30, 35],
        [0.5, 0.1, 0.15, 1.5, 1.1, 1.15],
    ),
    "tqdm": (
        "".join(f"\r {s:3}%|███   | {s}/100 [00:01<00:01,  9.50it/s, loss=0.{s}]" for s in (10, 20, 30)),
        [10, 20, 30],
        [0.1, 0.2, 0.3],
    ),
    "Hugging Face": (
        "Downloading: 100%|███| 570/570 [00:00<00:00]\n"
        + "".join(
            f"\r {s}%|█    | {s}/100 [00:01<00:09, 9.5it/s]\r                    \r"
            f"{{'loss': 2.{s}, 'grad_norm': 1.25, 'learning_rate': 5e-05, 'epoch': 0.{s}}}\n"
            for s in (10, 20, 30)
        )
        + "{'eval_loss': 1.5, 'eval_runtime': 2.5, 'epoch': 1.0}\n"
        + "{'train_runtime': 12.5, 'train_loss': 2.2, 'epoch': 1.0}\n",
        [10, 20, 30],
        [2.1, 2.2, 2.3],
    ),
    "Hugging Face without bars": (
        "".join(f"{{'loss': 2.{s}, 'learning_rate': 5e-05, 'epoch': 0.{s}}}\n" for s in (10, 20, 30)),
        [0, 1, 2],
        [2.1, 2.2, 2.3],
    ),
    "timm": (
        "".join(
            f"Train: {e} [{s:4}/1251 ({s // 13:3}%)]  Loss: {e}.{s} (6.95)  Time: 0.5s, 100.0/s  LR: 1.000e-06\n"
            for e in (0, 1)
            for s in (50, 100)
        )
        + "Test: [  10/48]  Time: 0.5 (0.6)  Loss:  9.5 (9.6)  Acc@1: 1.0\n",
        [50, 100, 1301, 1351],
        [0.5, 0.1, 1.5, 1.1],
    ),
    "DETR": (
        "".join(
            f"Epoch: [{e}]  [{s:4}/5000]  eta: 1:02:03  lr: 0.000100  loss: {e}.{s} (7.0000)  class_error: 90.00\n"
            for e in (0, 1)
            for s in (10, 20)
        ),
        [10, 20, 5010, 5020],
        [0.1, 0.2, 1.1, 1.2],
    ),
    "TensorFlow estimator": (
        "".join(f"INFO:tensorflow:loss = 2.{s}, step = {s} (1.234 sec)\n" for s in (100, 200, 300)),
        [100, 200, 300],
        [2.1, 2.2, 2.3],
    ),
    "sentence": (
        "".join(f"Average loss at step {s}: 4.{s}\n" for s in (2000, 4000, 6000)),
        [2000, 4000, 6000],
        [4.2, 4.4, 4.6],
    ),
    "printed tensors": (
        "".join(f"step {s} loss: tensor(2.{s}, grad_fn=<NllLossBackward0>)\n" for s in (1, 2, 3)),
        [1, 2, 3],
        [2.1, 2.2, 2.3],
    ),
    "printed MindSpore tensors": (
        "".join(f"step {s} loss = Tensor(shape=[], dtype=Float32, value= 2.{s})\n" for s in (1, 2, 3)),
        [1, 2, 3],
        [2.1, 2.2, 2.3],
    ),
    "one line an epoch": (
        "".join(f"Epoch {e}: train loss 0.{e}, val loss 0.5\n" for e in (1, 2, 3)),
        [1, 2, 3],
        [0.1, 0.2, 0.3],
    ),
    "step on a line of its own": (
        "".join(f"--- step {s} ---\n  loss: 0.{s}\n" for s in (7, 8, 9)),
        [7, 8, 9],
        [0.7, 0.8, 0.9],
    ),
    "Chinese words": (
        "".join(f"轮次：1，步数：{s}，损失：2.{s}，学习率：0.01，验证损失：3.5\n" for s in (10, 20, 30)),
        [10, 20, 30],
        [2.1, 2.2, 2.3],
    ),
    "Chinese sentence": (
        "".join(f"第 {e} 轮 第 {s} 步 训练损失为 {e}.{s}\n" for e in (1, 2) for s in (1, 2)),
        [1, 2, 3, 4],
        [1.1, 1.2, 2.1, 2.2],
    ),
    "not finite": (
        "step 1 loss: nan\nstep 2 loss: inf\nstep 3 loss: -inf\nstep 4 loss nan\nstep 5 loss is NaN\nstep 6 loss=1.5\n",
        [1, 2, 3, 4, 5, 6],
        [math.nan, math.inf, -math.inf, math.nan, math.nan, 1.5],
    ),
    "ranks with prefix": (
        "".join(f"[rank{r}]: step {s} loss: {r}.{s}\n" for s in (1, 2, 3) for r in (1, 0)),
        [1, 2, 3],
        [0.1, 0.2, 0.3],
    ),
    "ranks in words": (
        "".join(f"INFO rank {r} | step {s} | loss {r}.{s}\n" for s in (1, 2, 3) for r in (0, 1)),
        [1, 2, 3],
        [0.1, 0.2, 0.3],
    ),
    "colours": (
        "".join(f"\x1b[32mstep\x1b[0m {s} \x1b[1mloss\x1b[0m: 2.{s}\n" for s in (1, 2, 3)),
        [1, 2, 3],
        [2.1, 2.2, 2.3],
    ),
    "Windows line ends": (
        "".join(f"step {s} loss: 2.{s}\r\n" for s in (1, 2, 3)),
        [1, 2, 3],
        [2.1, 2.2, 2.3],
    ),
}


@pytest.mark.parametrize("style", STYLES)
def test_loss_and_steps(tmp_path: Path, style: str) -> None:
    text, steps, values = STYLES[style]
    loss = _read(tmp_path, text)["loss"]
    assert list(loss.steps) == steps
    assert list(loss.values) == pytest.approx(values, nan_ok=True)
