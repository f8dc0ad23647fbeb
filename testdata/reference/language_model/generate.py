"""A language model: two LSTM layers that predict the next word of sequences of different lengths,
among them 0 and all time steps."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reference_lib import Step, generate, tf, tf1  # noqa: E402

LENGTH, WORDS, UNITS = 8, 14, 5


def model_fn(features, labels):
    table = tf1.get_variable("embeddings", [WORDS, UNITS])
    words = tf.nn.embedding_lookup(table, features["words"])
    cell = tf1.nn.rnn_cell.MultiRNNCell([tf1.nn.rnn_cell.LSTMCell(UNITS) for _ in range(2)])
    outputs, _ = tf1.nn.dynamic_rnn(cell, words, sequence_length=features["length"],
                                    dtype=tf.float32)
    logits = tf1.layers.dense(outputs, WORDS)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    mask = tf.sequence_mask(features["length"], LENGTH, tf.float32)
    # The loss of a sequence is a sum, so that the mean does not depend on how a batch is split.
    loss = tf.reduce_mean(tf.reduce_sum(losses * mask, 1))
    return Step(loss=loss, train_op=tf1.train.AdamOptimizer(0.02).minimize(
        loss, tf1.train.get_global_step()))


rng = np.random.default_rng(40)
lengths = rng.integers(0, LENGTH + 1, (3, 6)).astype(np.int32)
lengths[:, 1], lengths[:, 3] = LENGTH, 0
words = rng.integers(0, WORDS, (3, 6, LENGTH + 1)).astype(np.int32)
batches = {"features/words": words[:, :, :-1], "features/length": lengths,
           "labels": words[:, :, 1:]}
# Tensors inside of the loop cannot be fetched.
generate(__file__, model_fn, "a language model of two LSTM layers under dynamic_rnn",
         batches=batches, num_steps=20, forward_ops={"BiasAdd", "Transpose"})
