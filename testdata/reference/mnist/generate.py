"""Writes what the cases mnist_* share: initial checkpoint, ten batches, forward tensors and
gradients of step 1."""

import network
from reference_lib import generate_shared

generate_shared(__file__, network.loss, network.batches(),
                forward_ops={"BiasAdd", "Relu", "MaxPool"})
