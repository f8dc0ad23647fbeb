"""Batch normalization in inference, which uses the moving averages of the checkpoint, not the
batch's statistics."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reference_lib import Step, generate, tf, tf1  # noqa: E402


def model_fn(features, labels):
    layers = tf1.layers
    x = layers.conv2d(features, 6, 3)
    x = tf.nn.relu(layers.batch_normalization(x, training=False))
    x = layers.batch_normalization(layers.dense(layers.flatten(x), 5), epsilon=1e-2, training=False)
    return Step(loss=tf1.losses.mean_squared_error(labels, layers.dense(x, 1)))


rng = np.random.default_rng(3)
batches = {"features": rng.standard_normal((4, 4, 6, 6, 2)).astype(np.float32),
           "labels": rng.standard_normal((4, 4, 1)).astype(np.float32)}
initial = {}
for name, size in (("batch_normalization", 6), ("batch_normalization_1", 5)):
    initial[f"{name}/gamma"] = rng.uniform(0.5, 2, size)
    initial[f"{name}/beta"] = rng.standard_normal(size)
    initial[f"{name}/moving_mean"] = rng.standard_normal(size)
    initial[f"{name}/moving_variance"] = rng.uniform(0.1, 4, size)
generate(__file__, model_fn, "batch normalization in inference", batches=batches, num_steps=4,
         mode="EVAL", initial=initial)
