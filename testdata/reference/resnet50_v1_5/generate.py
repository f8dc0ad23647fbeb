"""ResNet-50, version 1.5, at an eighth of the width, from the first values and batches of resnet50_v1."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "resnet"))
import network  # noqa: E402

network.generate_case(__file__, 50, "1.5", "ResNet-50 v1.5",
                      shared=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "resnet50_v1"),
                      own_first_step=True)
