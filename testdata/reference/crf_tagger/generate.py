"""Tags of words by a GRU in both directions and a conditional random field.

TensorFlow 2.15 has no CRF: log_likelihood computes that of tf.contrib.crf, from its definition.
"""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reference_lib import Step, generate, tf, tf1  # noqa: E402

STEPS, TAGS, WORDS = 6, 4, 12


def log_likelihood(scores, tags, lengths, transitions):
    """The score of the tags, less the logarithm of the sum over all tags: [N]."""
    mask = tf.sequence_mask(lengths, STEPS, tf.float32)
    of_tags = tf.reduce_sum(scores * tf.one_hot(tags, TAGS), 2)
    pairs = tf.gather_nd(transitions, tf.stack([tags[:, :-1], tags[:, 1:]], 2))
    score = tf.reduce_sum(of_tags * mask, 1) + tf.reduce_sum(pairs * mask[:, 1:], 1)
    alpha = scores[:, 0]
    for t in range(1, STEPS):
        longer = scores[:, t] + tf.reduce_logsumexp(alpha[:, :, None] + transitions[None], 1)
        alpha = tf.where(mask[:, t, None] > 0, longer, alpha)
    norm = tf.reduce_logsumexp(alpha, 1)
    return tf.where(lengths > 0, score - norm, tf.zeros_like(norm))


def model_fn(features, labels):
    table = tf1.get_variable("embeddings", [WORDS, 3])
    words = tf.nn.embedding_lookup(table, features["words"])
    cells = [tf1.nn.rnn_cell.GRUCell(4) for _ in range(2)]
    outputs, _ = tf1.nn.bidirectional_dynamic_rnn(*cells, words, features["length"],
                                                  dtype=tf.float32)
    scores = tf1.layers.dense(tf.concat(outputs, 2), TAGS)
    transitions = tf1.get_variable("transitions", [TAGS, TAGS])
    loss = -tf.reduce_mean(log_likelihood(scores, labels, features["length"], transitions))
    return Step(loss=loss, train_op=tf1.train.AdamOptimizer(0.02).minimize(
        loss, tf1.train.get_global_step()))


rng = np.random.default_rng(39)
lengths = rng.integers(1, STEPS + 1, (3, 6)).astype(np.int32)
lengths[:, 0], lengths[:, 4] = STEPS, 0
batches = {"features/words": rng.integers(0, WORDS, (3, 6, STEPS)).astype(np.int32),
           "features/length": lengths,
           "labels": rng.integers(0, TAGS, (3, 6, STEPS)).astype(np.int32)}
# Tensors inside of the loop cannot be fetched.
generate(__file__, model_fn, "GRU in both directions and a CRF under Adam", batches=batches,
         num_steps=20, forward_ops={"Transpose"})
