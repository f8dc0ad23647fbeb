"""Words and their tags, looked up in two tables, for cases whose optimizers treat looked-up rows as
TensorFlow treats sparse gradients. Words repeat within a batch, and most rows of a table are looked
up in some steps only."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import reference_lib as lib  # noqa: E402
from reference_lib import tf, tf1  # noqa: E402


def batches():
    rng = np.random.default_rng(11)
    words = np.minimum(rng.geometric(0.12, (5, 6, 4)) - 1, 30)  # some words are frequent
    return {"features/words": words.astype(np.int32),
            "features/tags": rng.integers(0, 9, (5, 6, 4)).astype(np.int64),
            "labels": rng.integers(0, 3, (5, 6)).astype(np.int32)}


def loss(features, labels, tied=False):
    """tied: words are also multiplied with the whole table, so that its gradient has a dense
    part."""
    normal = tf1.random_normal_initializer(stddev=0.5)
    words = tf1.get_variable("words", [31, 6], initializer=normal)
    tags = tf1.get_variable("tags", [9], initializer=normal)
    looked_up = tf.nn.embedding_lookup(words, features["words"])
    # a second look-up in the same table
    first = tf.nn.embedding_lookup(words, features["words"][:, 0])
    weights = tf.exp(tf.gather(tags, features["tags"]))[:, :, None]
    mean = tf.reduce_sum(looked_up * weights, 1) / tf.reduce_sum(weights, 1)
    hidden = tf1.layers.dense(tf.concat([mean, first], 1), 8, activation=tf.nn.tanh)
    value = tf1.losses.sparse_softmax_cross_entropy(labels, tf1.layers.dense(hidden, 3))
    if tied:
        scores = tf.matmul(mean, words, transpose_b=True)
        value += tf1.losses.sparse_softmax_cross_entropy(features["words"][:, 0], scores)
    return value


def generate(case_file, make_optimizer, description, clip=lambda pairs: pairs, tied=False,
             **options):
    """Writes a case of 30 steps with the optimizer that make_optimizer() returns. clip changes
    gradients and variables."""

    def model_fn(features, labels):
        value = loss(features, labels, tied)
        optimizer = make_optimizer()
        pairs = clip(optimizer.compute_gradients(value))
        return lib.Step(loss=value,
                        train_op=optimizer.apply_gradients(pairs, tf1.train.get_global_step()))

    shared = {} if tied else {"shared": os.path.dirname(os.path.abspath(__file__))}
    lib.generate(case_file, model_fn, description, num_steps=30, **shared, **options)
