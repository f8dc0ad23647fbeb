"""Layers of a GRU and an LSTM, run in both directions over sequences of different lengths."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reference_lib import Step, generate, tf, tf1  # noqa: E402

LENGTH = 6
rnn_cell = tf1.nn.rnn_cell


def cells():
    return rnn_cell.MultiRNNCell([rnn_cell.GRUCell(4), rnn_cell.BasicRNNCell(4),
                                  rnn_cell.ResidualWrapper(rnn_cell.LSTMCell(4))])


def model_fn(features, labels):
    outputs, states = tf1.nn.bidirectional_dynamic_rnn(cells(), cells(), features["x"],
                                                       sequence_length=features["length"],
                                                       dtype=tf.float32)
    outputs = tf.concat(outputs, 2)
    hidden = tf.concat([outputs[:, 0, :], outputs[:, -1, :], states[0][0], states[1][1],
                        states[1][2].h], 1)
    loss = tf1.losses.sparse_softmax_cross_entropy(labels, tf1.layers.dense(hidden, 3))
    return Step(loss=loss,
                train_op=tf1.train.MomentumOptimizer(0.1, 0.9).minimize(
                    loss, tf1.train.get_global_step()))


rng = np.random.default_rng(12)
lengths = rng.integers(0, LENGTH + 1, (4, 6)).astype(np.int64)
lengths[:, 1], lengths[:, 4] = LENGTH, 0
batches = {"features/x": rng.standard_normal((4, 6, LENGTH, 3)).astype(np.float32),
           "features/length": lengths, "labels": rng.integers(0, 3, (4, 6)).astype(np.int32)}
# Tensors inside of the loop cannot be fetched.
generate(__file__, model_fn, "MultiRNNCell under bidirectional_dynamic_rnn", batches=batches,
         num_steps=20, forward_ops={"Transpose"})
