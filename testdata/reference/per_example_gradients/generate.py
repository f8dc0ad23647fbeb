"""Gradients of each example by map_fn, clipped as in differentially private training."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "small"))
import network  # noqa: E402
from reference_lib import Step, generate, tf, tf1  # noqa: E402


def model_fn(features, labels):
    w1, b1 = tf1.get_variable("w1", [10, 12]), tf1.get_variable("b1", [12])
    w2, b2 = tf1.get_variable("w2", [12, 4]), tf1.get_variable("b2", [4])
    weights = [w1, b1, w2, b2]

    def example(row):
        x, label = row
        hidden = tf.nn.relu(tf.matmul(x[None], w1) + b1)
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=label[None], logits=tf.matmul(hidden, w2) + b2)[0]
        gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, weights), 1.0)
        return [loss] + gradients

    losses, *gradients = tf.map_fn(example, (features, labels), dtype=[tf.float32] * 5)
    loss = tf.reduce_mean(losses)
    gradients = [tf.reduce_mean(gradient, 0) for gradient in gradients]
    return Step(loss=loss, train_op=tf1.train.MomentumOptimizer(0.1, 0.9).apply_gradients(
        zip(gradients, weights), tf1.train.get_global_step()))


# Tensors inside of the loop cannot be fetched.
generate(__file__, model_fn, "clipped gradients of each example by map_fn under Momentum",
         batches=network.batches(), num_steps=20, forward_ops=set())
