# Five blobs, one small MLP. Everything in one file on purpose, this is the baseline
# the fancier experiments get compared with.
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7)

NUM_CLASSES = 5
DIM = 12
EPOCHS = 4
BATCH = 32

# ---------------------------------------------------------------- data
centers = torch.randn(NUM_CLASSES, DIM) * 1.1
labels = torch.arange(1100) % NUM_CLASSES
points = centers[labels] + torch.randn(1100, DIM)

perm = torch.randperm(len(points))
points, labels = points[perm], labels[perm]
x_train, y_train = points[:800], labels[:800]
x_val, y_val = points[800:], labels[800:]

mu = x_train.mean(dim=0)
sigma = x_train.std(dim=0)
x_train = (x_train - mu) / sigma
x_val = (x_val - mu) / sigma  # statistics of the training part, not its own

train_loader = DataLoader(TensorDataset(x_train, y_train), batch_size=BATCH, shuffle=True)
val_loader = DataLoader(TensorDataset(x_val, y_val), batch_size=128)

# ---------------------------------------------------------------- model
net = nn.Sequential(
    nn.Linear(DIM, 48),
    nn.ReLU(),
    nn.Dropout(0.1),
    nn.Linear(48, 48),
    nn.ReLU(),
    nn.Linear(48, NUM_CLASSES),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.3)

# ---------------------------------------------------------------- training
for epoch in range(EPOCHS):
    net.train()
    running = 0.0
    for xb, yb in train_loader:
        optimizer.zero_grad()
        out = net(xb)
        loss = criterion(out, yb)
        loss.backward()
        optimizer.step()
        running += loss.item() * xb.size(0)
    scheduler.step()

    net.eval()
    val_loss, correct, confidence = 0.0, 0, 0.0
    with torch.no_grad():
        for xb, yb in val_loader:
            out = net(xb)
            val_loss += criterion(out, yb).item() * xb.size(0)
            # softmax only to report how sure the network is, the loss takes logits
            confidence += torch.softmax(out, dim=1).max(dim=1).values.sum().item()
            correct += (out.argmax(dim=1) == yb).sum().item()
    print(
        f"epoch {epoch + 1}: train {running / len(x_train):.4f}  val {val_loss / len(x_val):.4f}  "
        f"acc {correct / len(x_val):.3f}  confidence {confidence / len(x_val):.2f}  lr {scheduler.get_last_lr()[0]:.4f}"
    )
