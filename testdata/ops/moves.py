"""Rows of ops that create, move, select and scatter values, and of random ops. See cases.py."""

import itertools

import numpy as np
import tensorflow as tf

from cases import (  # noqa: F401
    BF16, F16, F32, F64, FLOATS, INTS, NAMES, REFUSED, Case, floats, i32, ints, scalar, values)

ALL = FLOATS + INTS + [np.bool_]


def shapes():
    for dtype in ALL:
        yield Case("Reshape", NAMES[dtype], [values([2, 3], dtype), i32(3, 2)], {}, (1,))
        yield Case("ExpandDims", NAMES[dtype], [values([2, 3], dtype), scalar(1)], {}, (1,))
        yield Case("Squeeze", NAMES[dtype], [values([2, 1, 3], dtype)], {"squeeze_dims": [1]})
        yield Case("BroadcastTo", NAMES[dtype], [values([2, 1], dtype), i32(2, 3)], {}, (1,), "sum")
        yield Case("Fill", NAMES[dtype], [i32(2, 3), values([], dtype)], {}, (0,), "sum")
        yield Case("EnsureShape", NAMES[dtype], [values([2, 3], dtype)], {"shape": [None, 3]})
    for name, shape in {"one": [1], "empty": [0, 3]}.items():
        yield Case("EnsureShape", name, [floats(shape)], {"shape": shape})
        yield Case("ExpandDims", name, [floats(shape), scalar(1)], {}, (1,))
        x = floats(shape)
        yield Case("Const", name, [], {"value": tf.make_tensor_proto(x), "dtype": tf.float32})
    yield Case("Const", "odd", [], {"value": tf.make_tensor_proto(floats([5, 3])),
                                    "dtype": tf.float32})
    for name, (shape, to) in {"minus_one": ([2, 3, 4], [-1, 4]), "scalar": ([1, 1], []),
                              "from_scalar": ([], [1, 1]), "empty": ([0, 3], [3, 0]),
                              "empty_minus_one": ([0, 3], [-1, 3]), "flat": ([2, 3], [-1])}.items():
        yield Case("Reshape", name, [floats(shape), np.array(to, np.int32)], {}, (1,))
    yield Case("Reshape", "shape_i64", [floats([2, 3]), np.int64([6])], {}, (1,))
    for axis in (0, 2, -1, -3):
        yield Case("ExpandDims", f"axis_{axis}".replace("-", "m"), [floats([2, 3]), scalar(axis)],
                   {}, (1,))
    yield Case("ExpandDims", "scalar", [floats([]), scalar(0)], {}, (1,))
    for name, (shape, axes) in {"all": ([1, 2, 1], []), "negative": ([2, 3, 1], [-1]),
                                "to_scalar": ([1], [0]), "none": ([2], []),
                                "empty": ([0, 1], [1])}.items():
        yield Case("Squeeze", name, [floats(shape)], {"squeeze_dims": axes})
    for name, (shape, to) in {"scalar": ([], [2, 2]), "rows": ([3], [2, 3]),
                              "middle": ([2, 1, 3], [2, 4, 3]), "same": ([2], [2]),
                              "empty": ([1], [0]), "to_scalar": ([], [])}.items():
        yield Case("BroadcastTo", name, [floats(shape), np.array(to, np.int32)], {}, (1,), "sum")
    for name, dims in {"scalar": [], "empty": [0, 2], "one": [1]}.items():
        yield Case("Fill", name, [np.array(dims, np.int32), floats([])], {}, (0,), "sum")
    for op in ("Shape", "Size"):
        for shape, dtype in itertools.product(([2, 3], [], [0, 4], [1]), (tf.int32, tf.int64)):
            yield Case(op, "x".join(map(str, shape)) + "_" + dtype.name, [floats(shape)],
                       {"out_type": dtype})
    for shape in ([2, 3], [], [0, 4]):
        yield Case("Rank", "x".join(map(str, shape)) or "scalar", [floats(shape)])
    for dtype, (a, b, d) in itertools.product((np.int32, np.int64),
                                              ((0, 5, 1), (2, 9, 3), (5, -4, -2), (3, 3, 1),
                                               (2, 3, 1))):
        yield Case("Range", f"{NAMES[dtype]}_{a}_{b}_{d}".replace("-", "m"),
                   [scalar(a, dtype), scalar(b, dtype), scalar(d, dtype)], {}, (0, 1, 2))
    for dtype in (F32, F64):
        yield Case("Range", NAMES[dtype], [scalar(0, dtype), scalar(1, dtype), scalar(0.25, dtype)],
                   {}, (0, 1, 2), gradient=False)
        yield Case("LinSpace", NAMES[dtype], [scalar(-1, dtype), scalar(2, dtype), scalar(7)], {},
                   (0, 1, 2), "rounded", gradient=False)
    yield Case("LinSpace", "one", [scalar(-1, F32), scalar(2, F32), scalar(1)], {}, (0, 1, 2),
               gradient=False)
    for dtype in ALL:
        x = values([2, 2], dtype)
        yield Case("Const", NAMES[dtype], [],
                   {"value": tf.make_tensor_proto(x), "dtype": tf.as_dtype(dtype)})


