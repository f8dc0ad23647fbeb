"""LSTMs with peepholes, projection and clipping, and with dropout, under static_rnn."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reference_lib import Step, generate, tf, tf1  # noqa: E402

LENGTH = 4
rnn_cell = tf1.nn.rnn_cell


def model_fn(features, labels):
    lower = rnn_cell.LSTMCell(6, use_peepholes=True, cell_clip=0.3, num_proj=4, proj_clip=0.1,
                              forget_bias=0.5,
                              initializer=tf1.random_uniform_initializer(-0.6, 0.6))
    upper = rnn_cell.DropoutWrapper(rnn_cell.BasicLSTMCell(5), input_keep_prob=0.8,
                                    output_keep_prob=0.7, state_keep_prob=0.9, seed=42)
    top = rnn_cell.DropoutWrapper(rnn_cell.GRUCell(5), output_keep_prob=0.7, state_keep_prob=0.6,
                                  variational_recurrent=True, dtype=tf.float32, seed=43)
    cell = rnn_cell.MultiRNNCell([lower, upper, top])
    outputs, state = tf1.nn.static_rnn(cell, tf.unstack(features, axis=1), dtype=tf.float32)
    hidden = tf.concat(outputs + [state[0].c, state[1].h], 1)
    loss = tf1.losses.sparse_softmax_cross_entropy(labels, tf1.layers.dense(hidden, 3))
    return Step(loss=loss,
                train_op=tf1.train.MomentumOptimizer(0.1, 0.9).minimize(
                    loss, tf1.train.get_global_step()))


rng = np.random.default_rng(13)
batches = {"features": rng.standard_normal((4, 6, LENGTH, 3)).astype(np.float32),
           "labels": rng.integers(0, 3, (4, 6)).astype(np.int32)}
generate(__file__, model_fn, "LSTMCell with all options and DropoutWrapper under static_rnn",
         batches=batches, num_steps=20, random=True, forward_ops={"BiasAdd", "MatMul", "Tanh"})
