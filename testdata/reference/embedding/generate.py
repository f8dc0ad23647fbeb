"""Writes the files that the cases embedding_* share."""

import network
from reference_lib import generate_shared

generate_shared(__file__, network.loss, network.batches(), forward_ops={"BiasAdd", "Tanh"})
