"""Rows of reductions, scans and searches. See cases.py."""

import itertools

import numpy as np
import tensorflow as tf

from cases import (
    F32, FLOATS, INTS, NAMES, SPECIAL, Case, floats, i32, ints, scalar, values)

AXES = {"one": ([2, 3, 4], [1]), "two": ([2, 3, 4], [0, 2]), "last": ([2, 3, 4], [-1]),
        "negative": ([2, 3, 4], [-3, -1]), "vector": ([5], [0]), "scalar": ([], []),
        "none": ([2, 3], []), "all": ([2, 3], [0, 1]), "empty": ([0, 3], [0]),
        "empty_rest": ([3, 0], [0]), "ones": ([1, 1], [0]), "odd": ([7, 11, 3], [0, 1])}


def reductions():
    for op in ("Sum", "Mean", "Prod", "Max", "Min"):
        tolerance = "exact" if op in ("Max", "Min") else "sum"
        for dtype in FLOATS + INTS:
            yield Case(op, NAMES[dtype], [values([2, 3, 2], dtype, 0.5, 1.5), i32(1)],
                       {"keep_dims": False}, (1,), tolerance)
        for (name, (shape, axes)), keep in itertools.product(AXES.items(), (False, True)):
            yield Case(op, name + ("_kept" if keep else ""), [floats(shape, 0.5, 1.5), i32(*axes)],
                       {"keep_dims": keep}, (1,), "sum")
        yield Case(op, "scalar_axis", [floats([2, 3]), scalar(1)], {"keep_dims": False}, (1,),
                   "sum")
        yield Case(op, "axes_i64", [floats([2, 3]), np.int64([0])], {"keep_dims": False}, (1,),
                   "sum",
                   gradient=op != "Prod")  # TensorFlow's fails
        rows = np.stack([SPECIAL, np.roll(SPECIAL, 4)], 1)
        yield Case(op, "special", [rows, i32(1)], {"keep_dims": False}, (1,), "sum")
        yield Case(op, "ties", [F32([[1, 2, 2], [0, 0, 0], [3, 0, 0]]), i32(1)],
                   {"keep_dims": False}, (1,), "sum")
    yield Case("Sum", "long", [floats([2, 3001]), i32(1)], {"keep_dims": False}, (1,), "long_sum")
    yield Case("Mean", "long", [floats([3001, 2]), i32(0)], {"keep_dims": False}, (1,), "long_sum")
    for op in ("All", "Any"):
        for name, (shape, axes) in AXES.items():
            yield Case(op, name, [values(shape, np.bool_), i32(*axes)],
                       {"keep_dims": name == "two"}, (1,))
    for dtype in FLOATS:
        yield Case("L2Loss", NAMES[dtype], [floats([2, 3], dtype=dtype)], tolerance="sum")
    for shape in ([], [1], [0, 3], [7, 11]):
        yield Case("L2Loss", "x".join(map(str, shape)) or "scalar", [floats(shape)],
                   tolerance="sum")


def scans():
    for op in ("Cumsum", "Cumprod"):
        for exclusive, reverse in itertools.product((False, True), (False, True)):
            attrs = {"exclusive": exclusive, "reverse": reverse}
            name = "_".join(["exclusive"] * exclusive + ["reverse"] * reverse) or "plain"
            for axis in (0, 1, -1):
                yield Case(op, f"{name}_{axis}".replace("-", "m"),
                           [floats([2, 3, 4], 0.5, 1.5), scalar(axis)], attrs, (1,), "sum")
        for dtype in FLOATS + INTS:
            yield Case(op, NAMES[dtype], [values([2, 3], dtype), scalar(1)],
                       {"exclusive": False, "reverse": False}, (1,), "sum")
        for shape in ([1], [0, 3], [3, 0], [9, 1]):
            yield Case(op, "x".join(map(str, shape)), [floats(shape), scalar(0)],
                       {"exclusive": True, "reverse": False}, (1,), "sum")
        yield Case(op, "special", [SPECIAL, scalar(0)], {"exclusive": False, "reverse": True}, (1,),
                   "sum", gradient=False)
    for lower, upper in ((0, 0), (1, 0), (0, 2), (-1, 0), (0, -1), (-1, -1), (2, 1)):
        name = f"{lower}_{upper}".replace("-", "m")
        yield Case("MatrixBandPart", name,
                   [floats([2, 4, 3]), scalar(lower, np.int64), scalar(upper, np.int64)], {},
                   (1, 2))
    for dtype in FLOATS + INTS + [np.bool_]:
        yield Case("MatrixBandPart", NAMES[dtype], [values([3, 3], dtype), scalar(0), scalar(-1)],
                   {}, (1, 2))
    yield Case("MatrixBandPart", "empty", [floats([0, 3, 2]), scalar(0), scalar(-1)], {}, (1, 2))
    yield Case("MatrixBandPart", "one", [floats([1, 1]), scalar(0), scalar(0)], {}, (1, 2))
    yield Case("MatrixBandPart", "odd", [floats([5, 7]), scalar(1), scalar(3)], {}, (1, 2))


def searches():
    for op in ("ArgMax", "ArgMin"):
        for dtype in FLOATS + INTS:
            yield Case(op, NAMES[dtype], [values([3, 5], dtype), scalar(1)],
                       {"output_type": tf.int64}, (1,))
        for shape, axis in (([5], 0), ([2, 3, 4], 0), ([2, 3, 4], -2), ([1, 1], 1), ([0, 3], 1),
                            ([7, 9], 0)):
            yield Case(op, "_".join(map(str, shape + ["axis", axis])).replace("-", "m"),
                       [ints(shape, 0, 3, F32), scalar(axis)], {"output_type": tf.int32}, (1,))
        yield Case(op, "special", [np.stack([SPECIAL, np.roll(SPECIAL, 1), SPECIAL[::-1]]),
                                   scalar(1)], {"output_type": tf.int32}, (1,))
        yield Case(op, "bool", [values([2, 5], np.bool_), scalar(1)], {"output_type": tf.int32}, (1,
                   ))
    for dtype in FLOATS + INTS:
        yield Case("TopKV2", NAMES[dtype], [values([2, 7], dtype), scalar(3)], {"sorted": True}, (1,
                   ))
    for shape, k in (([5], 5), ([5], 1), ([5], 0), ([2, 3, 4], 2), ([0, 4], 2), ([1, 1], 1),
                     ([3, 33], 4)):
        yield Case("TopKV2", "_".join(map(str, shape + ["k", k])),
                   [ints(shape, 0, 9, F32), scalar(k)], {"sorted": True}, (1,), "sum")
    for dtype in (np.int32, np.int64):
        for k in (1, 2, 5):
            yield Case("InTopKV2", f"{NAMES[dtype]}_{k}",
                       [floats([6, 5]), ints([6], 0, 5, dtype), scalar(k, dtype)], {}, (2,))
    yield Case("InTopKV2", "ties", [F32([[1, 1, 1], [1, 2, 2], [0, 0, 1]]), i32(2, 0, 0),
                                    scalar(2)], {}, (2,))
    yield Case("InTopKV2", "special",
               [F32([[np.nan, 1, 2], [np.inf, 1, 2], [1, 2, -np.inf], [1, 2, 3]]), i32(1, 1, 1, 7),
                scalar(2)],
               {}, (2,))
    yield Case("InTopKV2", "one", [floats([1, 1]), i32(0), scalar(1)], {}, (2,))
    yield Case("InTopKV2", "empty", [floats([0, 3]), i32(), scalar(1)], {}, (2,))


TABLES = (reductions, scans, searches)
