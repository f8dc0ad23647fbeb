"""Pretraining with masked words and the next sentence, as google-research/bert's run_pretraining,
without dropout."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from bert import network  # noqa: E402
from bert.network import tf, tf1  # noqa: E402

MASKED = 3  # places for masked words in an example


def masked_lm_loss(words, table, features):
    places = tf.gather(words, features["masked_lm_positions"], batch_dims=1)
    with tf1.variable_scope("cls/predictions"):
        with tf1.variable_scope("transform"):
            x = network.layer_norm(network.dense(tf.reshape(places, [-1, network.UNITS]),
                                                 network.UNITS, activation=network.gelu))
        bias = network.bias("output_bias", network.CONFIG["vocab_size"])
        losses = network.cross_entropy(x, table, bias, tf.reshape(features["masked_lm_ids"], [-1]))
        # 0 where an example has fewer masked words
        weights = tf.reshape(features["masked_lm_weights"], [-1])
        return tf.reduce_sum(weights * losses) / (tf.reduce_sum(weights) + 1e-5)


def next_sentence_loss(pooled, features):
    with tf1.variable_scope("cls/seq_relationship"):
        weights = network.variable("output_weights", [2, network.UNITS])
        bias = network.bias("output_bias", 2)
        return tf.reduce_mean(network.cross_entropy(pooled, weights, bias,
                                                    features["next_sentence_labels"][:, 0]))


def model_fn(features, labels):
    del labels  # they are features
    words, pooled, table = network.bert(features)
    loss = masked_lm_loss(words, table, features) + next_sentence_loss(pooled, features)
    return network.Step(loss=loss, train_op=network.train_op(loss))


rng, batches = network.batches()
shape = (5, network.BATCH, MASKED)
batches["features/masked_lm_positions"] = np.sort(rng.integers(0, 4, shape)).astype(np.int32)
batches["features/masked_lm_ids"] = rng.integers(1, network.CONFIG["vocab_size"],
                                                 shape).astype(np.int32)
batches["features/masked_lm_weights"] = (np.arange(MASKED)
                                         < rng.integers(1, MASKED + 1,
                                                        (5, network.BATCH, 1))).astype(
    np.float32)
batches["features/next_sentence_labels"] = rng.integers(0, 2, (5, network.BATCH,
                                                               1)).astype(np.int32)
network.generate(__file__, model_fn, "a small BERT, pretrained", batches=batches,
                 **network.OPTIONS)
