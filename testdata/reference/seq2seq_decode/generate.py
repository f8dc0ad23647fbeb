"""Greedy decoding and beam search with the network that the case seq2seq has trained."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "seq2seq"))
import network  # noqa: E402
from reference_lib import Step, generate, trained  # noqa: E402

STEPS, BEAMS = 9, 3


def model_fn(features, labels):
    del labels
    predictions = {}
    predictions["tokens"], predictions["logits"], predictions["length"] = network.greedy(features,
                                                                                         STEPS)
    for weight, name in ((0.0, "beam"), (1.0, "long_beam")):
        sequences, scores, lengths = network.beam_search(features, STEPS, BEAMS, weight)
        predictions.update({f"{name}_tokens": sequences, f"{name}_scores": scores,
                            f"{name}_length": lengths})
    return Step(predictions=predictions)


batches = {name: value for name, value in network.batches().items()
           if name.startswith("features/")}
generate(__file__, model_fn, "greedy decoding and beam search with Luong attention",
         batches=batches, mode="PREDICT", num_steps=3,
         initial=trained(os.path.join(HERE, "..", "seq2seq")), forward_ops=set())
