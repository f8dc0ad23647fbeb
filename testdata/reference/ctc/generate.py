"""Frames of different lengths, a GRU in both directions and the CTC loss of labels without an
alignment."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reference_lib import Step, generate, tf, tf1  # noqa: E402

FRAMES, LABELS, CLASSES = 9, 4, 6  # the last class is the blank


def model_fn(features, labels):
    cells = [tf1.nn.rnn_cell.GRUCell(4) for _ in range(2)]
    outputs, _ = tf1.nn.bidirectional_dynamic_rnn(*cells, features["frames"], features["length"],
                                                  dtype=tf.float32)
    logits = tf1.layers.dense(tf.concat(outputs, 2), CLASSES)
    where = tf.where(tf.sequence_mask(labels["length"], LABELS))
    sparse = tf.SparseTensor(where, tf.gather_nd(labels["ids"], where),
                             tf.shape(labels["ids"], out_type=tf.int64))
    loss = tf.reduce_mean(tf1.nn.ctc_loss(sparse, logits, features["length"], time_major=False,
                                          ignore_longer_outputs_than_inputs=True))
    return Step(loss=loss, train_op=tf1.train.AdamOptimizer(0.02).minimize(
        loss, tf1.train.get_global_step()))


rng = np.random.default_rng(38)
lengths = rng.integers(LABELS + 2, FRAMES + 1, (3, 6)).astype(np.int32)
lengths[:, 0], lengths[:, 3] = FRAMES, 1  # example 3 is too short for its labels
label_lengths = rng.integers(1, LABELS + 1, (3, 6)).astype(np.int32)
label_lengths[:, 3] = 2
ids = rng.integers(0, CLASSES - 1, (3, 6, LABELS)).astype(np.int32)
ids[:, 1, 1] = ids[:, 1, 0]  # equal neighbours need a blank between them
batches = {"features/frames": rng.standard_normal((3, 6, FRAMES, 3)).astype(np.float32),
           "features/length": lengths, "labels/ids": ids, "labels/length": label_lengths}
# Tensors inside of the loop cannot be fetched.
generate(__file__, model_fn, "GRU in both directions and CTC loss under Adam", batches=batches,
         num_steps=20, forward_ops={"Transpose"})
