"""Predictions of the MNIST network: classes and probabilities of ten batches."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mnist"))
import network  # noqa: E402
from reference_lib import Step, generate, tf  # noqa: E402


def model_fn(features, labels):
    logits = network.logits(features)
    return Step(predictions={"class_ids": tf.argmax(logits, 1),
                             "probabilities": tf.nn.softmax(logits)})


generate(__file__, model_fn, "predictions of the MNIST network", mode="PREDICT", num_steps=10,
         shared=os.path.dirname(os.path.abspath(network.__file__)))
