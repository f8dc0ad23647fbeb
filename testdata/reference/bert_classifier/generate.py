"""Fine-tuning of a classifier of sentence pairs, as google-research/bert's run_classifier, without
dropout."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from bert import network  # noqa: E402
from bert.network import tf, tf1  # noqa: E402

NUM_LABELS = 3


def model_fn(features, labels):
    del labels  # they are a feature
    _, pooled, _ = network.bert(features)
    weights = network.variable("output_weights", [NUM_LABELS, network.UNITS])
    bias = network.bias("output_bias", NUM_LABELS)
    with tf1.variable_scope("loss"):
        loss = tf.reduce_mean(network.cross_entropy(pooled, weights, bias, features["label_ids"]))
    return network.Step(loss=loss, train_op=network.train_op(loss))


rng, batches = network.batches()
batches["features/label_ids"] = rng.integers(0, NUM_LABELS, (5, network.BATCH)).astype(np.int32)
batches["features/is_real_example"] = np.ones((5, network.BATCH), np.int32)
network.generate(__file__, model_fn, "a small BERT, fine-tuned as a classifier", batches=batches,
                 **network.OPTIONS)
