#!/usr/bin/env python3
"""A network of tf.keras.applications in a tf.function, with images that are made once.

--images_benchmark=PROGRAM also runs our program with the same flags and threads before Keras, and
prints its line, Keras' line and a line with the ratio of both speeds.

usage: tf_images.py [--network=MobileNetV2] [--batch_size=32] [--image_size=160]
                    [--compute_dtype=float32|bfloat16] [--steps=100] ...
"""
import json
import os
import subprocess

import measure


def preprocessing(tf, network):
    """The module with preprocess_input, by the beginning of the network's name."""
    modules = {"VGG16": "vgg16", "ResNet": "resnet", "InceptionV3": "inception_v3",
               "Xception": "xception", "DenseNet": "densenet", "MobileNetV2": "mobilenet_v2",
               "MobileNetV3": "mobilenet_v3", "MobileNet": "mobilenet",
               "EfficientNetV2": "efficientnet_v2", "EfficientNet": "efficientnet"}
    name = next(module for start, module in modules.items() if network.startswith(start))
    if name == "resnet" and network.endswith("V2"):
        name = "resnet_v2"
    return getattr(tf.keras.applications, name).preprocess_input


def run_ours(flags):
    """Returns the fields of our benchmark's line."""
    command = [flags.images_benchmark, "--use_tpu=false"]
    command += ["--%s=%s" % (name, getattr(flags, name))
                for name in ("network", "batch_size", "image_size", "compute_dtype", "steps",
                             "seconds", "warmup_steps")]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True,
                          env=dict(os.environ, OMP_NUM_THREADS=str(flags.threads)))
    line = [line for line in done.stdout.splitlines() if line.startswith("{")][-1]
    print(line, flush=True)
    return json.loads(line)


def main():
    flags = measure.parser(__doc__, batch_size=32)
    flags.add_argument("--network", default="MobileNetV2", help="a name of tf.keras.applications")
    flags.add_argument("--image_size", type=int, default=160)
    flags.add_argument("--images_benchmark", default="",
                       help="our program, bazel-bin/models/images/images_benchmark")
    flags = flags.parse_args()
    ours = run_ours(flags) if flags.images_benchmark else None
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import tensorflow as tf
    tf.config.threading.set_intra_op_parallelism_threads(flags.threads)
    tf.config.threading.set_inter_op_parallelism_threads(flags.threads)
    if flags.compute_dtype == "bfloat16":
        tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
    size = flags.image_size
    model = getattr(tf.keras.applications, flags.network)(
        weights=None, classifier_activation=None, input_shape=(size, size, 3))
    preprocess = preprocessing(tf, flags.network)
    optimizer = tf.keras.optimizers.SGD(0.01, 0.9)
    images = tf.random.uniform((flags.batch_size, size, size, 3), 0, 256, tf.int32)
    images = tf.cast(images, tf.uint8)
    labels = tf.random.uniform((flags.batch_size,), 0, 1000, tf.int64)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            pixels = preprocess(tf.cast(images, tf.float32))
            logits = tf.cast(model(pixels, training=True), tf.float32)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    meter = measure.Meter(flags)
    while True:
        step().numpy()
        if meter.step():
            break
    measure.print_training("tf_images", flags, meter, "images", input="synthetic",
                           network=flags.network, image_size=size)
    if ours:
        theirs = meter.per_second(flags.batch_size)
        measure.print_json("images_ratio", {
            "network": flags.network, "compute_dtype": flags.compute_dtype,
            "speed_ratio": theirs and ours["images_per_second"] / theirs,
            "memory_ratio": ours["peak_rss_mib"] / measure.peak_rss_mib()})


if __name__ == "__main__":
    main()
