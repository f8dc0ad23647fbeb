"""What the cases mnist_* share: the initial checkpoint, ten batches, and the forward tensors and gradients of step 1."""

import numpy as np

import network
from reference_lib import generate_shared


def batches():
    """Blobs whose place tells their class, a fifth of them mislabelled, so that the loss stays away from 0."""
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 10, (10, 8))
    images = rng.integers(0, 40, (10, 8, 28, 28))
    for i in np.ndindex(labels.shape):
        row, column = 2 + 5 * (labels[i] // 2), 4 + 12 * (labels[i] % 2)
        images[i][row:row + 5, column:column + 10] += 200
    labels = np.where(rng.random(labels.shape) < 0.2, rng.integers(0, 10, labels.shape), labels)
    return {"features/image": images.astype(np.uint8), "labels": labels.astype(np.int32)}


generate_shared(__file__, network.loss, batches(), forward_ops={"BiasAdd", "Relu", "MaxPool"})
