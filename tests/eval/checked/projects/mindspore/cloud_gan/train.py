"""GAN on an off-centre blob of points. Two networks, two optimizers, alternating updates."""

import numpy as np
import mindspore as ms
import mindspore.dataset as ds
from mindspore import Tensor, nn, ops

from nets import LATENT, discriminator, generator

ms.set_seed(0)
np_rng = np.random.default_rng(0)

EPOCHS, BATCH = 3, 32


def cloud(n):
    base = np_rng.normal(size=(n, 2)) @ np.array([[0.4, 0.2], [0.0, 0.3]])
    return (base + np.array([1.2, -0.8])).astype(np.float32)


def noise(n):
    return Tensor(np_rng.normal(size=(n, LATENT)).astype(np.float32))


G, D = generator(), discriminator()
# prefixes keep the names apart when both end up in one checkpoint
G.update_parameters_name("G.")
D.update_parameters_name("D.")
opt_g = nn.Adam(G.trainable_params(), learning_rate=2e-3, beta1=0.5, beta2=0.99)
opt_d = nn.Adam(D.trainable_params(), learning_rate=2e-3, beta1=0.5, beta2=0.99)
bce = nn.BCEWithLogitsLoss()


def d_loss(real, z):
    fake = ops.stop_gradient(G(z))  # the generator is not to be moved by this one
    s_real, s_fake = D(real), D(fake)
    return bce(s_real, ops.ones_like(s_real)) + bce(s_fake, ops.zeros_like(s_fake))


def g_loss(z):
    score = D(G(z))
    return bce(score, ops.ones_like(score))


d_grad = ms.value_and_grad(d_loss, None, opt_d.parameters)
g_grad = ms.value_and_grad(g_loss, None, opt_g.parameters)


def gap(points):
    """distance between the mean of the samples and of held-out points"""
    G.set_train(False)
    fake = G(noise(256)).asnumpy()
    G.set_train(True)
    return float(np.linalg.norm(fake.mean(0) - points.mean(0)))


def main():
    real = ds.NumpySlicesDataset({"p": cloud(256)}, shuffle=True).batch(BATCH, drop_remainder=True)
    held_out = cloud(128)
    G.set_train(True)
    D.set_train(True)
    print(f"start: gap {gap(held_out):.3f}")
    it = real.create_tuple_iterator(num_epochs=EPOCHS)
    for epoch in range(EPOCHS):
        hist = []
        for (points,) in it:
            ld, grads = d_grad(points, noise(len(points)))
            opt_d(grads)
            lg, grads = g_grad(noise(len(points)))
            opt_g(grads)
            hist.append((float(ld.asnumpy()), float(lg.asnumpy())))
        ld, lg = np.mean(hist, axis=0)
        print(f"epoch {epoch}: D {ld:.3f}  G {lg:.3f}  gap {gap(held_out):.3f}")


if __name__ == "__main__":
    main()
