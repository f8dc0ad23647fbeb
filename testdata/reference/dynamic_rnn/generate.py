"""An LSTM over word embeddings with sequences of different lengths, among them 0 and all time
steps."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reference_lib import Step, generate, tf, tf1  # noqa: E402

LENGTH = 7


def model_fn(features, labels):
    table = tf1.get_variable("embeddings", [30, 5],
                             initializer=tf1.random_normal_initializer(stddev=0.5))
    words = tf.nn.embedding_lookup(table, features["words"])
    outputs, state = tf1.nn.dynamic_rnn(tf1.nn.rnn_cell.BasicLSTMCell(6), words,
                                        sequence_length=features["length"], dtype=tf.float32)
    hidden = tf.concat([state.c, state.h, tf.reduce_mean(outputs, 1)], 1)
    loss = tf1.losses.sparse_softmax_cross_entropy(labels, tf1.layers.dense(hidden, 3))
    optimizer = tf1.train.AdamOptimizer(0.02)
    gradients, variables = zip(*optimizer.compute_gradients(loss))
    clipped, _ = tf.clip_by_global_norm(gradients, 0.5)
    return Step(loss=loss, train_op=optimizer.apply_gradients(zip(clipped, variables),
                                                              tf1.train.get_global_step()))


rng = np.random.default_rng(11)
lengths = rng.integers(0, LENGTH + 1, (5, 8)).astype(np.int32)
lengths[:, 2], lengths[:, 5] = 0, LENGTH
batches = {"features/words": rng.integers(0, 30, (5, 8, LENGTH)).astype(np.int32),
           "features/length": lengths, "labels": rng.integers(0, 3, (5, 8)).astype(np.int32)}
# Tensors inside of the loop cannot be fetched.
generate(__file__, model_fn, "a BasicLSTMCell under dynamic_rnn with lengths from 0 to 7",
         batches=batches, num_steps=20, forward_ops={"Transpose"})
