"""ResNet-50, version 1, at an eighth of the width."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "resnet"))
import network  # noqa: E402

network.generate_case(__file__, 50, "1", "ResNet-50 v1", batches=network.batches(),
                      initial=network.initial_gammas(50))
