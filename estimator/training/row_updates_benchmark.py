"""TensorFlow's side of row_updates_benchmark.cc: prints the milliseconds of a step.

Usage: row_updates_benchmark.py RULE ROWS     (RULE: GradientDescent, Momentum, Adagrad)
"""

import sys
import time

import numpy as np
import tensorflow.compat.v1 as tf

COLUMNS, BATCH, STEPS = 128, 1024, 50


def main():
    rule, rows = sys.argv[1], int(sys.argv[2])
    tf.disable_v2_behavior()
    optimizer = {"GradientDescent": lambda: tf.train.GradientDescentOptimizer(0.1),
                 "Momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
                 "Adagrad": lambda: tf.train.AdagradOptimizer(0.1)}[rule]()
    table = tf.get_variable("table", [rows, COLUMNS], initializer=tf.zeros_initializer())
    ids = tf.placeholder(tf.int64, [BATCH])
    loss = tf.reduce_mean(tf.square(tf.nn.embedding_lookup(table, ids) - 1))
    step = optimizer.minimize(loss)
    feeds = [(np.arange(BATCH) * 7919 + count * 104729) % rows for count in range(STEPS)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        run = session.make_callable([loss, step], [ids])
        run(feeds[0])
        run(feeds[1])
        begin = time.perf_counter()
        for feed in feeds:
            run(feed)
        print((time.perf_counter() - begin) / STEPS * 1000)


if __name__ == "__main__":
    main()
