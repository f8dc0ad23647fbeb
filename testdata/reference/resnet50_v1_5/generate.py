"""ResNet-50 version 1.5 at an eighth of the width: the stride is in the 3x3 convolution of a
block."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "resnet"))
import network  # noqa: E402

network.generate_case(__file__, 50, "1.5", seed=5,
                      same_initial=os.path.join(HERE, "..", "resnet50_v1"))
