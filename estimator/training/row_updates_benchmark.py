"""TensorFlow's side of row_updates_benchmark.cc: prints the microseconds of a step.

Usage: row_updates_benchmark.py RULE ROWS USE     (RULE: GradientDescent, Momentum, Adagrad; USE:
                                                  once, twice, clipped)
"""

import sys
import time

import numpy as np
import tensorflow.compat.v1 as tf

COLUMNS, BATCH, STEPS = 32, 512, 300


def main():
    rule, rows, use = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    tf.disable_v2_behavior()
    optimizer = {"GradientDescent": lambda: tf.train.GradientDescentOptimizer(0.1),
                 "Momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
                 "Adagrad": lambda: tf.train.AdagradOptimizer(0.1)}[rule]()
    table = tf.get_variable("table", [rows, COLUMNS], initializer=tf.zeros_initializer())
    places = 1 if use == "once" else 2
    ids = [tf.placeholder(tf.int64, [BATCH // places]) for _ in range(places)]
    loss = tf.add_n([tf.reduce_mean(tf.square(tf.nn.embedding_lookup(table, one) - 1))
                     for one in ids])
    pairs = optimizer.compute_gradients(loss)
    if use == "clipped":
        gradients, variables = zip(*pairs)
        pairs = list(zip(tf.clip_by_global_norm(gradients, 1e-3)[0], variables))
    step = optimizer.apply_gradients(pairs)
    feeds = [[(np.arange(BATCH // places) * 7919 + (places * count + place) * 104729) % rows
              for place in range(places)]
             for count in range(20 + STEPS)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        run = session.make_callable([loss, step], ids)
        for feed in feeds[:20]:
            run(*feed)
        begin = time.perf_counter()
        for feed in feeds[20:]:
            run(*feed)
        print((time.perf_counter() - begin) / STEPS * 1e6)


if __name__ == "__main__":
    main()
