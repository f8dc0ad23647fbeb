"""The network of the cases transformer*: the official transformer of TensorFlow 1
(official/transformer of tensorflow/models r1.13), written anew. The names of the variables are the
original's, feed_foward_network included. There is no dropout, and padding is not removed from the
input of the feed forward layers, as on a TPU.

The search has no cache: it computes all positions again for each token."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reference_lib import tf, tf1  # noqa: E402

VOCABULARY, HIDDEN, LAYERS, HEADS, FILTER = 14, 8, 2, 2, 16
INPUT_LENGTH, TARGET_LENGTH = 6, 7
EXTRA_DECODE_LENGTH, BEAMS, ALPHA = 4, 3, 0.6
PADDING, END = 0, 1
MASKED = -1e9  # is added to the scores of positions that do not count
LOWEST_SCORE = -1e7


def batches():
    """Three batches of six examples. A target is its input from the end on."""
    rng = np.random.default_rng(42)
    inputs = np.zeros((3, 6, INPUT_LENGTH), np.int32)
    targets = np.zeros((3, 6, TARGET_LENGTH), np.int32)
    # Both halves of a batch have as many target words, so that its loss is the mean of theirs.
    half = rng.integers(3, INPUT_LENGTH, (3, 3))
    half[:, 1] = INPUT_LENGTH
    lengths = np.concatenate([half, half[:, ::-1]], 1)
    for b, n in np.ndindex(3, 6):
        length = lengths[b, n]
        # Some words are frequent, so that a few steps teach more than when to end.
        words = np.minimum(1 + rng.geometric(0.3, length - 1), VOCABULARY - 1)
        inputs[b, n, :length] = [*words, END]
        targets[b, n, :length] = [*words[::-1], END]
    return {"features": inputs, "labels": targets}


def scope():
    """Of all variables. Each call of the network opens it again, and has the same variables."""
    return tf1.variable_scope("model/Transformer", reuse=tf1.AUTO_REUSE,
                              initializer=tf1.variance_scaling_initializer(
                                  1.0, mode="fan_avg", distribution="uniform"))


def embeddings():
    with tf1.variable_scope("embedding_shared_weights/embedding_and_softmax"):
        return tf1.get_variable("weights", [VOCABULARY, HIDDEN],
                                initializer=tf1.random_normal_initializer(0, HIDDEN ** -0.5))


def embed(ids):
    counts = tf.cast(tf.not_equal(ids, PADDING), tf.float32)
    return tf.gather(embeddings(), ids) * counts[..., None] * HIDDEN ** 0.5


def positions(length):
    scales = HIDDEN // 2
    inverse = tf.exp(tf.range(scales, dtype=tf.float32) * -(np.log(1e4) / (scales - 1)))
    time = tf.range(int(length), dtype=tf.float32)[:, None] * inverse
    return tf.concat([tf.sin(time), tf.cos(time)], 1)


def layer_norm(x):
    with tf1.variable_scope("layer_normalization"):
        scale = tf1.get_variable("layer_norm_scale", [HIDDEN], initializer=tf1.ones_initializer())
        bias = tf1.get_variable("layer_norm_bias", [HIDDEN], initializer=tf1.zeros_initializer())
    mean = tf.reduce_mean(x, -1, keepdims=True)
    variance = tf.reduce_mean(tf.square(x - mean), -1, keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-6) * scale + bias


def heads(x):
    x = tf.reshape(x, [x.shape[0], x.shape[1], HEADS, HIDDEN // HEADS])
    return tf.transpose(x, [0, 2, 1, 3])


def attention(x, y, bias, name):
    """Queries of x [N, S, HIDDEN], keys and values of y [N, T, HIDDEN]."""
    def dense(inputs, layer):
        return tf1.layers.dense(inputs, HIDDEN, use_bias=False, name=layer)

    with tf1.variable_scope(name):
        query, key, value = heads(dense(x, "q")), heads(dense(y, "k")), heads(dense(y, "v"))
        scores = tf.matmul(query * (HIDDEN // HEADS) ** -0.5, key, transpose_b=True) + bias
        context = tf.transpose(tf.matmul(tf.nn.softmax(scores), value), [0, 2, 1, 3])
        return dense(tf.reshape(context, x.shape), "output_transform")


def feed_forward(x):
    with tf1.variable_scope("feed_foward_network"):
        x = tf1.layers.dense(x, FILTER, activation=tf.nn.relu, name="filter_layer")
        return tf1.layers.dense(x, HIDDEN, name="output_layer")


def residual(x, name, layer):
    with tf1.variable_scope(name):
        return x + layer(layer_norm(x))


def padding_bias(inputs):
    return tf.cast(tf.equal(inputs, PADDING), tf.float32)[:, None, None, :] * MASKED


def encode(inputs):
    """inputs: i32 [N, S]. Returns [N, S, HIDDEN]."""
    bias = padding_bias(inputs)
    with scope():
        x = embed(inputs) + positions(inputs.shape[1])
        with tf1.variable_scope("encoder_stack"):
            for layer in range(LAYERS):
                with tf1.variable_scope(f"layer_{layer}"):
                    x = residual(x, "self_attention",
                                 lambda y: attention(y, y, bias, "self_attention"))
                    x = residual(x, "ffn", feed_forward)
            return layer_norm(x)


def decode(targets, encoder_outputs, encoder_bias):
    """targets: i32 [N, T]. Returns the logits [N, T, VOCABULARY]: row t is of target t, from the
    targets before it."""
    length = targets.shape[1]
    bias = (1 - tf.linalg.band_part(tf.ones([length, length]), -1, 0)) * MASKED
    with scope():
        x = tf.pad(embed(targets), [[0, 0], [1, 0], [0, 0]])[:, :-1] + positions(length)
        with tf1.variable_scope("decoder_stack"):
            for layer in range(LAYERS):
                with tf1.variable_scope(f"layer_{layer}"):
                    x = residual(x, "self_attention",
                                 lambda y: attention(y, y, bias, "self_attention"))
                    x = residual(x, "encdec_attention",
                                 lambda y: attention(y, encoder_outputs, encoder_bias,
                                                     "attention"))
                    x = residual(x, "ffn", feed_forward)
            x = layer_norm(x)
        logits = tf.matmul(tf.reshape(x, [-1, HIDDEN]), embeddings(), transpose_b=True)
    return tf.reshape(logits, [*targets.shape, VOCABULARY])


def gather(x, beams):
    return tf.gather(x, beams, batch_dims=1)


def lowest_unless(flags):
    return (1 - tf.cast(flags, tf.float32)) * LOWEST_SCORE


def beam_search(inputs):
    """sequence_beam_search of official/transformer. Returns the ids [N, BEAMS, T + 1], which begin
    with the initial token 0, and the scores [N, BEAMS]."""
    num_examples, longest = inputs.shape[0], INPUT_LENGTH + EXTRA_DECODE_LENGTH
    outputs = tf.repeat(encode(inputs), BEAMS, 0)
    bias = tf.repeat(padding_bias(inputs), BEAMS, 0)
    norm = lambda length: ((5 + length) / 6) ** ALPHA  # noqa: E731
    alive = tf.zeros([num_examples, BEAMS, longest + 1], tf.int32)
    # All beams are equal, so only the first one counts before the first step.
    log_probs = tf.tile([[0.0] + [-float("inf")] * (BEAMS - 1)], [num_examples, 1])
    done, done_flags = tf.zeros_like(alive), tf.zeros([num_examples, BEAMS], tf.bool)
    done_scores = tf.fill([num_examples, BEAMS], LOWEST_SCORE)
    running = tf.constant(True)
    for i in range(longest):
        worst_done = tf.reduce_min(tf.where(done_flags, done_scores, 0.0), 1)
        worst_done += lowest_unless(tf.reduce_any(done_flags, 1))
        running &= ~tf.reduce_all(worst_done > log_probs[:, 0] / norm(longest))
        before = (alive, log_probs, done, done_scores, done_flags)
        # Logits i are those after the tokens 0 to i, of which the decoder shifts the first one in.
        logits = decode(tf.reshape(alive[:, :, 1:], [-1, longest]), outputs, bias)[:, i]
        logits = tf.reshape(logits, [num_examples, BEAMS, VOCABULARY])
        candidates = tf.nn.log_softmax(logits) + log_probs[..., None]
        best, indices = tf.math.top_k(tf.reshape(candidates, [num_examples, -1]), 2 * BEAMS)
        ids = indices % VOCABULARY
        sequences = tf.where(tf.equal(tf.range(longest + 1), i + 1), ids[..., None],
                             gather(alive, indices // VOCABULARY))
        ends = tf.equal(ids, END)
        log_probs, chosen = tf.math.top_k(best + lowest_unless(~ends), BEAMS)
        alive = gather(sequences, chosen)
        scores = tf.concat([done_scores, best / norm(i + 1) + lowest_unless(ends)], 1)
        done_scores, chosen = tf.math.top_k(scores, BEAMS)
        done = gather(tf.concat([done, sequences], 1), chosen)
        done_flags = gather(tf.concat([done_flags, ends], 1), chosen)
        after = (alive, log_probs, done, done_scores, done_flags)
        alive, log_probs, done, done_scores, done_flags = [
            tf.where(running, new, old) for new, old in zip(after, before)]
    any_done = tf.reduce_any(done_flags, 1, keepdims=True)
    return tf.where(any_done[..., None], done, alive), tf.where(any_done, done_scores, log_probs)
