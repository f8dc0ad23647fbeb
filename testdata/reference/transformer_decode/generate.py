"""Beam search with the network that the case transformer has trained."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "transformer"))
import network  # noqa: E402
from reference_lib import Step, generate, trained  # noqa: E402


def model_fn(features, labels):
    del labels
    ids, scores = network.beam_search(features)
    return Step(predictions={"outputs": ids[:, 0, 1:], "scores": scores[:, 0]})


generate(__file__, model_fn, "the official transformer's beam search",
         batches={"features": network.batches()["features"]}, mode="PREDICT", num_steps=3,
         initial=trained(os.path.join(HERE, "..", "transformer")), forward_ops=set())
