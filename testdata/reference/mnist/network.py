"""The network of models/mnist with fewer filters, for cases that only differ in their optimizer,
and one with dropout. If the environment has REFERENCE_WHOLE_MNIST, it has all filters. Those
references are too large for the repository.
"""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import reference_lib as lib  # noqa: E402
from reference_lib import tf, tf1  # noqa: E402

FILTERS, MORE_FILTERS, UNITS = (32, 64,
                                1024) if "REFERENCE_WHOLE_MNIST" in os.environ else (4, 8, 16)


def batches():
    """Blobs whose place is their class. A fifth has a wrong label, so that the loss does not
    approach 0."""
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 10, (10, 8))
    images = rng.integers(0, 40, (10, 8, 28, 28))
    for i in np.ndindex(labels.shape):
        row, column = 2 + 5 * (labels[i] // 2), 4 + 12 * (labels[i] % 2)
        images[i][row:row + 5, column:column + 10] += 200
    labels = np.where(rng.random(labels.shape) < 0.2, rng.integers(0, 10, labels.shape), labels)
    return {"features/image": images.astype(np.uint8), "labels": labels.astype(np.int32)}


def logits(features, dropout=lambda x: x):
    layers = tf1.layers
    x = tf.cast(tf.reshape(features["image"], [-1, 28, 28, 1]), tf.float32) * (1 / 255)
    x = layers.max_pooling2d(layers.conv2d(x, FILTERS, 5, padding="same", activation=tf.nn.relu), 2,
                             2, padding="same")
    x = layers.max_pooling2d(layers.conv2d(x, MORE_FILTERS, 5, padding="same",
                                           activation=tf.nn.relu), 2, 2, padding="same")
    x = layers.dense(layers.flatten(x), UNITS, activation=tf.nn.relu)
    return layers.dense(dropout(x), 10)


def loss(features, labels):
    return tf1.losses.sparse_softmax_cross_entropy(labels, logits(features))


def generate(case_file, make_optimizer, description, **options):
    """Writes a case of 50 steps: the network of this folder with the optimizer that
    make_optimizer() returns. make_optimizer is called inside the graph, so it may use
    tf1.train.get_global_step() for the learning rate.
    """

    def model_fn(features, labels):
        value = loss(features, labels)
        return lib.Step(loss=value,
                        train_op=make_optimizer().minimize(value, tf1.train.get_global_step()))

    lib.generate(case_file, model_fn, description,
                 shared=os.path.dirname(os.path.abspath(__file__)), **options)
