"""ViT of Keras' layers: two small blocks."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "images"))
import networks  # noqa: E402
import vit  # noqa: E402


def make_network(shape):
    return vit.network(shape, networks.CLASSES, patch_size=8, hidden_size=24, blocks=2, heads=2,
                       mlp_size=48)


networks.generate_case(__file__, make_network, "ViT, 2 blocks, hidden size 24", times=2, rate=0.1)
