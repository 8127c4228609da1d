"""A small EfficientNet for 32-pixel pictures, in torch."""

import torch
import torch.nn.functional as F
from torch import nn


class ConvBNAct(nn.Sequential):
    """Convolution, batch norm, SiLU."""

    def __init__(self, cin: int, cout: int, kernel: int, stride: int = 1, groups: int = 1, act: bool = True) -> None:
        layers: list[nn.Module] = [
            nn.Conv2d(cin, cout, kernel, stride, padding=(kernel - 1) // 2, groups=groups, bias=False),
            nn.BatchNorm2d(cout, eps=1e-3, momentum=0.01),
        ]
        if act:
            layers.append(nn.SiLU(inplace=True))
        super().__init__(*layers)


class SqueezeExcite(nn.Module):
    """Scales each channel by what the whole picture says."""

    def __init__(self, width: int, squeezed: int) -> None:
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(width, squeezed, 1)
        self.fc2 = nn.Conv2d(squeezed, width, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The scaled map."""
        scale = self.fc2(F.silu(self.fc1(self.avgpool(x))))
        return torch.sigmoid(scale) * x


class StochasticDepth(nn.Module):
    """Drops the branch of whole samples in training."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The branch, or zero."""
        if not self.training or self.p == 0.0:
            return x
        keep = 1 - self.p
        noise = torch.empty(x.shape[0], 1, 1, 1, dtype=x.dtype, device=x.device).bernoulli_(keep)
        return x * noise / keep


class MBConv(nn.Module):
    """Inverted bottleneck with squeeze and excite."""

    def __init__(self, cin: int, cout: int, kernel: int, stride: int, expand: int, drop: float) -> None:
        super().__init__()
        hidden = cin * expand
        layers: list[nn.Module] = []
        if expand != 1:
            layers.append(ConvBNAct(cin, hidden, 1))
        layers.append(ConvBNAct(hidden, hidden, kernel, stride, groups=hidden))
        layers.append(SqueezeExcite(hidden, max(1, cin // 4)))
        layers.append(ConvBNAct(hidden, cout, 1, act=False))
        self.block = nn.Sequential(*layers)
        self.stochastic_depth = StochasticDepth(drop)
        self.use_residual = stride == 1 and cin == cout

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The block, plus its input where the shapes allow."""
        out = self.block(x)
        return x + self.stochastic_depth(out) if self.use_residual else out


class EfficientNet(nn.Module):
    """Stem, five MBConv blocks, head."""

    def __init__(self, classes: int = 12) -> None:
        super().__init__()
        self.features = nn.Sequential(
            ConvBNAct(3, 8, 3, 2),
            MBConv(8, 8, 3, 1, 1, 0.0),
            MBConv(8, 12, 3, 2, 4, 0.05),
            MBConv(12, 12, 5, 1, 4, 0.1),
            MBConv(12, 20, 5, 2, 4, 0.15),
            MBConv(20, 20, 3, 1, 4, 0.2),
            ConvBNAct(20, 48, 1),
        )
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(48, classes))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out")
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
            elif isinstance(module, nn.Linear):
                bound = module.out_features**-0.5
                nn.init.uniform_(module.weight, -bound, bound)
                nn.init.zeros_(module.bias)
        self.features[0].requires_grad_(False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits."""
        x = self.avgpool(self.features(x))
        return self.classifier(torch.flatten(x, 1))


def build() -> nn.Module:
    """The network; its stem is frozen, as for fine-tuning."""
    return EfficientNet()
