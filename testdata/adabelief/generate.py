#!/usr/bin/env python3
"""Prints the weights of estimator/nn/train/adabelief_test.cc: 12 steps of the Python package
adabelief_tf in float64.

Command: python generate.py     (needs tensorflow-cpu 2.15.1, adabelief_tf 0.2.1, tabulate,
                                colorama)
The loss is sum(slope * w^2) with slope [0.5, -1, 2], and w starts as [1, -2, 3].
"""

import tensorflow as tf

# The package is written for the optimizers that Keras now calls legacy.
tf.keras.optimizers.Optimizer = tf.keras.optimizers.legacy.Optimizer
from adabelief_tf import AdaBeliefOptimizer  # noqa: E402

CASES = {
    "defaults with beta_2 = 0.9": {},
    "amsgrad, weight decay": {"amsgrad": True, "weight_decay": 0.1},
    "amsgrad, not rectified": {"amsgrad": True, "rectify": False},
    "sma_threshold": {"sma_threshold": 6.5},
    "warm-up": {"total_steps": 10, "warmup_proportion": 0.3, "min_lr": 0.01},
}


def main():
    for name, options in CASES.items():
        w, slope = tf.Variable([1.0, -2.0, 3.0], dtype=tf.float64), tf.constant([0.5, -1.0, 2.0],
                                                                                tf.float64)
        optimizer = AdaBeliefOptimizer(0.05, beta_2=0.9, print_change_log=False, **options)
        for _ in range(12):
            optimizer.apply_gradients([(2 * slope * w, w)])
        print(name, [float(f"{x:.9g}") for x in w.numpy()])


if __name__ == "__main__":
    main()
