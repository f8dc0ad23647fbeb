"""The MNIST network with AdaBelief as the Python package adabelief_tf has it by default: rectified,
with epsilon 1e-14."""

import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "mnist"))
import network  # noqa: E402

spec = importlib.util.spec_from_file_location("adabelief",
                                              os.path.join(HERE, "..", "mnist_adabelief",
                                                           "generate.py"))
adabelief = importlib.util.module_from_spec(spec)
spec.loader.exec_module(adabelief)

network.generate(__file__, lambda: adabelief.AdaBelief(0.001, 1e-14, 0.01, True),
                 "the MNIST network, AdaBelief(0.001, weight_decay 0.01)")
