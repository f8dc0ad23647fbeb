"""Rows of functions that consist of several ops: op `fn.NAME` is the C++ function NAME. See
cases.py."""

import numpy as np
import tensorflow as tf

from cases import EDGES, F32, SPECIAL, Case, floats, i32, ints  # noqa: F401


def activations():
    functions = {"Swish": tf.nn.swish, "Gelu": tf.nn.gelu,
                 "GeluApproximate": lambda x: tf.nn.gelu(x, approximate=True)}
    for name, run in functions.items():
        for edge, shape in EDGES.items():
            yield Case("fn." + name, edge, [floats(shape, -4, 4)], tolerance="composed", run=run)
        yield Case("fn." + name, "far",
                   [F32([-100, -7, -2.5, -1, -0.25, 0, 0.25, 1, 3, 6, 7, 100])],
                   tolerance="composed", run=run)


def losses():
    def sigmoid(labels, logits):
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
    for edge, shape in EDGES.items():
        yield Case("fn.SigmoidCrossEntropyWithLogits", edge,
                   [floats(shape, 0, 1, key=1), floats(shape, -6, 6, key=2)],
                   tolerance="composed", run=sigmoid)
    yield Case("fn.SigmoidCrossEntropyWithLogits", "far",
               [F32([0, 1, 0.5, 1, 0]), F32([1e4, -1e4, 0, -0.0, 88])], tolerance="composed",
               run=sigmoid)
    for axis in (0, 1, -1):
        name = f"axis_{axis}".replace("-", "m")
        for op, run in {"Softmax": tf.nn.softmax, "LogSoftmax": tf.nn.log_softmax}.items():
            yield Case(f"fn.{op}", name, [floats([3, 5, 2], -4, 4)], tolerance="composed",
                       run=lambda x, run=run, axis=axis: run(x, axis))


def normalizations():
    def batch(x, mean, variance, offset, scale):
        return tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)

    def layer(x, scale, offset):
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)
    for name, shape in {"plain": [2, 2, 3, 4], "rows": [7, 5], "one": [1, 1],
                        "empty": [0, 3]}.items():
        c = shape[-1:]
        vectors = [floats(c, key=2), floats(c, 0.5, 2, key=3), floats(c, key=4),
                   floats(c, 0.5, 2, key=5)]
        yield Case("fn.BatchNormalization", name, [floats(shape, key=1)] + vectors,
                   tolerance="composed", run=batch)
        yield Case("fn.LayerNorm", name, [floats(shape, key=1), vectors[1], vectors[0]],
                   tolerance="statistics", run=layer)
        yield Case("fn.L2Normalize", name, [floats(shape, 0.2, 2, key=1)], tolerance="statistics",
                   run=lambda x: tf.math.l2_normalize(x, axis=-1))


def pools():
    """Relu before a pool: makes ties at zero, through which no gradient flows."""
    windows = {"fn.MaxPoolOfRelu": (2, "VALID"), "fn.OverlappingMaxPoolOfRelu": (3, "SAME")}
    for op, (size, padding) in windows.items():
        def run(x, size=size, padding=padding):
            return tf.nn.max_pool2d(tf.nn.relu(x), size, 2, padding)
        for name, shape in {"odd": [2, 5, 7, 3], "vectors": [2, 4, 6, 32],
                            "empty": [0, 4, 4, 2]}.items():
            yield Case(op, name, [floats(shape, key=6)], tolerance="sum", run=run)
            yield Case(op, f"{name}_ties", [ints(shape, -1, 2, F32, key=7)], tolerance="sum",
                       run=run)


def orderings():
    """The last digit of a name is the axis."""
    rows = {"axis_m1": floats([5, 7]), "axis_0": floats([3, 5, 2]), "axis_1": floats([2, 3, 4]),
            "ties_1": ints([3, 9], 0, 4, F32), "one_0": floats([1]), "empty_1": floats([0, 3]),
            "i32_0": ints([11]), "lowest_0": i32(5, -2**31, 2**31 - 1, -1)}
    for name, x in rows.items():
        axis = -1 if name == "axis_m1" else int(name[-1])
        for op, run in {"Sort": tf.sort, "ArgSort": tf.argsort}.items():
            for direction in ("ASCENDING", "DESCENDING"):
                yield Case(f"fn.{op}{direction.title()}", name, [x], tolerance="composed",
                           run=lambda x, run=run, axis=axis,
                           direction=direction: run(x, axis, direction))


def distances():
    """TensorFlow's function takes SparseTensors."""
    def sparse(ids, lengths):
        where = tf.where(tf.sequence_mask(lengths, ids.shape[1]))
        return tf.SparseTensor(where, tf.gather_nd(ids, where), ids.shape)
    for name, (batch, m, n, normalize) in {"plain": (5, 7, 6, True), "counts": (5, 4, 9, False),
                                           "one": (1, 1, 1, True), "short": (4, 0, 3, True),
                                           "no_truth": (3, 4, 0, True)}.items():
        lengths = [np.arange(batch, dtype=np.int32) * step % (size + 1)
                   for step, size in ((3, m), (2, n))]

        def run(a, a_length, b, b_length, normalize=normalize):
            return tf.edit_distance(sparse(a, a_length), sparse(b, b_length), normalize)
        yield Case("fn.EditDistance", name, [ints([batch, m], 0, 3, key=1), lengths[0],
                                             ints([batch, n], 0, 3, key=2), lengths[1]],
                   tolerance="rounded", run=run)


