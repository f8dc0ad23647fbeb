"""Records what TensorFlow 2.15.1 computes for the model, into this folder. The test needs only the
files. Record them again after a change of the model:

    python -m venv /tmp/tf && /tmp/tf/bin/pip install tensorflow-cpu==2.15.1
    /tmp/tf/bin/python reference/record_reference.py
"""

import os
import sys

# Where Estimator has reference_lib.py.
LIBRARY = "@REFERENCE_LIB@"
sys.path.insert(0, os.environ.get("ESTIMATOR_REFERENCE_LIB", LIBRARY))
import numpy as np  # noqa: E402
from reference_lib import Step, generate, tf, tf1  # noqa: E402


def model_fn(features, labels):
    hidden = tf1.layers.dense(features["x"], 16, activation=tf.nn.relu)
    logits = tf1.layers.dense(hidden, 2)
    loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = tf1.train.MomentumOptimizer(0.1, 0.9)
    return Step(loss=loss, train_op=optimizer.minimize(loss, tf1.train.get_global_step()))


rng = np.random.default_rng(1)
x = rng.uniform(size=(4, 16, 2)).astype(np.float32)
generate(__file__, model_fn, "points of the unit square", num_steps=20,
         batches={"features/x": x, "labels": (x[:, :, 0] > x[:, :, 1]).astype(np.int32)})
