"""ResNet-18 v2 of Keras' layers at 1/32 of the width."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "images"))
import networks  # noqa: E402
import resnets  # noqa: E402

networks.generate_case(__file__, resnets.network(18, "2", 1 / 32),
                       "ResNet-18 v2, width 1/32", small="_1_bn/gamma")
