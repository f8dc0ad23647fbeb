"""BERT with few units and without dropout, for the cases bert_*. Written from Devlin et al. 2018
and Vaswani et al. 2017. Variables have the names of google-research/bert, so that its checkpoints
fit. bert_config.json has the sizes.
"""

import json
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reference_lib import Step, generate, tf, tf1  # noqa: E402,F401
from bert.adam_weight_decay import AdamWeightDecay  # noqa: E402

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "bert_config.json"),
          encoding="utf-8") as f:
    CONFIG = json.load(f)
UNITS, HEADS, LENGTH, BATCH = CONFIG["hidden_size"], CONFIG["num_attention_heads"], 12, 6
RATE, TRAIN_STEPS, WARMUP_STEPS = 0.003, 25, 4
# The arguments of generate() that both cases have. A key's bias adds one number to all scores of a
# word, which does not change their softmax: its gradient is rounding errors alone. It starts at
# other values than 0, so that its use is checked.
OPTIONS = {"num_steps": 20, "forward_ops": {"BiasAdd", "Softmax"}, "without": ["key/bias"],
           "initial": {
    f"bert/encoder/layer_{i}/attention/self/key/bias": np.linspace(
        -1, 1, CONFIG["hidden_size"]).astype(np.float32)
    for i in range(CONFIG["num_hidden_layers"])}}


def init():
    return tf1.truncated_normal_initializer(stddev=CONFIG["initializer_range"])


def variable(name, shape):
    return tf1.get_variable(name, shape, initializer=init())


def bias(name, size):
    return tf1.get_variable(name, [size], initializer=tf1.zeros_initializer())


def dense(x, units, name="dense", activation=None):
    return tf1.layers.dense(x, units, activation, kernel_initializer=init(), name=name)


def layer_norm(x):
    with tf1.variable_scope("LayerNorm"):
        beta = tf1.get_variable("beta", [UNITS], initializer=tf1.zeros_initializer())
        gamma = tf1.get_variable("gamma", [UNITS], initializer=tf1.ones_initializer())
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-12)


def gelu(x):
    """The approximation with tanh."""
    return 0.5 * x * (1 + tf.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * tf.pow(x, 3))))


def embeddings(features):
    """Returns the embedded words, f32 [batch, length, units], and the table of words."""
    table = variable("word_embeddings", [CONFIG["vocab_size"], UNITS])
    types = variable("token_type_embeddings", [CONFIG["type_vocab_size"], UNITS])
    positions = variable("position_embeddings", [CONFIG["max_position_embeddings"], UNITS])
    x = tf.gather(table, features["input_ids"])
    x += tf.tensordot(tf.one_hot(features["segment_ids"], CONFIG["type_vocab_size"]), types, 1)
    return layer_norm(x + positions[:LENGTH]), table


def heads(x, name):
    """[batch * length, units] -> [batch, heads, length, units / heads]"""
    return tf.transpose(tf.reshape(dense(x, UNITS, name), [-1, LENGTH, HEADS, UNITS // HEADS]),
                        [0, 2, 1, 3])


def layer(x, mask):
    with tf1.variable_scope("attention"):
        with tf1.variable_scope("self"):
            query, key, value = (heads(x, name) for name in ("query", "key", "value"))
            scores = tf.matmul(query, key, transpose_b=True) * (UNITS // HEADS) ** -0.5
            scores += (1 - mask[:, None, None, :]) * -10000.0  # unseen words
            context = tf.matmul(tf.nn.softmax(scores), value)
            context = tf.reshape(tf.transpose(context, [0, 2, 1, 3]), [-1, UNITS])
        with tf1.variable_scope("output"):
            attended = layer_norm(dense(context, UNITS) + x)
    with tf1.variable_scope("intermediate"):
        y = dense(attended, CONFIG["intermediate_size"], activation=gelu)
    with tf1.variable_scope("output"):
        return layer_norm(dense(y, UNITS) + attended)


def bert(features):
    """Returns all words [batch, length, units], the pooled first word [batch, units], and the table
    of words."""
    with tf1.variable_scope("bert"):
        with tf1.variable_scope("embeddings"):
            x, table = embeddings(features)
        with tf1.variable_scope("encoder"):
            x = tf.reshape(x, [-1, UNITS])
            for i in range(CONFIG["num_hidden_layers"]):
                with tf1.variable_scope(f"layer_{i}"):
                    x = layer(x, tf.cast(features["input_mask"], tf.float32))
            x = tf.reshape(x, [-1, LENGTH, UNITS])
        with tf1.variable_scope("pooler"):
            return x, dense(x[:, 0, :], UNITS, activation=tf.tanh), table


def cross_entropy(x, weights, bias_values, labels):
    """The loss of each row of x, against one of the rows of weights."""
    logits = tf.nn.bias_add(tf.matmul(x, weights, transpose_b=True), bias_values)
    return -tf.reduce_sum(tf.one_hot(labels, logits.shape[-1]) * tf.nn.log_softmax(logits), -1)


def train_op(loss):
    """One step of fine-tuning or pretraining: gradients clipped to a global norm of 1, a warm-up,
    then a linear decay."""
    step = tf1.train.get_global_step()
    rate = tf1.train.polynomial_decay(tf.constant(RATE), step, TRAIN_STEPS, end_learning_rate=0.0)
    passed = tf.cast(step, tf.float32)
    rate = tf.where(passed < WARMUP_STEPS, RATE * passed / WARMUP_STEPS, rate)
    variables = tf1.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 1.0)
    optimizer = AdamWeightDecay(rate, 0.01, ["LayerNorm", "layer_norm", "bias"])
    return optimizer.apply_gradients(zip(gradients, variables), step)


def batches(num_batches=5):
    """The features that both tasks have. Row i has at least 4 words; the second sentence begins
    somewhere in between."""
    rng = np.random.default_rng(3)
    shape = (num_batches, BATCH, 1)
    lengths = rng.integers(4, LENGTH + 1, shape)
    lengths[:, 0] = LENGTH
    place = np.arange(LENGTH)
    return rng, {"features/input_ids": np.where(place < lengths,
                                                rng.integers(1, CONFIG["vocab_size"], (
        num_batches, BATCH, LENGTH)), 0).astype(np.int32),
                 "features/input_mask": (place < lengths).astype(np.int32),
                 "features/segment_ids": (
                     (place >= rng.integers(2, lengths)) & (place < lengths)).astype(np.int32)}