def joins():
    for dtype in ALL:
        yield Case("ConcatV2", NAMES[dtype],
                   [[values([2, 1], dtype, key=1), values([2, 2], dtype, key=2)], scalar(1)], {},
                   (2,))
        yield Case("Pack", NAMES[dtype], [[values([2], dtype, key=k) for k in range(3)]],
                   {"axis": 1})
        yield Case("Unpack", NAMES[dtype], [values([3, 2], dtype)], {"num": 3, "axis": 0})
        yield Case("Split", NAMES[dtype], [scalar(1), values([2, 6], dtype)], {"num_split": 3}, (0,
                   ))
        yield Case("SplitV", NAMES[dtype], [values([2, 6], dtype), i32(1, 2, 3), scalar(1)],
                   {"num_split": 3}, (1, 2))
        yield Case("Transpose", NAMES[dtype], [values([2, 3, 4], dtype), i32(2, 0, 1)], {}, (1,))
        yield Case("ReverseV2", NAMES[dtype], [values([2, 3], dtype), i32(1)], {}, (1,))
        yield Case("Tile", NAMES[dtype], [values([2, 3], dtype), i32(2, 1)], {}, (1,), "sum")
    for name, (sizes, axis) in {"zero": ([[1, 2], [3, 2]], 0),
                                "negative": ([[2, 1, 3], [2, 4, 3], [2, 0, 3]], -2),
                                "empty": ([[0, 2], [0, 3]], 1)}.items():
        n = len(sizes)
        yield Case("ConcatV2", name, [[floats(s, key=k) for k, s in enumerate(sizes)],
                                      scalar(axis)], {}, (n,))
    for axis in (0, 1, 2, -1, -3):
        yield Case("Pack", f"axis_{axis}".replace("-", "m"),
                   [[floats([2, 3], key=k) for k in range(2)]], {"axis": axis})
    yield Case("Pack", "scalars", [[floats([], key=k) for k in range(4)]], {"axis": 0})
    yield Case("Pack", "one", [[floats([])]], {"axis": 0})
    yield Case("Pack", "empty", [[floats([0, 3]), floats([0, 3])]], {"axis": 1})
    yield Case("Unpack", "empty", [floats([2, 0])], {"num": 2, "axis": 0})
    yield Case("Split", "one", [scalar(0), floats([1])], {"num_split": 1}, (0,))
    yield Case("SplitV", "one", [floats([1]), i32(1), scalar(0)], {"num_split": 1}, (1, 2))
    for name, shape in {"one": [1], "empty": [0, 3], "odd": [5, 3, 7]}.items():
        yield Case("ReverseV2", name, [floats(shape), i32(0)], {}, (1,))
    yield Case("Tile", "one", [floats([1]), i32(1)], {}, (1,), "sum")
    yield Case("Pack", "alone", [[floats([2])]], {"axis": 0})
    yield Case("Unpack", "last", [floats([2, 3])], {"num": 3, "axis": -1})
    yield Case("Unpack", "some", [floats([3, 2])], {"num": 3, "axis": 0}, ys=[1])
    yield Case("Unpack", "scalars", [floats([1])], {"num": 1, "axis": 0})
    yield Case("Split", "axis_0", [scalar(0), floats([4, 3])], {"num_split": 2}, (0,))
    yield Case("Split", "alone", [scalar(-1), floats([2, 3])], {"num_split": 1}, (0,))
    yield Case("Split", "some", [scalar(0), floats([4, 3])], {"num_split": 4}, (0,), ys=[2])
    yield Case("Split", "empty", [scalar(0), floats([0, 3])], {"num_split": 2}, (0,))
    yield Case("SplitV", "rest", [floats([7, 2]), i32(2, -1, 1), scalar(0)], {"num_split": 3},
               (1, 2))
    yield Case("SplitV", "empty_part", [floats([3, 2]), i32(0, 3), scalar(-2)], {"num_split": 2},
               (1, 2))
    for name, (shape, perm) in {"matrix": ([5, 3], [1, 0]), "same": ([2, 3], [0, 1]),
                                "scalar": ([], []), "nchw": ([2, 3, 4, 5], [0, 3, 1, 2]),
                                "five": ([2, 1, 3, 2, 2], [4, 0, 2, 1, 3]),
                                "empty": ([0, 3], [1, 0])}.items():
        yield Case("Transpose", name, [floats(shape), np.array(perm, np.int32)], {}, (1,))
    yield Case("ReverseV2", "all", [floats([2, 3, 4]), i32(0, -1)], {}, (1,))
    yield Case("ReverseV2", "none", [floats([2, 3]), np.zeros([0], np.int32)], {}, (1,))
    for name, (shape, multiples) in {"both": ([2, 3], [2, 3]), "none": ([2], [0]),
                                     "vector": ([3], [4]), "ones": ([1, 1], [3, 1]),
                                     "empty": ([0, 2], [2, 2])}.items():
        yield Case("Tile", name, [floats(shape), np.array(multiples, np.int32)], {}, (1,), "sum")
    for name, permutation in {"i32": (2, 0, 3, 1), "odd": (4, 0, 3, 1, 2), "one": (0,),
                              "empty": ()}.items():
        yield Case("InvertPermutation", name, [i32(*permutation)])
    for name, shape in {"one": [1, 1], "empty": [0, 2, 2], "odd": [3, 5, 5]}.items():
        yield Case("MatrixDiagPart", name, [floats(shape)])
        yield Case("MatrixDiag", name, [floats(shape[:-1])])
    for dtype in FLOATS + INTS:
        yield Case("MatrixDiagPart", NAMES[dtype], [values([2, 3, 3], dtype)])
        yield Case("MatrixDiag", NAMES[dtype], [values([2, 3], dtype)])
    yield Case("MatrixDiagPart", "wide", [floats([2, 4])])
    yield Case("MatrixDiagPart", "tall", [floats([3, 2])])


