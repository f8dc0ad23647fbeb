"""What the cases images_* share: Keras' networks at small width, with a training step.

A network is built by Keras' own function, in which the numbers of filters are made smaller
(narrow), or from Keras' layers where Keras has no such function. The names of the variables are
Keras'.
"""

import contextlib
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reference_lib import Step, generate, tf, tf1  # noqa: E402
from narrow import CLASSES, Narrow, layers, replaced, scaled  # noqa: E402,F401

BATCH, STEPS = 16, 5


def enlarge(images, times):
    """Each pixel becomes times x times pixels, so that the recorded images are small. A texture
    makes them differ: equal values would be ties of max pools (README.md)."""
    n, h, w, c = images.shape.as_list()
    x = tf.reshape(images, [n, h, 1, w, 1, c])
    x = tf.reshape(tf.tile(x, [1, 1, times, 1, times, 1]), [n, h * times, w * times, c])
    row, column, channel = np.indices((h * times, w * times, c))
    return x + ((31 * row + 17 * column + 7 * channel + 5 * row * column) % 64).astype(np.float32)


def batches(size, seed):
    rng = np.random.default_rng(seed)
    coarse = rng.uniform(0, 255, (1, BATCH, 4, 4, 3))
    repeat = -(-size // 4)
    images = np.repeat(np.repeat(coarse, repeat, axis=2), repeat, axis=3)[:, :, :size, :size]
    images = images + rng.normal(0, 16, images.shape)
    return {"features": np.clip(np.round(images), 0, 255).astype(np.uint8),
            "labels": rng.integers(0, CLASSES, (1, BATCH)).astype(np.int32)}


def keras_network(function, module=None, width=1, **options):
    """Returns a function that makes the network of a function of tf.keras.applications.

    module: that of the function, whose layers get `width` as many filters.
    """
    def make_network(shape):
        narrow = replaced(module, layers=Narrow(width)) if module else contextlib.nullcontext()
        with narrow:
            return function(input_shape=shape, weights=None, classes=CLASSES,
                            classifier_activation=None, **options)
    return make_network


def initial_values(shapes, small, betas):
    """Values for gammas, betas and biases, which are all 1 or 0 at first."""
    rng = np.random.default_rng(11)
    values = {}
    for name, shape in shapes.items():
        kind = name.rsplit("/", 1)[-1]
        if kind in ("gamma", "beta", "bias"):
            low, high = {"gamma": (0.6, 1.2), "beta": betas, "bias": (-0.1, 0.1)}[kind]
            if small and name.endswith(small):
                low, high = 0.1, 0.2
            values[name] = rng.uniform(low, high, shape).astype(np.float32)
    return values


# Rounding errors grow in a chain of batch normalizations over few values, so there are 16 images,
# and the last feature map has 2x2 values or more. Some moving means, and the gradients of biases
# before a batch normalization, are close to 0, so there is an absolute tolerance.
def generate_case(case_file, make_network, description, *, size=16, times=4, rate=0.003, seed=3,
                  scale=True, small=None, betas=(1.5, 2.2), max_values=300):
    """make_network(shape) returns a Keras model that gives logits.

    size, times: the recorded images are size x size, those of the network `times` as large.
    scale: pixels are scaled to -1 ... 1. False: the network does it.
    small: the end of the names of gammas that begin small, those of the last batch normalizations
      of residual blocks. Rounding errors would grow in a chain of blocks that are not nearly their
      shortcuts.
    betas: the range of the first betas. They are about twice the gammas, so that few values before
      a relu are so close to 0 that rounding decides their sign, and a gradient with it.
    max_values: larger variables are recorded by their norms only.
    """
    def model_fn(features, labels):
        x = enlarge(tf.cast(features, tf.float32), times)
        x = x / 127.5 - 1.0 if scale else x
        model = make_network(tuple(int(d) for d in x.shape[1:]))
        logits = model(x, training=True)
        loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits)
        optimizer = tf1.train.GradientDescentOptimizer(rate)
        step = tf1.train.get_global_step()
        with tf.control_dependencies(model.get_updates_for(x)):
            return Step(loss=loss, train_op=optimizer.minimize(loss, step))

    generate(case_file, model_fn, description, batches=batches(size, seed), num_steps=STEPS,
             initial=lambda shapes: initial_values(shapes, small, betas),
             max_values=max_values, forward_ops=set(), rtol=1e-4, variable_rtol=1e-3, atol=1e-5,
             resource_variables=True)
