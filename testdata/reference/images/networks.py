"""What the cases images_* share: Keras' networks at small width, with a training step.

A network is built by Keras' own function, in which the numbers of filters are made smaller
(narrow), or from Keras' layers where Keras has no such function. The names of the variables are
Keras'.
"""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reference_lib import Step, generate, tf, tf1  # noqa: E402
from narrow import CLASSES, Narrow, layers, replaced, scaled  # noqa: E402,F401

BATCH, STEPS = 6, 5


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


def initial_values(make_network, size, small):
    """Values for gammas, betas and biases, which are all 1 or 0 at first."""
    rng = np.random.default_rng(11)
    values = {}
    with tf1.Graph().as_default():
        make_network((size, size, 3))
        for v in tf1.trainable_variables():
            kind = v.op.name.rsplit("/", 1)[-1]
            if kind in ("gamma", "beta", "bias"):
                low, high = (0.6, 1.2) if kind == "gamma" else (-0.1, 0.1)
                if small and v.op.name.endswith(small):
                    low, high = 0.1, 0.2
                values[v.op.name] = rng.uniform(low, high, v.shape).astype(np.float32)
    tf.keras.backend.clear_session()
    return values


# A network of 50 layers with batch normalization of few values makes rounding errors larger. Some
# moving means are close to 0, so there is an absolute tolerance.
def generate_case(case_file, make_network, description, *, size, times=1, rate=0.003, seed=3,
                  small=None, rtol=1e-4, variable_rtol=1e-3, atol=1e-5, **options):
    """make_network(shape) returns a Keras model that gives logits.

    size, times: the recorded images are size x size, those of the network `times` as large.
    small: the end of the names of gammas that begin small, those of the last batch normalizations
      of residual blocks. Rounding errors would grow in a chain of blocks that are not nearly their
      shortcuts.
    """
    def model_fn(features, labels):
        x = enlarge(tf.cast(features, tf.float32), times) / 127.5 - 1.0
        model = make_network(tuple(int(d) for d in x.shape[1:]))
        logits = model(x, training=True)
        loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits)
        optimizer = tf1.train.GradientDescentOptimizer(rate)
        step = tf1.train.get_global_step()
        with tf.control_dependencies(model.get_updates_for(x)):
            return Step(loss=loss, train_op=optimizer.minimize(loss, step))

    generate(case_file, model_fn, description, batches=batches(size, seed), num_steps=STEPS,
             initial=initial_values(make_network, size * times, small), max_values=0,
             forward_ops=set(), rtol=rtol, variable_rtol=variable_rtol, atol=atol,
             resource_variables=True, **options)
