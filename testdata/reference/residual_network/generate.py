"""A residual network of three blocks as in ResNet v1, with weight decay and Nesterov momentum."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reference_lib import FORWARD_OPS, Step, generate, tf, tf1  # noqa: E402


def conv_bn(x, filters, size, strides=1, relu=True):
    x = tf1.layers.conv2d(x, filters, size, strides, padding="same", use_bias=False)
    x = tf1.layers.batch_normalization(x, momentum=0.9, epsilon=1e-5, training=True)
    return tf.nn.relu(x) if relu else x


def block(x, filters, strides=1):
    shortcut = x if strides == 1 and x.shape[-1] == filters else conv_bn(x, filters, 1, strides,
                                                                         relu=False)
    y = conv_bn(x, filters, 3, strides)
    y = conv_bn(y, filters, 3, relu=False)
    return tf.nn.relu(y + shortcut)


def model_fn(features, labels):
    x = conv_bn(features, 4, 3)
    x = tf1.layers.max_pooling2d(x, 3, 2, padding="same")
    x = block(x, 4)
    x = block(x, 8, strides=2)
    x = block(x, 8)
    logits = tf1.layers.dense(tf.reduce_mean(x, [1, 2]), 5)
    loss = tf1.losses.softmax_cross_entropy(tf.one_hot(labels, 5), logits, label_smoothing=0.1)
    loss += 1e-3 * tf.add_n([tf.nn.l2_loss(v) for v in tf1.trainable_variables()
                             if "batch_normalization" not in v.name])
    optimizer = tf1.train.MomentumOptimizer(0.02, 0.9, use_nesterov=True)
    with tf.control_dependencies(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)):
        return Step(loss=loss, train_op=optimizer.minimize(loss, tf1.train.get_global_step()))


rng = np.random.default_rng(5)
batches = {"features": rng.standard_normal((4, 8, 15, 15, 3)).astype(np.float32),
           "labels": rng.integers(0, 5, (4, 8)).astype(np.int32)}
generate(__file__, model_fn, "a residual network", batches=batches, num_steps=15,
         forward_ops=FORWARD_OPS | {"Mean"})  # the global pooling
