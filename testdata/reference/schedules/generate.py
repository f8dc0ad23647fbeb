"""Every learning-rate schedule. Each writes its rate into a variable, and trains its own weight
with it."""

import functools
import os
import sys
from unittest import mock

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reference_lib import Step, generate, tf, tf1  # noqa: E402

KERAS_SCHEDULES = "tensorflow.python.keras.optimizer_v2.learning_rate_schedule"


def schedules(global_step):
    train = tf1.train
    step = tf.cast(global_step, tf.float32)
    yield "constant", tf.constant(0.3)
    yield "exponential_decay", train.exponential_decay(0.5, global_step, 7, 0.8)
    yield "exponential_decay_staircase", train.exponential_decay(0.5, global_step, 7, 0.8,
                                                                 staircase=True)
    yield "natural_exp_decay", train.natural_exp_decay(0.5, global_step, 7, 0.8)
    yield "natural_exp_decay_staircase", train.natural_exp_decay(0.5, global_step, 7, 0.8,
                                                                 staircase=True)
    yield "inverse_time_decay", train.inverse_time_decay(0.5, global_step, 7, 0.8)
    yield "inverse_time_decay_staircase", train.inverse_time_decay(0.5, global_step, 7, 0.8,
                                                                   staircase=True)
    yield "polynomial_decay", train.polynomial_decay(0.5, global_step, 15, 0.01, power=2)
    # 8, not 7: TensorFlow's graph optimizer turns s / 7 into s * (1 / 7). For s = 21 that exceeds 3
    # and starts a cycle early.
    yield "polynomial_decay_cycle", train.polynomial_decay(0.5, global_step, 8, 0.01, power=0.5,
                                                           cycle=True)
    yield "piecewise_constant", train.piecewise_constant(global_step, [5, 12], [0.5, 0.2, 0.1])
    yield "cosine_decay", train.cosine_decay(0.5, global_step, 20, alpha=0.1)
    yield "cosine_decay_restarts", train.cosine_decay_restarts(0.5, global_step, 6, t_mul=1.5,
                                                               m_mul=0.8, alpha=0.1)
    yield "linear_cosine_decay", train.linear_cosine_decay(0.5, global_step, 20, num_periods=1.5,
                                                           alpha=0.1, beta=0.01)
    # The function takes no seed, but the op that it builds does.
    with mock.patch(f"{KERAS_SCHEDULES}.random_ops.random_normal",
                    functools.partial(tf1.random_normal, seed=5)):
        yield "noisy_linear_cosine_decay", train.noisy_linear_cosine_decay(
            0.5, global_step, 20, initial_variance=0.3, variance_decay=0.6, num_periods=2,
            alpha=0.2, beta=0.05)
    # Schedules for which TensorFlow has no function, as in the programs named in
    # nn/train/schedule.h.
    yield "noam_decay", 2.0 * 64 ** -0.5 * tf.minimum((step + 1) ** -0.5, (step + 1) * 8.0 ** -1.5)
    linear = train.polynomial_decay(0.5, global_step, 25, 0.0)
    is_warmup = tf.cast(step < 5.0, tf.float32)
    yield "warm_up", (1 - is_warmup) * linear + is_warmup * (0.5 * step / 5.0)
    yield "warm_up_scaled", linear * tf.minimum(1.0, step / 5.0)
    cosine = train.cosine_decay(0.5, tf.maximum(step - 5.0, 0.0), 15)
    yield "warm_up_then", tf.where(step < 5.0, 0.1 + (0.5 - 0.1) * step / 5.0, cosine)


def model_fn(features, labels):
    global_step = tf1.train.get_global_step()
    losses, updates = [], []
    for name, rate in schedules(global_step):
        weight = tf1.get_variable(f"{name}/weight", [], initializer=tf1.zeros_initializer())
        seen = tf1.get_variable(f"{name}/rate", [], initializer=tf1.zeros_initializer(),
                                trainable=False)
        losses.append(weight * tf.reduce_mean(features))
        optimizer = tf1.train.GradientDescentOptimizer(rate)
        with tf.control_dependencies([losses[-1]]):
            updates.append(optimizer.minimize(losses[-1], var_list=[weight]))
        updates.append(seen.assign(rate))
    with tf.control_dependencies(updates):
        train_op = global_step.assign_add(1).op
    return Step(loss=tf.add_n(losses), train_op=train_op)


# 1e-5: near the end of a cosine, 1 + cos(x) has lost all but five digits.
generate(__file__, model_fn, "every learning-rate schedule",
         batches={"features": np.ones([1, 2], np.float32)}, num_steps=30,
         random=True, variable_rtol=1e-5)