def rearrangements():
    """In C++ the name of the case selects the blocks, or the shifts."""
    blocks = {"pixels": ([2, 4, 6, 3], [2, 3], [[0, 0], [0, 0]]),
              "margins": ([1, 5, 4, 2], [2, 2], [[1, 2], [0, 2]]),
              "one": ([1, 1], [1], [[0, 0]]),
              "three": ([2, 3, 2, 4], [3, 1, 2], [[0, 3]] + [[1, 1]] * 2),
              "empty": ([0, 4, 2], [2], [[0, 0]])}
    for name, (shape, block, margins) in blocks.items():
        def to_batch(x, block=block, margins=margins):
            return tf.space_to_batch(x, block, margins)

        def to_space(x, block=block, margins=margins):
            return tf.batch_to_space(x, block, margins)
        padded = [n + sum(m) for n, m in zip(shape[1:], margins)]
        cut = [shape[0] * int(np.prod(block))] + [n // b for n, b in zip(padded, block)]
        yield Case("fn.SpaceToBatch", name, [floats(shape)], run=to_batch)
        yield Case("fn.BatchToSpace", name, [floats(cut + shape[len(cut):])], run=to_space)
    for name, (shape, size) in {"2": ([2, 4, 6, 3], 2), "3": ([1, 3, 9, 5], 3)}.items():
        yield Case("fn.SpaceToDepth", name, [floats(shape)],
                   run=lambda x, size=size: tf.nn.space_to_depth(x, size))
        yield Case("fn.DepthToSpace", name, [floats(shape[:3] + [shape[3] * size * size])],
                   run=lambda x, size=size: tf.nn.depth_to_space(x, size))
    for name, (shift, axis) in {"one": ([2], [1]), "both": ([-4, 1], [0, 1]),
                                "twice": ([1, 1], [1, 1]), "none": ([5], [0])}.items():
        yield Case("fn.Roll", name, [floats([5, 3, 2])],
                   run=lambda x, shift=shift, axis=axis: tf.roll(x, shift, axis))
    for name, options in {"plain": {}, "all": dict(depth_radius=2, bias=2.0, alpha=0.5,
                                                   beta=0.75)}.items():
        yield Case("fn.LocalResponseNormalization", name, [floats([2, 2, 3, 7])],
                   tolerance="composed",
                   run=lambda x, options=options: tf.nn.local_response_normalization(x, **options))


def statistics():
    for name, (shape, axes) in {"all": ([3, 5], [0, 1]), "rows": ([7, 4], [0]), "one": ([1], [0]),
                                "images": ([2, 3, 5, 2], [0, 1, 2])}.items():
        shift = [n for axis, n in enumerate(shape) if axis not in axes]

        def sums(x, axes=axes):
            return tf.nn.sufficient_statistics(x, axes)[:3]

        def moments(x, shift, axes=axes):
            return tf.nn.normalize_moments(*tf.nn.sufficient_statistics(x, axes, shift))
        yield Case("fn.SufficientStatistics", name, [floats(shape)], tolerance="sum", run=sums)
        yield Case("fn.NormalizeMoments", name, [floats(shape), floats(shift, key=2)],
                   tolerance="statistics", run=moments)
    for name, x in {"f32": floats([7, 5], -1, 6), "edges": F32([-1, 0, 0.999, 1, 4.999, 5, 1e9]),
                    "i32": ints([9], -2, 9), "empty": floats([0]),
                    "one": floats([])}.items():
        low, high = (x.dtype.type(0), x.dtype.type(5))
        yield Case("fn.HistogramFixedWidth", name, [x], run=lambda x, low=low,
                   high=high: tf.histogram_fixed_width(x, [low, high], 5))
    # In C++ the name of the case selects the range.
    ranges = {"tenths": (F32([0, 0.1, 0.2, 0.3]), 0, 0.3, 3),
              "hundred": (np.concatenate([floats([60], -11, 11),
                                          np.linspace(-10, 10, 101).astype(np.float32)]), -10, 10,
                          100),
              "f64": (np.linspace(-0.3, 0.9, 13), -0.3, 0.9, 12),
              "infinite": (F32([-np.inf, 0.5, np.inf]), 0, 1, 4),
              "i32_extremes": (i32(2**31 - 1, 0, -2**31), -10, 100, 3),
              "i32_widest": (i32(-2**31, 0, 2**31 - 1), -2**31, 2**31 - 1, 4)}
    for name, (x, low, high, nbins) in ranges.items():
        yield Case("fn.HistogramFixedWidth", name, [x],
                   run=lambda x, r=np.asarray([low, high], x.dtype),
                   nbins=nbins: tf.histogram_fixed_width(x, r, nbins))
    for name, sizes in {"two": [3, 5], "three": [2, 1, 3], "one": [4], "empty": [2, 0]}.items():
        for indexing in ("xy", "ij"):
            yield Case("fn.Meshgrid" + indexing.upper(), name,
                       [floats([n], key=k) for k, n in enumerate(sizes)], tolerance="sum",
                       run=lambda *x, indexing=indexing: tf.meshgrid(*x, indexing=indexing))


TABLES = (activations, losses, normalizations, pools, orderings, distances, rearrangements,
          statistics)
