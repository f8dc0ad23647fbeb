"""ResNet-18 at an eighth of the width. Versions 1 and 1.5 are the same network."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "resnet"))
import network  # noqa: E402

network.generate_case(__file__, 18, "1.5")