def sequences():
    for dtype in ALL:
        yield Case("ReverseSequence", NAMES[dtype], [values([3, 4, 2], dtype), i32(3, 0, 4)],
                   {"seq_dim": 1, "batch_dim": 0})
    for name, (shape, time, batch) in {"time_major": ([5, 3, 2], 0, 1), "last": ([2, 3, 7], 2, 0),
                                       "between": ([2, 3, 2, 5], 3, 1), "one": ([1, 1], 1, 0),
                                       "empty": ([0, 3], 1, 0), "no_steps": ([3, 0], 1, 0),
                                       "before": ([2, 5, 3, 3], 1, 2)}.items():
        lengths = np.arange(shape[batch], dtype=np.int64) * 2 % (shape[time] + 1)
        yield Case("ReverseSequence", name, [floats(shape), lengths],
                   {"seq_dim": time, "batch_dim": batch})


def slices():
    for dtype in ALL:
        yield Case("Slice", NAMES[dtype], [values([3, 4], dtype), i32(1, 0), i32(2, 3)], {}, (1, 2))
        yield strided("StridedSlice", NAMES[dtype], values([4, 5], dtype), [1, 4], [4, 0], [2, -1])
        yield Case("Pad", NAMES[dtype], [values([2, 3], dtype), np.int32([[1, 0], [0, 2]])], {}, (1,
                   ))
        yield Case("MirrorPad", NAMES[dtype], [values([3, 4], dtype), np.int32([[1, 2], [0, 3]])],
                   {"mode": "REFLECT"}, (1,), "sum")
    for dtype in FLOATS + INTS:
        yield Case("PadV2", NAMES[dtype],
                   [values([2, 3], dtype), np.int32([[1, 0], [0, 2]]), values([], dtype)], {}, (1,),
                   "sum")
    yield Case("Slice", "rest", [floats([3, 4]), i32(1, 2), i32(-1, -1)], {}, (1, 2))
    yield Case("Slice", "nothing", [floats([3, 4]), i32(3, 0), i32(0, 4)], {}, (1, 2))
    yield Case("Slice", "scalar", [floats([]), i32(), i32()], {}, (1, 2))
    yield Case("Slice", "begin_i64", [floats([5]), np.int64([1]), np.int64([3])], {}, (1, 2))
    rows = {
        "begin_mask": ([5], [3], [4], [1], dict(begin_mask=1)),
        "end_mask": ([5], [1], [2], [1], dict(end_mask=1)),
        "both_masks_back": ([5], [1], [2], [-2], dict(begin_mask=1, end_mask=1)),
        "shrink": ([3, 4], [1, 1], [2, 3], [1, 1], dict(shrink_axis_mask=1)),
        "shrink_all": ([3, 4], [1, -1], [2, 0], [1, 1], dict(shrink_axis_mask=3)),
        "negative": ([5, 4], [-4, -3], [-1, -1], [1, 1], {}),
        "out_of_range": ([5], [-9], [99], [2], {}),
        "nothing": ([5], [3], [3], [1], {}),
        "prefix": ([3, 4, 2], [1], [3], [1], {}),
        "none": ([3], [], [], [], {}),
        "new_axis_first": ([3, 4], [0, 1], [0, 3], [1, 1], dict(new_axis_mask=1)),
        "new_axis_last": ([3, 4], [0, 0, 0], [3, 4, 0], [1, 1, 1], dict(new_axis_mask=4)),
        "ellipsis_first": ([2, 3, 4], [0, 1], [0, 3], [1, 1], dict(ellipsis_mask=1)),
        "ellipsis_middle": ([2, 3, 4, 5], [1, 0, 2], [2, 0, 5], [1, 1, 2], dict(ellipsis_mask=2)),
        "ellipsis_last": ([2, 3, 4], [1, 0], [2, 0], [1, 1], dict(ellipsis_mask=2)),
        "ellipsis_of_nothing": ([2, 3], [0, 0, 1], [2, 0, 3], [1, 1, 1], dict(ellipsis_mask=2)),
        "ellipsis_shrink": ([2, 3, 4], [0, 2], [0, 3], [1, 1],
                            dict(ellipsis_mask=1, shrink_axis_mask=2)),
        "ellipsis_new_axis": ([2, 3, 4], [0, 0, 3, 1], [0, 0, 0, 2], [1, 1, 1, 1],
                              dict(ellipsis_mask=1, new_axis_mask=2, begin_mask=4, end_mask=4)),
        "new_axis_shrink": ([3, 4], [2, 0, 1], [3, 0, 2], [1, 1, 1],
                            dict(new_axis_mask=2, shrink_axis_mask=5)),
        "new_axis_over_shrink": ([3, 4], [1, 1], [2, 2], [1, 1],
                                 dict(new_axis_mask=1, shrink_axis_mask=1)),
        "empty": ([0, 3], [0, 0], [0, 2], [1, 1], {}),
        "one": ([1], [0], [1], [1], {}),
    }
    for name, (shape, begin, end, strides, masks) in rows.items():
        yield strided("StridedSlice", name, floats(shape), begin, end, strides, masks)
        part = tf.raw_ops.StridedSlice
        with tf.Graph().as_default(), tf.compat.v1.Session() as s:
            y = s.run(part(input=floats(shape), begin=begin, end=end, strides=strides,
                           **masks)) if begin else floats(shape)
        arrays = [np.array(v, np.int32) for v in (shape, begin, end, strides)]
        yield Case("StridedSliceGrad", name, arrays + [floats(y.shape, key=3)], all_masks(masks),
                   (0, 1, 2, 3))
    for name, (shape, paddings) in {"scalar": ([], np.zeros([0, 2])), "nothing": ([2], [[0, 0]]),
                                    "empty": ([0, 2], [[1, 1], [0, 0]]),
                                    "four": ([2, 3, 2, 1],
                                             [[0, 0], [1, 1], [2, 0], [0, 1]])}.items():
        yield Case("Pad", name, [floats(shape), np.array(paddings, np.int32)], {}, (1,))
        yield Case("PadV2", name, [floats(shape), np.array(paddings, np.int32), floats([])], {}, (1,
                   ), "sum")
    for mode, (shape, paddings) in itertools.product(("REFLECT", "SYMMETRIC"),
                                                     (([4], [[3, 3]]), ([2, 3], [[1, 1], [0, 2]]),
                                                      ([2, 1, 3], [[0, 0], [0, 0], [2, 1]]))):
        name = f"{mode.lower()}_{len(shape)}"
        pads = np.array(paddings, np.int32)
        yield Case("MirrorPad", name, [floats(shape), pads], {"mode": mode}, (1,), "sum")
        padded = [n + a + b for n, (a, b) in zip(shape, paddings)]
        yield Case("MirrorPadGrad", name, [floats(padded), pads], {"mode": mode}, (1,), "sum")


