from mindspore import nn

LATENT = 4


def generator(width=32):
    return nn.SequentialCell(nn.Dense(LATENT, width), nn.LeakyReLU(alpha=0.2), nn.Dense(width, 2))


def discriminator(width=32):
    # raw scores; the sigmoid sits in the loss
    return nn.SequentialCell(
        nn.Dense(2, width), nn.LeakyReLU(alpha=0.2), nn.Dense(width, width), nn.LeakyReLU(alpha=0.2), nn.Dense(width, 1)
    )
