"""Word embeddings, averaged with a mask, and a classifier, with Adam. Its sparse updates equal
those of dense gradients."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reference_lib import Step, generate, tf, tf1  # noqa: E402


def model_fn(features, labels):
    table = tf1.get_variable("embeddings", [40, 6],
                             initializer=tf1.random_normal_initializer(stddev=0.5))
    words = tf.nn.embedding_lookup(table, features["words"])
    mask = tf.cast(tf.sequence_mask(features["length"], 7), tf.float32)[:, :, None]
    mean = tf.reduce_sum(words * mask, 1) / tf.reduce_sum(mask, 1)
    hidden = tf1.layers.dense(mean, 8, activation=tf.nn.tanh)
    loss = tf1.losses.sparse_softmax_cross_entropy(labels, tf1.layers.dense(hidden, 3))
    return Step(loss=loss,
                train_op=tf1.train.AdamOptimizer(0.01).minimize(loss, tf1.train.get_global_step()))


rng = np.random.default_rng(7)
batches = {"features/words": rng.integers(0, 40, (5, 8, 7)).astype(np.int32),
           "features/length": rng.integers(1, 8, (5, 8)).astype(np.int32),
           "labels": rng.integers(0, 3, (5, 8)).astype(np.int32)}
generate(__file__, model_fn, "an embedding classifier under Adam", batches=batches, num_steps=20,
         forward_ops={"BiasAdd", "Tanh"})
