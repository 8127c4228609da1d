# surface defect detection (very unbalanced binary/multi class), reports macro F1
import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

num_classes = 4
batch_size = 20
epochs = 3


def surface_patches(n, seed):
    rng = np.random.RandomState(seed)
    label = rng.choice(num_classes, n, p=[0.7, 0.15, 0.1, 0.05])
    img = 1.2 * rng.standard_normal((n, 1, 20, 20))
    for i, c in enumerate(label):
        if c == 1:
            img[i, 0, 8:12, :] += 1.0
        elif c == 2:
            img[i, 0, :, 8:12] += 1.0
        elif c == 3:
            img[i, 0, 6:14, 6:14] += 1.0
    return img.astype(np.float32), label.astype(np.int64)


class DefectNet(nn.Module):
    def __init__(self):
        super(DefectNet, self).__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 12, 5, stride=2),
            nn.BatchNorm2d(12),
            nn.ReLU(),
            nn.Conv2d(12, 24, 3),
            nn.BatchNorm2d(24),
            nn.ReLU(),
        )
        self.classifier = nn.Sequential(nn.Dropout(p=0.4), nn.Linear(24 * 6 * 6, num_classes))

    def forward(self, x):
        x = self.features(x)
        x = x.view(x.size(0), -1)
        return self.classifier(x)


def f1_score(pred, true):
    scores = []
    for c in range(num_classes):
        tp = ((pred == c) & (true == c)).sum()
        fp = ((pred == c) & (true != c)).sum()
        fn = ((pred != c) & (true == c)).sum()
        scores.append(2 * tp / max(2 * tp + fp + fn, 1))
    return np.mean(scores)


def predict(net, images):
    net.eval()
    outputs = []
    with torch.no_grad():
        for i in range(0, len(images), batch_size):
            logits = net(torch.from_numpy(images[i:i + batch_size]))
            outputs.append(torch.argmax(logits, dim=1).numpy())
    return np.concatenate(outputs)


torch.manual_seed(4)
train_x, train_y = surface_patches(300, 0)
val_x, val_y = surface_patches(100, 1)
class_count = np.bincount(train_y, minlength=num_classes)
class_weight = torch.tensor(len(train_y) / (num_classes * class_count), dtype=torch.float32)

net = DefectNet()
criterion = nn.CrossEntropyLoss(weight=class_weight)
optimizer = optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
shuffle_rng = np.random.RandomState(9)

for epoch in range(epochs):
    net.train()
    perm = shuffle_rng.permutation(len(train_x))
    for i in range(0, len(perm), batch_size):
        idx = perm[i:i + batch_size]
        optimizer.zero_grad()
        loss = criterion(net(torch.from_numpy(train_x[idx])), torch.from_numpy(train_y[idx]))
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f} macro-F1 {f1_score(predict(net, val_x), val_y):.4f}")
