"""Moving averages of the weights under TensorFlow's names, with a fixed decay and with a decay that
warms up."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "small"))
import network  # noqa: E402

from reference_lib import Step, generate, tf, tf1  # noqa: E402


def model_fn(features, labels):
    loss = network.loss(features, labels)
    global_step = tf1.train.get_global_step()
    train_op = tf1.train.GradientDescentOptimizer(0.2).minimize(loss, global_step)
    variables = tf1.trainable_variables()
    with tf.control_dependencies([train_op]):
        fixed = tf1.train.ExponentialMovingAverage(0.9).apply(variables[:2])
        warming = tf1.train.ExponentialMovingAverage(0.99, num_updates=global_step).apply(
            variables[2:])
    return Step(loss=loss, train_op=tf.group(fixed, warming))


generate(__file__, model_fn, "exponential moving averages", batches=network.batches(), num_steps=20)
