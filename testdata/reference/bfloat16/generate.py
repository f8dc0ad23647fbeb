"""A network of bfloat16 activations with float32 weights, as tf.tpu.bfloat16_scope makes it."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reference_lib import Step, generate, tf, tf1  # noqa: E402


def model_fn(features, labels):
    layers = tf1.layers
    with tf1.tpu.bfloat16_scope():
        x = tf.cast(features, tf.bfloat16)
        x = layers.conv2d(x, 8, 3, padding="same", use_bias=False)
        x = tf.nn.relu(layers.batch_normalization(x, momentum=0.9, training=True))
        x = layers.conv2d(x, 6, 3, strides=2, padding="same", activation=tf.nn.relu)
        x = layers.max_pooling2d(x, 2, 2)
        logits = layers.dense(layers.flatten(x), 4)
    logits = tf.cast(logits, tf.float32)
    loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits)
    with tf.control_dependencies(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)):
        return Step(loss=loss,
                    train_op=tf1.train.MomentumOptimizer(0.02, 0.9).minimize(
                        loss, tf1.train.get_global_step()))


rng = np.random.default_rng(9)
batches = {"features": rng.standard_normal((3, 8, 9, 9, 3)).astype(np.float32),
           "labels": rng.integers(0, 4, (3, 8)).astype(np.int32)}
# A rounding of bfloat16 is 2^-8. TensorFlow also rounds partial sums, which are float32 here.
# Before batch normalization, a gradient is a difference of nearly equal numbers, so its relative
# error is about a tenth, and larger in later steps. The case therefore compares the first step:
# what is computed in bfloat16, and what in float32.
generate(__file__, model_fn, "bfloat16 activations, float32 weights", batches=batches, num_steps=1,
         forward_ops={"Relu", "MaxPool"}, rtol=0.01, variable_rtol=0.15)
