"""A detector: boxes and scores of anchors, padded non-maximum suppression of each image, and a
second head that classifies the boxes that are left."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reference_lib import Step, generate, tf, tf1  # noqa: E402

GRID, BOXES, CLASSES = 4, 6, 3
ANCHORS = GRID * GRID


def anchors():
    """Boxes [16, 4] around the cells of the grid: y1, x1, y2, x2."""
    y, x = np.meshgrid(np.arange(GRID), np.arange(GRID), indexing="ij")
    corner = np.stack([y, x], -1).reshape(ANCHORS, 2) / GRID - 0.1
    return np.concatenate([corner, corner + 0.45], 1).astype(np.float32)


def model_fn(features, labels):
    hidden = tf1.layers.conv2d(features, 6, 3, strides=2, padding="same", activation=tf.nn.relu)
    head = tf.reshape(tf1.layers.conv2d(hidden, 5, 1), [-1, ANCHORS, 5])
    boxes = anchors() + 0.2 * tf.tanh(head[:, :, :4])
    scores = head[:, :, 4]
    objects = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(
        labels=labels["objects"], logits=scores))
    corners = tf.reduce_mean(tf.square(boxes - labels["boxes"]) * labels["objects"][:, :, None])

    def suppress(row):
        return tf.image.non_max_suppression_padded(row[0], row[1], BOXES, iou_threshold=0.3,
                                                   score_threshold=-0.4,
                                                   pad_to_max_output_size=True)

    indices, valid = tf.map_fn(suppress, (boxes, tf.stop_gradient(scores)),
                               dtype=(tf.int32, tf.int32))
    proposals = tf.gather(boxes, indices, batch_dims=1, name="proposals")
    pixels = tf.gather(tf.reshape(hidden, [-1, ANCHORS, 6]), indices, batch_dims=1, name="pixels")
    logits = tf1.layers.dense(tf.concat([proposals, pixels], 2), CLASSES)
    classes = tf.gather(labels["classes"], indices, batch_dims=1)
    of_box = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=classes, logits=logits)
    loss = objects + corners + tf.reduce_mean(of_box * tf.sequence_mask(valid, BOXES, tf.float32))
    return Step(loss=loss, train_op=tf1.train.MomentumOptimizer(0.1, 0.9).minimize(
        loss, tf1.train.get_global_step()))


rng = np.random.default_rng(40)
batches = {"features": rng.standard_normal((3, 4, 2 * GRID, 2 * GRID, 2)).astype(np.float32),
           "labels/objects": rng.integers(0, 2, (3, 4, ANCHORS)).astype(np.float32),
           "labels/classes": rng.integers(0, CLASSES, (3, 4, ANCHORS)).astype(np.int32),
           "labels/boxes": (anchors() + 0.1 * rng.standard_normal((3, 4, ANCHORS, 4))
                            ).astype(np.float32)}
# Low scores, so that between 0 and all 6 boxes are left. The boxes show which they are.
initial = {"conv2d_1/bias": np.array([0, 0, 0, 0, -0.5], np.float32)}
generate(__file__, model_fn, "a detector with padded non-maximum suppression under Momentum",
         batches=batches, num_steps=20, initial=initial,
         forward_ops={"BiasAdd", "GatherV2", "Tanh"})
