"""ResNet-50 v1.5 of Keras' layers at 1/32 of the width."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "images"))
import networks  # noqa: E402
import resnets  # noqa: E402

networks.generate_case(__file__, resnets.network(50, "1.5", 1 / 32),
                       "ResNet-50 v1.5, width 1/32", small="_3_bn/gamma")
