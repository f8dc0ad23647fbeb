"""The network and the training step of the cases resnet*: TensorFlow's official TPU ResNet, written
anew with tf.layers.

An eighth of the width, 32x32 images, float32. The names of the variables are the original's. If the
environment has REFERENCE_WHOLE_RESNET, it is the whole network on 224x224 images. Those references
are too large for the repository.
"""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reference_lib import Step, generate, tf, tf1  # noqa: E402

WIDTH, CLASSES, SIZE = (64, 1000, 224) if "REFERENCE_WHOLE_RESNET" in os.environ else (8, 6, 32)
BASE_LEARNING_RATE = 0.5
DEPTHS = {18: (False, [2, 2, 2, 2]), 50: (True, [3, 4, 6, 3])}
# Variables with more elements are recorded as norms: all values of three networks would take 15 MB.
MAX_VALUES = 300


def batch_and_steps(depth):
    """The size of a batch and the number of steps. Rounding errors grow faster in ResNet-50, which
    has more than twice as many batch normalizations, so its case has larger batches and fewer
    steps."""
    if "REFERENCE_WHOLE_RESNET" in os.environ:
        return 4, 4
    return (12, 8) if depth == 18 else (32, 3)


def conv(x, filters, size, strides):
    if strides > 1:
        before = (size - 1) // 2
        x = tf.pad(x, [[0, 0], [before, size - 1 - before], [before, size - 1 - before], [0, 0]])
    return tf1.layers.conv2d(x, filters, size, strides, padding="valid" if strides > 1 else "same",
                             use_bias=False, kernel_initializer=tf1.variance_scaling_initializer())


def bn(x, relu=True, last=False):
    x = tf1.layers.batch_normalization(x, momentum=0.9, epsilon=1e-5, training=True)
    if last:
        tf1.add_to_collection("last_gammas", tf1.trainable_variables()[-2])
    return tf.nn.relu(x) if relu else x


def residual_block(x, filters, strides, project, version):
    del version  # only bottleneck blocks have one
    shortcut = bn(conv(x, filters, 1, strides), relu=False) if project else x
    y = bn(conv(x, filters, 3, strides))
    y = bn(conv(y, filters, 3, 1), relu=False, last=True)
    return tf.nn.relu(y + shortcut)


def bottleneck_block(x, filters, strides, project, version):
    shortcut = bn(conv(x, 4 * filters, 1, strides), relu=False) if project else x
    y = bn(conv(x, filters, 1, strides if version == "1" else 1))
    y = bn(conv(y, filters, 3, 1 if version == "1" else strides))
    y = bn(conv(y, 4 * filters, 1, 1), relu=False, last=True)
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
    return tf1.layers.dense(x, CLASSES,
                            kernel_initializer=tf1.random_normal_initializer(stddev=0.01))


def learning_rate(step, depth):
    batch, steps = batch_and_steps(depth)
    batches_per_epoch = 2  # the rate changes within the steps of a case
    epoch = tf.cast(step, tf.float32) / batches_per_epoch
    scaled = BASE_LEARNING_RATE * (batch / 256)
    epochs = steps / batches_per_epoch
    rate = scaled * epoch / (5 / 90 * epochs)
    for multiplier, start in ((1, 5), (0.1, 30), (0.01, 60), (0.001, 80)):
        rate = tf.where(epoch < start / 90 * epochs, rate, scaled * multiplier)
    return rate


def make_model_fn(depth, version):
    def model_fn(features, labels):
        mean = tf.constant([0.485 * 255, 0.456 * 255, 0.406 * 255], shape=[1, 1, 3])
        stddev = tf.constant([0.229 * 255, 0.224 * 255, 0.225 * 255], shape=[1, 1, 3])
        logits = resnet((tf.cast(features, tf.float32) - mean) / stddev, depth, version)
        loss = tf1.losses.softmax_cross_entropy(tf.one_hot(labels, CLASSES), logits,
                                                label_smoothing=0.1)
        loss += 1e-4 * tf.add_n([tf.nn.l2_loss(v) for v in tf1.trainable_variables()
                                 if "batch_normalization" not in v.name])
        step = tf1.train.get_global_step()
        optimizer = tf1.train.MomentumOptimizer(learning_rate(step, depth), 0.9, use_nesterov=True)
        with tf.control_dependencies(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)):
            return Step(loss=loss, train_op=optimizer.minimize(loss, step))
    return model_fn


def initial_gammas(depth):
    """Values for the gammas. The original starts the last one of a block at 0, and then step 1
    shows little of the block. Those of ResNet-50 are small: rounding errors would grow in a chain
    of 16 blocks that are not nearly their shortcuts."""
    rng = np.random.default_rng(7)
    with tf1.Graph().as_default():
        resnet(tf1.placeholder(tf.float32, [2, SIZE, SIZE, 3]), depth, "1.5")
        last = {v.op.name for v in tf1.get_collection("last_gammas")} if depth == 50 else set()
        gammas = [v for v in tf1.trainable_variables() if v.op.name.endswith("/gamma")]
        return {v.op.name: rng.uniform(*((0.1, 0.2) if v.op.name in last else (0.5, 1)),
                                       v.shape).astype(np.float32)
                for v in gammas}


def batches(depth, seed):
    batch, _ = batch_and_steps(depth)
    rng = np.random.default_rng(seed)
    # Coarse pictures, so that the convolutions see more than noise.
    coarse = rng.uniform(0, 255, (2, batch, 8, 8, 3))
    images = np.repeat(np.repeat(coarse, SIZE // 8, axis=2), SIZE // 8, axis=3)
    images += rng.normal(0, 8, images.shape)
    return {"features": np.clip(np.round(images), 0, 255).astype(np.uint8),
            "labels": rng.integers(0, CLASSES, (2, batch)).astype(np.int32)}


# The tolerances are wider than those of other cases: the batch normalizations of the last blocks
# have 12 or 32 values for each channel, and divide rounding errors by small standard deviations.
# seed: of the pictures. With some, a value before a relu is so close to 0 that rounding decides its
# sign (README.md, "Ties").
# A whole network has so many values before a relu that rounding decides the sign of some in every
# run. Gradients and variables of two correct programs then differ by about an eighth (README.md),
# but the losses of all steps do not.
def generate_case(case_file, depth, version, seed=3, same_initial=None):
    rtol, variable_rtol = (5e-5, 0.25) if "REFERENCE_WHOLE_RESNET" in os.environ else (1e-4, 1e-3)
    generate(case_file, make_model_fn(depth, version), f"ResNet-{depth} v{version}, width {WIDTH}",
             num_steps=batch_and_steps(depth)[1], max_values=MAX_VALUES,
             batches=batches(depth, seed), initial=initial_gammas(depth), max_forward_elements=1600,
             forward_ops={"AvgPool", "BiasAdd", "FusedBatchNormV3"},
             same_initial=same_initial, rtol=rtol, variable_rtol=variable_rtol)
