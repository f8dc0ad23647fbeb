#!/usr/bin/env python3
"""ResNet-50 as a Keras model in a tf.function, with images that are made once.

Version 1 is tf.keras.applications.ResNet50. Version 1.5, which Keras does not have, is the same
with the stride of a block in its 3x3 convolution.

usage: tf_resnet.py [--batch_size=32] [--resnet_version=1|1.5] [--compute_dtype=float32|bfloat16]
...
"""
import os

import measure


def resnet50_v1_5(tf, image_size):
    layers = tf.keras.layers

    def conv(x, filters, size, stride=1):
        x = layers.Conv2D(filters, size, stride, padding="same", use_bias=False)(x)
        return layers.BatchNormalization(momentum=0.9, epsilon=1e-5)(x)

    def block(x, filters, stride, project):
        shortcut = conv(x, 4 * filters, 1, stride) if project else x
        x = layers.ReLU()(conv(x, filters, 1))
        x = layers.ReLU()(conv(x, filters, 3, stride))
        return layers.ReLU()(layers.Add()([conv(x, 4 * filters, 1), shortcut]))

    inputs = layers.Input((image_size, image_size, 3))
    x = layers.MaxPool2D(3, 2, padding="same")(layers.ReLU()(conv(inputs, 64, 7, 2)))
    for group, num_blocks in enumerate([3, 4, 6, 3]):
        for i in range(num_blocks):
            x = block(x, 64 << group, 2 if group > 0 and i == 0 else 1, i == 0)
    return tf.keras.Model(inputs, layers.Dense(1000)(layers.GlobalAveragePooling2D()(x)))


def main():
    flags = measure.parser(__doc__, batch_size=32)
    flags.add_argument("--resnet_version", choices=["1", "1.5"], default="1")
    flags.add_argument("--image_size", type=int, default=224)
    flags = flags.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import tensorflow as tf
    tf.config.threading.set_intra_op_parallelism_threads(flags.threads)
    tf.config.threading.set_inter_op_parallelism_threads(flags.threads)
    if flags.compute_dtype == "bfloat16":
        tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
    if flags.resnet_version == "1":
        model = tf.keras.applications.ResNet50(
            weights=None, classifier_activation=None,
            input_shape=(flags.image_size, flags.image_size, 3))
    else:
        model = resnet50_v1_5(tf, flags.image_size)
    optimizer = tf.keras.optimizers.SGD(0.1, 0.9)
    images = tf.random.uniform((flags.batch_size, flags.image_size, flags.image_size, 3))
    labels = tf.random.uniform((flags.batch_size,), 0, 1000, tf.int64)

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
    measure.print_training("tf_resnet", flags, meter, "images", input="synthetic",
                           resnet_version=flags.resnet_version)


if __name__ == "__main__":
    main()
