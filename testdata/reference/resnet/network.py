"""The network and the training step of the cases resnet*: TensorFlow's official TPU ResNet, written anew with tf.layers.

An eighth of the width, 32x32 images, float32. The names of the variables are the original's. If the environment has
REFERENCE_WHOLE_RESNET, it is the whole network on 224x224 images. Those references are too large for the repository.
"""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reference_lib import Step, generate, tf, tf1  # noqa: E402

WIDTH, CLASSES, SIZE, BATCH, STEPS = (64, 1000, 224, 4, 4) if "REFERENCE_WHOLE_RESNET" in os.environ else (8, 6, 32, 12, 8)
IMAGES_PER_EPOCH = 2 * BATCH  # the rate changes within the steps of a case
BASE_LEARNING_RATE = 0.5
DEPTHS = {18: (False, [2, 2, 2, 2]), 50: (True, [3, 4, 6, 3])}
# Variables with more elements are recorded as norms: all values of three networks would take 15 MB.
MAX_VALUES = 300


def conv(x, filters, size, strides):
    if strides > 1:
        before = (size - 1) // 2
        x = tf.pad(x, [[0, 0], [before, size - 1 - before], [before, size - 1 - before], [0, 0]])
    return tf1.layers.conv2d(x, filters, size, strides, padding="valid" if strides > 1 else "same", use_bias=False,
                             kernel_initializer=tf1.variance_scaling_initializer())


def bn(x, relu=True):
    x = tf1.layers.batch_normalization(x, momentum=0.9, epsilon=1e-5, training=True)
    return tf.nn.relu(x) if relu else x


def residual_block(x, filters, strides, project, version):
    del version  # only bottleneck blocks have one
    shortcut = bn(conv(x, filters, 1, strides), relu=False) if project else x
    y = bn(conv(x, filters, 3, strides))
    y = bn(conv(y, filters, 3, 1), relu=False)
    return tf.nn.relu(y + shortcut)


def bottleneck_block(x, filters, strides, project, version):
    shortcut = bn(conv(x, 4 * filters, 1, strides), relu=False) if project else x
    y = bn(conv(x, filters, 1, strides if version == "1" else 1))
    y = bn(conv(y, filters, 3, 1 if version == "1" else strides))
    y = bn(conv(y, 4 * filters, 1, 1), relu=False)
    return tf.nn.relu(y + shortcut)


def resnet(x, depth, version):
    bottleneck, groups = DEPTHS[depth]
    block = bottleneck_block if bottleneck else residual_block
    x = tf.identity(conv(x, WIDTH, 7, 2), "initial_conv")
    x = tf1.layers.max_pooling2d(bn(x), 3, 2, padding="same")
    for group, blocks in enumerate(groups):
        for i in range(blocks):
            x = block(x, WIDTH << group, 2 if i == 0 and group > 0 else 1, i == 0, version)
    x = tf1.layers.average_pooling2d(x, x.shape[1:3], 1)
    x = tf.reshape(x, [-1, x.shape[3]])
    return tf1.layers.dense(x, CLASSES, kernel_initializer=tf1.random_normal_initializer(stddev=0.01))


def learning_rate(step):
    epoch = tf.cast(step, tf.float32) / (IMAGES_PER_EPOCH / BATCH)
    scaled = BASE_LEARNING_RATE * (BATCH / 256)
    epochs = STEPS / (IMAGES_PER_EPOCH // BATCH)
    rate = scaled * epoch / (5 / 90 * epochs)
    for multiplier, start in ((1, 5), (0.1, 30), (0.01, 60), (0.001, 80)):
        rate = tf.where(epoch < start / 90 * epochs, rate, scaled * multiplier)
    return rate


def make_model_fn(depth, version):
    def model_fn(features, labels):
        mean = tf.constant([0.485 * 255, 0.456 * 255, 0.406 * 255], shape=[1, 1, 3])
        stddev = tf.constant([0.229 * 255, 0.224 * 255, 0.225 * 255], shape=[1, 1, 3])
        logits = resnet((tf.cast(features, tf.float32) - mean) / stddev, depth, version)
        loss = tf1.losses.softmax_cross_entropy(tf.one_hot(labels, CLASSES), logits, label_smoothing=0.1)
        loss += 1e-4 * tf.add_n([tf.nn.l2_loss(v) for v in tf1.trainable_variables()
                                 if "batch_normalization" not in v.name])
        step = tf1.train.get_global_step()
        optimizer = tf1.train.MomentumOptimizer(learning_rate(step), 0.9, use_nesterov=True)
        with tf.control_dependencies(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)):
            return Step(loss=loss, train_op=optimizer.minimize(loss, step))
    return model_fn


def initial_gammas(depth):
    """Values for the gammas. The original starts the last one of a block at 0, and then step 1 shows little of the
    block."""
    rng = np.random.default_rng(7)
    with tf1.Graph().as_default():
        resnet(tf1.placeholder(tf.float32, [2, SIZE, SIZE, 3]), depth, "1.5")
        return {v.op.name: rng.uniform(0.5, 1, v.shape).astype(np.float32)
                for v in tf1.trainable_variables() if v.op.name.endswith("/gamma")}


def batches():
    rng = np.random.default_rng(3)
    # Coarse pictures, so that the convolutions see more than noise.
    coarse = rng.uniform(0, 255, (2, BATCH, 8, 8, 3))
    images = np.repeat(np.repeat(coarse, SIZE // 8, axis=2), SIZE // 8, axis=3)
    images += rng.normal(0, 8, images.shape)
    return {"features": np.clip(np.round(images), 0, 255).astype(np.uint8),
            "labels": rng.integers(0, CLASSES, (2, BATCH)).astype(np.int32)}


# The tolerances are wider than those of other cases: the batch normalizations of the last blocks have 12 values for each
# channel, and divide rounding errors by small standard deviations.
def generate_case(case_file, depth, version, name, **options):
    generate(case_file, make_model_fn(depth, version), f"{name}, width {WIDTH}", num_steps=STEPS, max_values=MAX_VALUES,
             max_forward_elements=1600, forward_ops={"AvgPool", "BiasAdd", "FusedBatchNormV3"},
             rtol=1e-4, variable_rtol=1e-3, **options)