def mirrored_edges():
    for name, (shape, paddings) in {"one": ([1], [[0, 0]]), "grown": ([1], [[1, 1]]),
                                    "empty": ([0, 3], [[0, 0], [1, 1]])}.items():
        pads = np.array(paddings, np.int32)
        yield Case("MirrorPad", name, [floats(shape), pads], {"mode": "SYMMETRIC"}, (1,), "sum",
                   gradient=name != "empty")
        padded = [n + a + b for n, (a, b) in zip(shape, paddings)]
        yield Case("MirrorPadGrad", name, [floats(padded), pads], {"mode": "SYMMETRIC"}, (1,),
                   "sum", absent=REFUSED if name == "empty" else "")


def all_masks(masks):
    names = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
    return {name: masks.get(name, 0) for name in names}


def strided(op, name, x, begin, end, strides, masks=None):
    arrays = [np.array(v, np.int32) for v in (begin, end, strides)]
    return Case(op, name, [x] + arrays, all_masks(masks or {}), (1, 2, 3))


def gathers():
    for dtype in ALL:
        yield Case("GatherV2", NAMES[dtype], [values([4, 3], dtype), i32(2, 0, 2), scalar(0)],
                   {"batch_dims": 0}, (2,), "sum")
        yield Case("GatherNd", NAMES[dtype],
                   [values([3, 4], dtype), np.int32([[0, 1], [2, 3], [0, 1]])], tolerance="sum")
    for name, (shape, indices, axis) in {"scalar": ([4, 3], [], 0), "matrix": ([4, 3], [2, 2], 0),
                                         "axis_1": ([2, 4, 3], [2], 1), "last": ([2, 4], [3], -1),
                                         "last_matrix": ([2, 3, 4], [2, 2], 2),
                                         "none": ([3, 2], [0], 0), "one": ([1], [1], 0)}.items():
        rank = len(shape)
        top = shape[axis % rank]
        yield Case("GatherV2", name, [floats(shape), ints(indices, 0, top), scalar(axis)],
                   {"batch_dims": 0}, (2,), "sum")
        yield Case("GatherV2", name + "_i64",
                   [floats(shape), ints(indices, 0, top, np.int64), scalar(axis)],
                   {"batch_dims": 0}, (2,), "sum")
    for name, (shape, indices, axis, batch) in {"batch_1": ([2, 4], [2, 3], 1, 1),
                                                "batch_1_rows": ([2, 4, 3], [2, 2], 1, 1),
                                                "batch_1_axis_2": ([2, 3, 4], [2, 2], 2, 1),
                                                "batch_2": ([2, 3, 4], [2, 3, 2], 2, 2),
                                                "batch_vector": ([3, 4], [3], 1, 1),
                                                "batch_negative": ([2, 3, 4], [2, 3], -1, -1),
                                                "batch_rows_2": ([2, 2, 3, 2], [2, 2, 1, 2], 2,
                                                                 2)}.items():
        top = shape[axis]
        yield Case("GatherV2", name, [floats(shape), ints(indices, 0, top), scalar(axis)],
                   {"batch_dims": batch}, (2,), "sum")
    for name, (shape, indices) in {"rows": ([4, 3], [[[0]], [[3]]]),
                                   "whole": ([2, 2], np.zeros([3, 0])),
                                   "elements": ([2, 3, 4], [[1, 2, 3]]),
                                   "vector": ([5], [[4], [4]]),
                                   "none": ([3], np.zeros([0, 1]))}.items():
        # TensorFlow's gradient fails for indices without columns
        for dtype in (np.int32, np.int64):
            yield Case("GatherNd", f"{name}_{NAMES[dtype]}",
                       [floats(shape), np.array(indices, dtype)], tolerance="sum",
                       gradient=name != "whole")
    for dtype in FLOATS + INTS:
        yield Case("ScatterNd", NAMES[dtype],
                   [np.int32([[1], [3], [1]]), values([3, 2], dtype), i32(5, 2)], {}, (2,), "sum")
        for op in ("UnsortedSegmentSum", "UnsortedSegmentMax", "UnsortedSegmentMin"):
            yield Case(op, NAMES[dtype],
                       [values([5, 2], dtype, key=7), i32(2, 0, 2, -1, 0), scalar(4)], {}, (2,),
                       "sum")
        for op in ("TensorScatterUpdate", "TensorScatterAdd"):
            yield Case(op, NAMES[dtype],
                       [values([4, 2], dtype), np.int32([[1], [3]]), values([2, 2], dtype, key=2)],
                       {}, (), "sum")
    for op in ("TensorScatterUpdate", "TensorScatterAdd"):
        for name, (shape, indices) in {"one": ([1], [[0]]), "odd": ([7, 5], [[6], [0], [3]]),
                                       "none": ([3, 2], np.zeros([0, 1])),
                                       "elements": ([3, 5], [[2, 4], [0, 1]])}.items():
            indices = np.array(indices, np.int32)
            yield Case(op, name, [floats(shape), indices,
                                  floats([len(indices)] + shape[indices.shape[1]:], key=2)], {}, (),
                       "sum")
    yield Case("GatherNd", "one", [floats([1]), np.int32([[0]])], tolerance="sum")
    yield Case("ScatterNd", "one", [np.int32([[0]]), floats([1]), i32(1)], {}, (2,), "sum")
    yield Case("TensorScatterAdd", "twice",
               [floats([4]), np.int64([[1], [3], [1]]), floats([3], key=2)], {}, (), "sum")
    yield Case("ScatterNd", "elements", [np.int64([[0, 1], [1, 1]]), floats([2]), np.int64([2, 3])],
               {}, (2,), "sum")
    yield Case("ScatterNd", "none", [np.zeros([0, 1], np.int32), floats([0, 2]), i32(3, 2)], {}, (2,
               ), "sum")
    for op in ("UnsortedSegmentSum", "UnsortedSegmentMax", "UnsortedSegmentMin"):
        yield Case(op, "matrix_ids", [floats([2, 3, 2]), np.int64([[0, 1, 0], [3, 3, 1]]),
                                      scalar(4)], {}, (2,), "sum")
        yield Case(op, "none", [floats([0, 2]), i32(), scalar(2)], {}, (2,), "sum")
        yield Case(op, "one", [floats([1]), i32(0), scalar(1)], {}, (2,), "sum")
        yield Case(op, "vector", [floats([5]), i32(1, 1, 0, 1, 0), scalar(2)], {}, (2,), "sum")
        yield Case(op, "ties", [F32([1, 1, 0, 0, 2]), i32(1, 1, 0, 0, 0), scalar(2)], {}, (2,),
                   "sum")
    for dtype in ALL:
        yield Case("OneHot", NAMES[dtype],
                   [i32(1, 0, 2), scalar(3), scalar(1, dtype), scalar(0, dtype)], {"axis": -1}, (1,
                   ))
    for name, (indices, depth, axis) in {"out_of_range": ([-1, 5, 1], 3, -1),
                                         "first": ([[1, 0], [2, 2]], 4, 0),
                                         "middle": ([[1, 0], [2, 2]], 3, 1), "scalar": (2, 4, -1),
                                         "depth_0": ([0, 1], 0, -1), "one": (0, 1, -1),
                                         "none": (np.zeros([0]), 3, -1)}.items():
        yield Case("OneHot", name, [np.array(indices, np.int64), scalar(depth), scalar(2.5, F32),
                                    scalar(-1, F32)], {"axis": axis}, (1,), "sum")
    yield Case("OneHot", "index_u8", [np.uint8([1, 0, 2]), scalar(3), scalar(1, F32),
                                      scalar(0, F32)], {"axis": -1}, (1,))


