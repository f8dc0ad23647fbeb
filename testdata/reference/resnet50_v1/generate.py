"""ResNet-50 version 1 at an eighth of the width: the stride is in the first 1x1 convolution of a
block."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "resnet"))
import network  # noqa: E402

network.generate_case(__file__, 50, "1", seed=9)
