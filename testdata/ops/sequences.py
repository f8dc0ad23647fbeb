"""Rows of connectionist temporal classification (CTC). See cases.py."""

import numpy as np
import tensorflow as tf

from cases import Case, floats, i32, ints

v1 = tf.compat.v1


def ctc_losses():
    """The number of labels is not the same in each example. The last class is the blank, which is
    also padding. There is no case in float64: TensorFlow computes parts of it in float32."""
    ragged = [np.int64([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [2, 0]]), i32(0, 1, 0, 3, 3, 2),
              i32(7, 5, 3)]
    for name, options in {"f32": {}, "not_merged": {"ctc_merge_repeated": False},
                          "collapsed": {"preprocess_collapse_repeated": True},
                          "both": {"ctc_merge_repeated": False,
                                   "preprocess_collapse_repeated": True}}.items():
        yield Case("CTCLoss", name, [floats([7, 3, 5], -3, 3)] + ragged, options,
                   tolerance="composed", ys=[0])
    lengths = {"no_path": i32(7, 2, 3), "ignored": i32(2, 5, 0)}
    for name, length in lengths.items():
        yield Case("CTCLoss", name, [floats([7, 3, 5], -3, 3)] + ragged[:2] + [length],
                   {"ignore_longer_outputs_than_inputs": True}, tolerance="composed", ys=[0])
    yield Case("CTCLoss", "padded", [floats([4, 2, 3], -9, 9),
                                     np.int64([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]),
                                     i32(1, 0, 2, 1, 2, 2), i32(4, 3)], tolerance="composed",
               ys=[0])
    # TensorFlow's function of padded labels takes its own way and allows examples without labels.
    for name, (blank, time_major) in {"first": (0, True), "middle": (2, False),
                                      "last": (-1, True)}.items():
        labels = ints([3, 4], 1 if blank == 0 else 0, 5 if blank >= 0 else 4)
        labels[labels == blank] = 4

        def run(labels, logits, label_length, logit_length, blank=blank, time_major=time_major):
            return tf.nn.ctc_loss(labels, logits, label_length, logit_length, time_major,
                                  blank_index=blank)
        yield Case("fn.CtcLoss", name,
                   [labels, floats([8, 3, 5] if time_major else [3, 8, 5], -3, 3), i32(3, 0, 4),
                    i32(8, 5, 8)], tolerance="statistics", run=run)


def ctc_decoders():
    attrs = {"beam_width": 4, "top_paths": 1, "merge_repeated": False}
    for name, shape in {"one": [1, 1, 1], "odd": [7, 3, 5]}.items():
        yield Case("CTCBeamSearchDecoder", name,
                   [floats(shape, -3, 3), np.full(shape[1], shape[0], np.int32)], attrs,
                   tolerance="composed", out=[3], gradient=False)
    yield Case("CTCBeamSearchDecoder", "three", [floats([7, 3, 5], -3, 3), i32(7, 3, 5)],
               {**attrs, "top_paths": 3}, tolerance="composed", out=[9], gradient=False)

    def dense(decoded, shape):
        ids = tf.stack([v1.sparse_to_dense(d.indices, shape, d.values, -1) for d in decoded], 1)
        return ids, tf.reduce_sum(tf.cast(ids >= 0, tf.int32), -1)

    logits, lengths = floats([9, 3, 4], -2, 2), i32(9, 6, 0)
    many = floats([20, 3, 6], -2, 2)
    for name, options in {"merged": {}, "all": {"merge_repeated": False},
                          "blank_1": {"blank_index": 1}}.items():
        def greedy(inputs, length, options=options):
            decoded, score = tf.nn.ctc_greedy_decoder(inputs, length, **options)
            ids, lengths = dense(decoded, [3, 9])
            return ids[:, 0], lengths[:, 0], score[:, 0]
        yield Case("fn.CtcGreedyDecoder", name, [logits, lengths], tolerance="sum", run=greedy,
                   gradient=False)
    for name, (width, merge) in {"wide": (100, False), "narrow": (3, False),
                                 "merged": (5, True)}.items():
        def beam(inputs, length, width=width, merge=merge):
            decoded, score = v1.nn.ctc_beam_search_decoder(inputs, length, width, 3, merge)
            return *dense(decoded, [3, 20]), score
        yield Case("fn.CtcBeamSearchDecoder", name, [many, i32(20, 13, 4)], tolerance="composed",
                   run=beam, gradient=False)


TABLES = (ctc_losses, ctc_decoders)