def random():
    seeds = {"plain": (87, 5), "large": (2**31 - 2, 12345678901), "negative": (-3, 1),
             "graph_only": (7, 0), "op_only": (87654321, 3)}
    for op, dtypes in {"RandomUniform": FLOATS, "RandomStandardNormal": FLOATS,
                       "TruncatedNormal": FLOATS}.items():
        for dtype in dtypes:
            for shape in ([1], [7], [13, 5], [0, 3], [2, 1001]):
                yield Case(op, NAMES[dtype] + "_" + "x".join(map(str, shape)),
                           [np.array(shape, np.int32)],
                           {"seed": 87, "seed2": 5, "dtype": tf.as_dtype(dtype)}, (0,), "bits")
        for name, (seed, seed2) in seeds.items():
            yield Case(op, name, [i32(9)], {"seed": seed, "seed2": seed2, "dtype": tf.float32}, (0,
                       ), "bits")
        yield Case(op, "scalar", [i32()], {"seed": 1, "seed2": 2, "dtype": tf.float32}, (0,),
                   "bits")
    for dtype in (np.int32, np.int64):
        for name, (low, high) in {"small": (-5, 100), "one": (3, 4),
                                  "whole": (np.iinfo(dtype).min, np.iinfo(dtype).max)}.items():
            for shape in ([1], [7], [13, 5], [0, 3]):
                yield Case("RandomUniformInt",
                           f"{NAMES[dtype]}_{name}_" + "x".join(map(str, shape)),
                           [np.array(shape, np.int32), scalar(low, dtype), scalar(high, dtype)],
                           {"seed": 87, "seed2": 5}, (0,), "bits")
        for name, (seed, seed2) in seeds.items():
            yield Case("RandomUniformInt", f"{NAMES[dtype]}_{name}",
                       [i32(9), scalar(0, dtype), scalar(10, dtype)],
                       {"seed": seed, "seed2": seed2}, (0,), "bits")
    for name, (seed, seed2) in seeds.items():
        yield Case("Multinomial", name, [floats([3, 5]), scalar(9)],
                   {"seed": seed, "seed2": seed2, "output_dtype": tf.int32}, (1,), "bits")
    for dtype in FLOATS:
        yield Case("Multinomial", NAMES[dtype], [floats([2, 7], dtype=dtype), scalar(6)],
                   {"seed": 87, "seed2": 5, "output_dtype": tf.int64}, (1,), "bits")
    for name, (shape, samples) in {"one": ([1, 1], 1), "odd": ([5, 33], 7), "none": ([0, 3], 2),
                                   "no_samples": ([2, 3], 0)}.items():
        yield Case("Multinomial", name, [floats(shape), scalar(samples)],
                   {"seed": 87, "seed2": 5, "output_dtype": tf.int64}, (1,), "bits")
    yield Case("Multinomial", "special",
               [F32([[np.inf, 0, 1], [np.nan, 0, 1], [-np.inf, 3, 3]]), scalar(9)],
               {"seed": 87, "seed2": 5, "output_dtype": tf.int64}, (1,), "bits")
    for op in ("UniformCandidateSampler", "LogUniformCandidateSampler"):
        for name, (classes, samples, unique, range_max) in {
                "unique": ([[3, 8], [0, 1], [6, 2]], 7, True, 9),
                "repeated": ([[3], [0]], 9, False, 16), "all": ([[0], [4]], 5, True, 5),
                "one": ([[0]], 1, True, 1), "large": ([[10**6]], 64, True, 1500000),
                "empty": (np.zeros([0, 1]), 3, True, 8)}.items():
            yield Case(op, name, [np.array(classes, np.int64)],
                       {"num_true": np.shape(classes)[1], "num_sampled": samples, "unique": unique,
                        "range_max": range_max, "seed": 87, "seed2": 5}, (), "function")
    for name, shape in {"vector": [9], "one": [1], "rows": [7, 3], "empty": [0]}.items():
        yield Case("RandomShuffle", name, [floats(shape)], {"seed": 87, "seed2": 5}, (), "bits")


TABLES = (shapes, joins, sequences, slices, mirrored_edges, gathers, random)
