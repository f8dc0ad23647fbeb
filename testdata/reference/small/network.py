"""A small network for cases that differ in their treatment of its loss or gradients."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reference_lib import Step, generate, tf, tf1  # noqa: E402


def logits(features, **dense):
    hidden = tf1.layers.dense(features, 12, activation=tf.nn.relu, **dense)
    return tf1.layers.dense(hidden, 4, **dense)


def loss(features, labels, **dense):
    return tf1.losses.sparse_softmax_cross_entropy(labels, logits(features, **dense))


def batches():
    """Four clusters that overlap a little."""
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 4, (5, 8))
    centers = 2 * rng.standard_normal((4, 10))
    return {"features": (centers[labels] + rng.standard_normal((5, 8, 10))).astype(np.float32),
            "labels": labels.astype(np.int64)}


def generate_with_gradients(case_file, change, description, **options):
    """Writes a case in which change(grads_and_vars) changes the gradients before gradient descent
    applies them."""

    def model_fn(features, labels):
        value = loss(features, labels)
        optimizer = tf1.train.GradientDescentOptimizer(0.5)
        grads_and_vars = change(optimizer.compute_gradients(value))
        return Step(loss=value, train_op=optimizer.apply_gradients(grads_and_vars,
                                                                   tf1.train.get_global_step()))

    generate(case_file, model_fn, description, batches=batches(), num_steps=20, **options)
