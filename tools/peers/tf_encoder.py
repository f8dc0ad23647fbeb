#!/usr/bin/env python3
"""TensorFlow's Estimator on a transformer encoder with a classifier on its first token, on random
tokens.

Dropout, clipping by the global norm, and Adam with decoupled weight decay, as BERT's fine-tuning.

usage: tf_encoder.py [--batch_size=32] [--compute_dtype=float32|bfloat16] [--hidden=256]
[--layers=4] ...
"""
import os
import tempfile

import measure


def main():
    flags = measure.parser(__doc__, batch_size=32)
    for name, value in {"hidden": 256, "layers": 4, "heads": 4, "intermediate": 1024,
                        "sequence": 128, "vocabulary": 8000}.items():
        flags.add_argument("--" + name, type=int, default=value)
    flags = flags.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import numpy as np
    import tensorflow as tf
    tf1 = tf.compat.v1
    tf1.disable_v2_behavior()
    tf1.logging.set_verbosity(tf1.logging.ERROR)
    dtype = tf.bfloat16 if flags.compute_dtype == "bfloat16" else tf.float32
    hidden, sequence, head_size = flags.hidden, flags.sequence, flags.hidden // flags.heads

    def variable(name, shape, initializer=None):
        initializer = initializer or tf1.truncated_normal_initializer(stddev=0.02)
        return tf.cast(tf1.get_variable(name, shape, initializer=initializer), dtype)

    def dense(x, units, name, activation=None):
        with tf1.variable_scope(name):
            bias = variable("bias", [units], tf1.zeros_initializer())
            y = tf.matmul(x, variable("kernel", [x.shape[-1], units])) + bias
            return activation(y) if activation else y

    def layer_norm(x, name):
        with tf1.variable_scope(name):
            x = tf.cast(x, tf.float32)
            mean, variance = tf.nn.moments(x, [-1], keepdims=True)
            y = tf.cast((x - mean) * tf.math.rsqrt(variance + 1e-12), dtype)
            gamma = variable("gamma", [hidden], tf1.ones_initializer())
            return y * gamma + variable("beta", [hidden], tf1.zeros_initializer())

    def gelu(x):
        return tf.nn.gelu(x, approximate=True)

    def dropout(x):
        return tf1.nn.dropout(x, rate=0.1)

    def attention(x, bias):
        def heads(name):
            return tf.transpose(tf.reshape(dense(x, hidden, name),
                                           [-1, sequence, flags.heads, head_size]),
                                [0, 2, 1, 3])
        query, key, value = heads("query"), heads("key"), heads("value")
        scores = tf.matmul(query, key, transpose_b=True) * tf.constant(head_size ** -0.5, dtype)
        context = tf.matmul(dropout(tf.nn.softmax(scores + bias)), value)
        return tf.reshape(tf.transpose(context, [0, 2, 1, 3]), [-1, hidden])

    def train_op(loss):
        variables, step = tf1.trainable_variables(), tf1.train.get_global_step()
        gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 1.0)
        rate = tf1.train.polynomial_decay(1e-4, step, 10000, 0.0)
        updates = [step.assign_add(1)]
        for gradient, parameter in zip(gradients, variables):
            gradient = tf.convert_to_tensor(gradient)
            slots = [tf1.get_variable(parameter.op.name + slot, parameter.shape, trainable=False,
                                      initializer=tf1.zeros_initializer()) for slot in ("/m", "/v")]
            m = 0.9 * slots[0] + 0.1 * gradient
            v = 0.999 * slots[1] + 0.001 * tf.square(gradient)
            updates += [parameter.assign_sub(rate * (m / (tf.sqrt(v) + 1e-6) + 0.01 * parameter)),
                        slots[0].assign(m), slots[1].assign(v)]
        return tf.group(*updates)

    def model_fn(features, labels, mode):
        x = tf.gather(variable("word_embeddings", [flags.vocabulary, hidden]), features["ids"])
        x = layer_norm(x + variable("position_embeddings", [sequence, hidden]), "embeddings")
        x = tf.reshape(x, [-1, hidden])
        bias = (1 - tf.cast(features["mask"], dtype))[:, None, None, :] * tf.constant(-10000, dtype)
        for layer in range(flags.layers):
            with tf1.variable_scope("layer_%d" % layer):
                x = layer_norm(x + dropout(dense(attention(x, bias), hidden, "attention_output")),
                               "attention_norm")
                middle = dense(x, flags.intermediate, "intermediate", gelu)
                x = layer_norm(x + dropout(dense(middle, hidden, "output")), "output_norm")
        first = dense(tf.reshape(x, [-1, sequence, hidden])[:, 0, :], hidden, "pooler", tf.tanh)
        logits = tf.cast(dense(first, 2, "classifier"), tf.float32)
        loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op(loss))

    def input_fn():
        random = np.random.RandomState(0)
        features = {"ids": random.randint(0, flags.vocabulary, [256, sequence]).astype(np.int32),
                    "mask": np.ones([256, sequence], np.int32)}
        labels = random.randint(0, 2, [256]).astype(np.int32)
        examples = tf1.data.Dataset.from_tensor_slices((features, labels)).repeat()
        return examples.batch(flags.batch_size, drop_remainder=True).prefetch(2)

    meter = measure.Meter(flags)

    class Steps(tf1.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            if meter.step():
                run_context.request_stop()

    with tempfile.TemporaryDirectory() as model_dir:
        config = tf.estimator.RunConfig(
            model_dir=model_dir, save_checkpoints_secs=None, save_checkpoints_steps=None,
            session_config=tf1.ConfigProto(allow_soft_placement=True,
                                           intra_op_parallelism_threads=flags.threads,
                                           inter_op_parallelism_threads=flags.threads))
        tf.estimator.Estimator(model_fn, config=config).train(input_fn, hooks=[Steps()])
    measure.print_training("tf_encoder", flags, meter, "examples", input="synthetic")


if __name__ == "__main__":
    main()
