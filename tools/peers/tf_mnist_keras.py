#!/usr/bin/env python3
"""The network of mnist_tpu.cc as a Keras model in a tf.function, with images that are made once.

usage: tf_mnist_keras.py [--batch_size=1024] [--compute_dtype=float32|bfloat16] ...
"""
import os

import measure


def main():
    flags = measure.parser(__doc__, batch_size=1024).parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import tensorflow as tf
    tf.config.threading.set_intra_op_parallelism_threads(flags.threads)
    tf.config.threading.set_inter_op_parallelism_threads(flags.threads)
    if flags.compute_dtype == "bfloat16":
        tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
    layers = tf.keras.layers
    model = tf.keras.Sequential([
        layers.Conv2D(32, 5, padding="same", activation="relu", input_shape=(28, 28, 1)),
        layers.MaxPool2D(),
        layers.Conv2D(64, 5, padding="same", activation="relu"),
        layers.MaxPool2D(),
        layers.Flatten(),
        layers.Dense(1024, activation="relu"),
        layers.Dropout(0.4),
        layers.Dense(10),
    ])
    optimizer = tf.keras.optimizers.SGD(0.05)
    images = tf.random.uniform((flags.batch_size, 28, 28, 1))
    labels = tf.random.uniform((flags.batch_size,), 0, 10, tf.int64)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            logits = tf.cast(model(images, training=True), tf.float32)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    meter = measure.Meter(flags)
    while True:
        step().numpy()
        if meter.step():
            break
    measure.print_training("tf_mnist_keras", flags, meter, "images", input="synthetic")


if __name__ == "__main__":
    main()
