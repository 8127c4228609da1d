from torch import nn


class Autoencoder(nn.Module):
    def __init__(self, width=12, code=24):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, width, 3, stride=2, padding=1),
            nn.LeakyReLU(0.1),
            nn.Conv2d(width, 2 * width, 3, stride=2, padding=1),
            nn.LeakyReLU(0.1),
            nn.Flatten(),
            nn.Linear(2 * width * 9, code),
        )
        self.decoder = nn.Sequential(
            nn.Linear(code, 2 * width * 9),
            nn.LeakyReLU(0.1),
            nn.Unflatten(1, (2 * width, 3, 3)),
            nn.ConvTranspose2d(2 * width, width, 4, stride=2, padding=1),
            nn.LeakyReLU(0.1),
            nn.ConvTranspose2d(width, 1, 4, stride=2, padding=1),
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))
