"""The training step of the cases of models/images: a network of tf.keras.applications at a small
width, on small pictures.

A picture is a coarse one of 12x12 pixels, repeated to 48x48: the feature maps have odd and even
sizes, and the last one has 2x2 values.
"""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reference_lib import Step, generate, tf, tf1  # noqa: E402

CLASSES, BATCH, STEPS = 5, 16, 5
COARSE, SIZE = 12, 48
keras = tf.keras


def make_model_fn(build, preprocess, rate):
    def model_fn(features, labels):
        keras.backend.reset_uids()
        repeats = SIZE // COARSE
        images = tf.cast(tf.tile(features, [1, repeats, repeats, 1]), tf.float32)
        model = build(input_shape=(SIZE, SIZE, 3), weights=None, classes=CLASSES,
                      classifier_activation=None)
        images = preprocess(images) if preprocess else images
        loss = tf1.losses.sparse_softmax_cross_entropy(labels, model(images, training=True))
        optimizer = tf1.train.GradientDescentOptimizer(rate)
        with tf.control_dependencies(model.get_updates_for(images)):
            return Step(loss=loss,
                        train_op=optimizer.minimize(loss, tf1.train.get_global_step()))
    return model_fn


def initial_values(build):
    """Values of gammas, betas and biases: their own, 1 and 0, would hide a wrong order."""
    rng = np.random.default_rng(7)
    with tf1.Graph().as_default():
        keras.backend.reset_uids()
        model = build(input_shape=(SIZE, SIZE, 3), weights=None, classes=CLASSES,
                      classifier_activation=None)
        ranges = {"gamma": (0.7, 1.3), "beta": (-0.2, 0.2), "bias": (-0.2, 0.2)}
        return {v.op.name: rng.uniform(*ranges[v.op.name.split("/")[-1]],
                                       v.shape).astype(np.float32)
                for v in model.trainable_variables if v.op.name.split("/")[-1] in ranges}


def batches(seed):
    rng = np.random.default_rng(seed)
    return {"features": rng.integers(0, 256, (2, BATCH, COARSE, COARSE, 3)).astype(np.uint8),
            "labels": rng.integers(0, CLASSES, (2, BATCH)).astype(np.int32)}


# The tolerances are those of the cases resnet*: batch normalizations over few values divide
# rounding errors by small standard deviations. Values are recorded as norms: single ones show every
# value before a relu that is so close to 0 that rounding decides its sign (README.md, "Ties").
def generate_case(case_file, build, description, preprocess=None, rate=0.002, seed=3):
    """Writes a case.

    build(input_shape, weights, classes, classifier_activation): a function of
      tf.keras.applications, with dropout off and a small width.
    preprocess: its preprocess_input, if the network does not contain it.
    """
    generate(case_file, make_model_fn(build, preprocess, rate), description, num_steps=STEPS,
             batches=batches(seed), initial=initial_values(build), forward_ops=set(),
             max_values=0, rtol=1e-4, variable_rtol=1e-3)
