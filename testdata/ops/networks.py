"""Rows of the neural network ops: products, convolutions, pools, normalization, losses, update
rules. See cases.py."""

import itertools

import numpy as np
import tensorflow as tf

from cases import (  # noqa: F401
    F16, F32, F64, BF16, FLOATS, INTS, MEMORY, NAMES, SPECIAL, Case, floats, i32, ints, scalar,
    values)


def products():
    for dtype in FLOATS + [np.int32, np.int64]:
        attrs = {"transpose_a": False, "transpose_b": False}
        yield Case("MatMul", NAMES[dtype],
                   [values([2, 3], dtype, key=1), values([3, 4], dtype, key=2)], attrs,
                   tolerance="sum")
        yield Case("BatchMatMulV2", NAMES[dtype],
                   [values([2, 2, 3], dtype, key=1), values([2, 3, 4], dtype, key=2)],
                   {"adj_x": False, "adj_y": False}, tolerance="sum")
    for ta, tb in itertools.product((False, True), (False, True)):
        for name, (m, k, n) in {"odd": (7, 5, 3), "one": (1, 1, 1), "row": (1, 9, 2),
                                "outer": (3, 1, 5), "wide": (33, 65, 17), "no_rows": (0, 3, 2),
                                "no_columns": (2, 3, 0), "no_inner": (2, 0, 3)}.items():
            a, b = ([k, m] if ta else [m, k]), ([n, k] if tb else [k, n])
            suffix = "_ta" * ta + "_tb" * tb
            yield Case("MatMul", name + suffix, [floats(a, key=1), floats(b, key=2)],
                       {"transpose_a": ta, "transpose_b": tb}, tolerance="long_sum"
                       if name == "wide" else "sum")
        for name, (x, y, m, k, n) in {"plain": ([2], [2], 2, 3, 4),
                                      "broadcast": ([2, 1], [3], 3, 2, 2),
                                      "left": ([], [2, 2], 2, 3, 1), "right": ([4], [], 1, 2, 5),
                                      "none": ([0], [0], 2, 2, 2),
                                      "ones": ([1, 1], [1, 1], 1, 1, 1)}.items():
            a, b = x + ([k, m] if ta else [m, k]), y + ([n, k] if tb else [k, n])
            yield Case("BatchMatMulV2", name + "_ta" * ta + "_tb" * tb,
                       [floats(a, key=1), floats(b, key=2)], {"adj_x": ta, "adj_y": tb},
                       tolerance="sum")


CONVOLUTIONS = {  # input, filter, attributes
    "same": ([2, 5, 4, 3], [3, 2, 3, 4], dict(strides=[1, 1, 1, 1], padding="SAME")),
    "valid": ([2, 5, 4, 3], [3, 2, 3, 4], dict(strides=[1, 1, 1, 1], padding="VALID")),
    "same_stride_2": ([2, 5, 6, 3], [3, 3, 3, 2], dict(strides=[1, 2, 2, 1], padding="SAME")),
    "valid_stride_2": ([1, 6, 7, 2], [3, 3, 2, 2], dict(strides=[1, 2, 2, 1], padding="VALID")),
    "stride_over_kernel": ([1, 7, 7, 2], [2, 2, 2, 2], dict(strides=[1, 3, 3, 1], padding="VALID")),
    "stride_over_input": ([1, 2, 2, 1], [1, 1, 1, 2], dict(strides=[1, 3, 3, 1], padding="SAME")),
    "one_by_one": ([2, 3, 3, 5], [1, 1, 5, 7], dict(strides=[1, 1, 1, 1], padding="SAME")),
    "one_by_one_strided": ([2, 5, 5, 3], [1, 1, 3, 2], dict(strides=[1, 2, 2, 1], padding="SAME")),
    "dilated_same": ([1, 7, 6, 2], [3, 2, 2, 3],
                     dict(strides=[1, 1, 1, 1], padding="SAME", dilations=[1, 2, 2, 1])),
    "dilated_valid": ([2, 8, 7, 1], [3, 3, 1, 2],
                      dict(strides=[1, 1, 1, 1], padding="VALID", dilations=[1, 2, 3, 1])),
    "kernel_over_input": ([1, 2, 2, 2], [5, 5, 2, 2], dict(strides=[1, 1, 1, 1], padding="SAME")),
    "size_one": ([1, 1, 1, 1], [1, 1, 1, 1], dict(strides=[1, 1, 1, 1], padding="VALID")),
    "whole": ([2, 3, 3, 2], [3, 3, 2, 4], dict(strides=[1, 1, 1, 1], padding="VALID")),
    "empty_batch": ([0, 5, 4, 3], [3, 2, 3, 4], dict(strides=[1, 1, 1, 1], padding="SAME")),
    "wide_channels": ([1, 5, 5, 16], [3, 3, 16, 8], dict(strides=[1, 1, 1, 1], padding="SAME")),
}
EXPLICIT = {
    "explicit": ([1, 4, 5, 2], [3, 2, 2, 3],
                 dict(strides=[1, 1, 2, 1], padding="EXPLICIT",
                      explicit_paddings=[0, 0, 1, 0, 2, 1, 0, 0])),
}
GROUPED = {
    "grouped_2": ([2, 5, 4, 6], [3, 2, 3, 4], dict(strides=[1, 1, 1, 1], padding="SAME")),
    "grouped_3": ([1, 6, 5, 6], [2, 3, 2, 3], dict(strides=[1, 2, 1, 1], padding="VALID")),
    "grouped_all": ([1, 4, 4, 4], [3, 3, 1, 8], dict(strides=[1, 1, 1, 1], padding="SAME")),
}


def output_size(n, kernel, stride, padding):
    return -(-n // stride) if padding == "SAME" else -(-(n - kernel + 1) // stride)


def with_zeros(f, dilations):
    """Returns the filter with zeros between its taps. A convolution with it equals the dilated
    convolution."""
    rows, columns, *channels = f.shape.as_list()
    _, down, across, _ = dilations
    f = tf.pad(tf.reshape(f, [rows, 1, columns, 1] + channels),
               [[0, 0], [0, down - 1], [0, 0], [0, across - 1], [0, 0], [0, 0]])
    f = tf.reshape(f, [rows * down, columns * across] + channels)
    return f[:(rows - 1) * down + 1, :(columns - 1) * across + 1]


def plain(convolution, attrs):
    """Builds the convolution from convolutions without dilations and groups. On the CPU, TensorFlow
    has no gradients of others, and no dilated depthwise convolution."""
    strides, padding, dilations = attrs["strides"], attrs["padding"], attrs.get("dilations",
                                                                                [1, 1, 1, 1])

    def run(x, f):
        groups = 1 if convolution is not tf.raw_ops.Conv2D else x.shape[3] // f.shape[2]
        parts = [convolution(input=a, filter=with_zeros(b, dilations), strides=strides,
                             padding=padding)
                 for a, b in zip(tf.split(x, groups, 3), tf.split(f, groups, 3))]
        return tf.concat(parts, 3)
    return run


def gradient_by(convolution, attrs, of):
    """Returns the result of the op Conv2DBackpropInput (of 0) or Conv2DBackpropFilter (of 1). It is
    TensorFlow's gradient of plain()."""
    def run(x, f, dy):
        operands = [tf.zeros(tf.get_static_value(t)) if i == of else t for i,
                    t in enumerate((x, f))]
        return tf.gradients(plain(convolution, attrs)(*operands), operands[of], dy)
    return run


def no_gradient_on_the_cpu(name):
    return name in GROUPED or "dilated" in name


def convolutions():
    every = {**CONVOLUTIONS, **EXPLICIT}
    for name, (x, f, attrs) in {**every, **GROUPED}.items():
        yield Case("Conv2D", name, [floats(x, key=1), floats(f, key=2)], attrs, tolerance="sum",
                   by=plain(tf.raw_ops.Conv2D, attrs) if no_gradient_on_the_cpu(name) else None)
    for dtype in FLOATS:
        yield Case("Conv2D", NAMES[dtype],
                   [floats([1, 4, 4, 2], dtype=dtype, key=1),
                    floats([3, 3, 2, 2], dtype=dtype, key=2)],
                   dict(strides=[1, 1, 1, 1], padding="SAME"), tolerance="sum")
    for name, (x, f, attrs) in {**CONVOLUTIONS, **GROUPED}.items():
        by = [gradient_by(tf.raw_ops.Conv2D, attrs, of) if no_gradient_on_the_cpu(name) else None
              for of in (0, 1)]
        y = [x[0]] + [output_size(x[i], reach(f, attrs, i), attrs["strides"][i], attrs["padding"])
                      for i in (1, 2)] + [f[3]]
        yield Case("Conv2DBackpropInput", name,
                   [np.array(x, np.int32), floats(f, key=2), floats(y, key=3)], attrs, (0,), "sum",
                   by=by[0])
        yield Case("Conv2DBackpropFilter", name,
                   [floats(x, key=1), np.array(f, np.int32), floats(y, key=3)], attrs, (1,), "sum",
                   by=by[1])


def reach(f, attrs, i):
    """Returns the size of the filter along axis i of the image."""
    return (f[i - 1] - 1) * attrs.get("dilations", [1, 1, 1, 1])[i] + 1


def depthwise():
    for name, (x, f, attrs) in CONVOLUTIONS.items():
        strides = attrs["strides"]
        f = f[:2] + [x[3], 2 if name != "size_one" else 1]
        attrs = {**attrs, "strides": [1, strides[1], strides[1], 1]}
        native = tf.raw_ops.DepthwiseConv2dNative
        dilated = "dilated" in name
        by = [gradient_by(native, attrs, of) if dilated else None for of in (0, 1)]
        no_rows = MEMORY if "empty" in name else ""
        yield Case("DepthwiseConv2dNative", name, [floats(x, key=1), floats(f, key=2)], attrs,
                   tolerance="sum", by=plain(native, attrs) if dilated else None,
                   gradient="empty" not in name)
        y = [x[0]] + [output_size(x[i], reach(f, attrs, i), attrs["strides"][i], attrs["padding"])
                      for i in (1, 2)] + [f[2] * f[3]]
        yield Case("DepthwiseConv2dNativeBackpropInput", name,
                   [np.array(x, np.int32), floats(f, key=2), floats(y, key=3)], attrs, (0,),
                   "sum", absent=no_rows, by=by[0])
        yield Case("DepthwiseConv2dNativeBackpropFilter", name,
                   [floats(x, key=1), np.array(f, np.int32), floats(y, key=3)], attrs, (1,),
                   "sum", absent=no_rows, by=by[1])
    for dtype in FLOATS:
        yield Case("DepthwiseConv2dNative", NAMES[dtype],
                   [floats([1, 4, 4, 2], dtype=dtype, key=1),
                    floats([3, 3, 2, 2], dtype=dtype, key=2)],
                   dict(strides=[1, 1, 1, 1], padding="SAME"), tolerance="sum")


POOLS = {
    "valid_2": ([2, 5, 4, 3], [2, 2], [2, 2], "VALID"),
    "same_2": ([2, 5, 3, 3], [2, 2], [2, 2], "SAME"),
    "overlap": ([1, 5, 6, 2], [3, 3], [2, 2], "SAME"),
    "overlap_valid": ([1, 7, 6, 2], [3, 2], [1, 2], "VALID"),
    "stride_1": ([1, 4, 4, 1], [3, 2], [1, 1], "SAME"),
    "gaps": ([1, 7, 7, 2], [2, 2], [3, 3], "VALID"),
    "whole": ([2, 3, 3, 2], [3, 3], [1, 1], "VALID"),
    "one": ([1, 1, 1, 1], [1, 1], [1, 1], "VALID"),
    "window_over_input": ([1, 2, 2, 1], [5, 5], [1, 1], "SAME"),
    "empty_batch": ([0, 4, 4, 2], [2, 2], [2, 2], "VALID"),
    "channels": ([1, 6, 6, 17], [3, 3], [2, 2], "SAME"),
}


def pools():
    for name, (shape, ksize, strides, padding) in POOLS.items():
        attrs = dict(ksize=[1, *ksize, 1], strides=[1, *strides, 1], padding=padding)
        y = [shape[0]] + [output_size(shape[i], ksize[i - 1], strides[i - 1], padding)
                          for i in (1, 2)] + [shape[3]]
        for op in ("MaxPool", "AvgPool"):
            yield Case(op, name, [floats(shape)], attrs, tolerance="sum")
        yield Case("AvgPoolGrad", name, [np.array(shape, np.int32), floats(y, key=3)], attrs, (0,),
                   "sum")
        x = floats(shape)
        out = max_pool(x, ksize, strides, padding, y)
        # The gradient op reads the pooled values, so the table needs them; it is not differentiated
        # by x and y.
        yield Case("MaxPoolGrad", name, [x, out, floats(y, key=3)], attrs, (0, 1), "sum")
        yield Case("MaxPoolGradGrad", name, [x, out, floats(shape, key=4)], attrs, (0, 1), "sum")
    attrs = dict(ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
    for dtype in FLOATS:
        for op in ("MaxPool", "AvgPool"):
            yield Case(op, NAMES[dtype], [floats([1, 4, 4, 2], dtype=dtype)], attrs,
                       tolerance="sum")
    ties = ints([1, 4, 4, 2], 0, 2, F32)
    yield Case("MaxPool", "ties", [ties], attrs)
    yield Case("MaxPool", "ties_overlap", [ties],
               dict(ksize=[1, 3, 3, 1], strides=[1, 1, 1, 1], padding="SAME"), tolerance="sum")
    for name, (shape, ksize, strides, padding) in {
            "ties": ([1, 4, 4, 2], [2, 2], [2, 2], "VALID"),
        "ties_overlap": ([1, 5, 5, 3], [3, 3], [2, 2], "SAME"),
            "ties_vectors": ([2, 4, 6, 32], [2, 2], [2, 2], "SAME"),
        "ties_stride_1": ([1, 4, 4, 16], [3, 3], [1, 1], "VALID")}.items():
        window = dict(ksize=[1, *ksize, 1], strides=[1, *strides, 1], padding=padding)
        y = [shape[0]] + [output_size(shape[i], ksize[i - 1], strides[i - 1], padding)
                          for i in (1, 2)] + [shape[3]]
        x = ints(shape, 0, 2, F32, key=5)
        yield Case("MaxPoolGrad", name,
                   [x, max_pool(x, ksize, strides, padding, y), floats(y, key=3)], window, (0, 1),
                   "sum")
        if name not in ("ties", "ties_overlap"):
            yield Case("MaxPool", name, [x], window, tolerance="sum")
    special = np.concatenate([SPECIAL, SPECIAL[:4]]).reshape([1, 4, 4, 1])
    yield Case("MaxPool", "infinite", [np.where(np.isnan(special), -np.inf, special).astype(F32)],
               attrs)
    yield Case("AvgPool", "special", [special], attrs, tolerance="sum")


def max_pool(x, ksize, strides, padding, y):
    """Only used to make operands."""
    out = np.full(y, -np.inf, F32)
    for n, p, q, c in itertools.product(*map(range, y)):
        at = []
        for i, o in ((0, p), (1, q)):
            size = x.shape[1 + i]
            pad = max((y[1 + i] - 1) * strides[i] + ksize[i] - size,
                      0) // 2 if padding == "SAME" else 0
            begin = o * strides[i] - pad
            at.append(range(max(begin, 0), min(begin + ksize[i], size)))
        out[n, p, q, c] = max(x[n, r, s, c] for r in at[0] for s in at[1])
    return out


def bias():
    for dtype in FLOATS:
        yield Case("BiasAdd", NAMES[dtype], [floats([2, 3], dtype=dtype), floats([3], dtype=dtype)],
                   tolerance="sum")
        yield Case("BiasAddGrad", NAMES[dtype], [floats([2, 3], dtype=dtype)], tolerance="sum")
    for shape in ([2, 5, 4, 3], [1, 1], [0, 3], [2, 3, 4], [7, 33]):
        name = "x".join(map(str, shape))
        yield Case("BiasAdd", name, [floats(shape), floats(shape[-1:], key=2)], tolerance="sum")
        yield Case("BiasAddGrad", name, [floats(shape)], tolerance="sum")


def batch_norms():
    shapes = {"plain": [2, 2, 2, 3], "one": [1, 1, 1, 1], "one_row": [1, 1, 1, 3],
              "one_channel": [3, 2, 2, 1], "odd": [3, 5, 7, 5], "empty_batch": [0, 2, 2, 3]}
    none = np.zeros([0], F32)
    for (name, shape), training in itertools.product(shapes.items(), (True, False)):
        c = [shape[-1]]
        mean, variance = floats(c, key=4), floats(c, 0.5, 2, key=5)
        scale, offset = floats(c, 0.5, 2, key=2), floats(c, key=3)
        moments = [none, none] if training else [mean, variance]
        full = f"{name}_{'training' if training else 'inference'}"
        # Moments of an empty tensor: in TensorFlow they are NaN, even if moments are given. Here
        # they are 0, or those given.
        out = [0] if "empty" in name else [0, 1, 2]
        yield Case("FusedBatchNormV3", full, [floats(shape, key=1), scale, offset] + moments,
                   dict(epsilon=1e-3, is_training=training), tolerance="statistics", out=out,
                   ys=[0])
        yield Case("FusedBatchNormGradV3", full,
                   [floats(shape, key=6), floats(shape, key=1), scale, mean, variance, none],
                   dict(epsilon=1e-3, is_training=training), (5,), "statistics", out=[0, 1, 2],
                   gradient=training or name not in ("one", "one_row"))
    for dtype in (BF16, F16):
        yield Case("FusedBatchNormV3", NAMES[dtype],
                   [floats([2, 2, 2, 3], dtype=dtype)]
                   + [floats([3], 0.5, 2, key=k) for k in (2, 3)] + [none, none],
                   dict(epsilon=1e-3, is_training=True), tolerance="statistics", out=[0, 1, 2],
                   ys=[0])
    yield Case("FusedBatchNormV3", "averaged",
               [floats([2, 2, 2, 3], key=1)] + [floats([3], 0.5, 2, key=k) for k in (2, 3, 4, 5)],
               dict(epsilon=1e-3, is_training=True, exponential_avg_factor=0.25),
               tolerance="statistics", out=[0, 1, 2], ys=[0])


def resizes():
    """Two sizes: that of the images and that of the result."""
    centers = {"plain": {}, "corners": {"align_corners": True},
               "half": {"half_pixel_centers": True}}
    sizes = {"twice": ([2, 3, 5, 4], (6, 10)), "down": ([1, 7, 9, 3], (3, 4)),
             "one": ([1, 1, 1, 1], (1, 1)), "row": ([2, 4, 1, 2], (1, 5)),
             "empty": ([0, 3, 3, 2], (5, 2)), "same": ([1, 3, 5, 17], (3, 5))}
    for (how, attrs), (name, (shape, size)) in itertools.product(centers.items(), sizes.items()):
        resized = shape[:1] + list(size) + shape[3:]
        for op in ("ResizeBilinear", "ResizeNearestNeighbor"):
            yield Case(op, f"{how}_{name}", [floats(shape), i32(*size)], attrs, (1,), "sum")
        yield Case("ResizeBilinearGrad", f"{how}_{name}", [floats(resized), floats(shape)], attrs,
                   (), "sum")
        yield Case("ResizeNearestNeighborGrad", f"{how}_{name}",
                   [floats(resized), i32(*shape[1:3])], attrs, (1,), "sum")
    for dtype in FLOATS + INTS:
        images = values([1, 3, 2, 3], dtype)
        for op in ("ResizeBilinear", "ResizeNearestNeighbor"):
            # TensorFlow has no gradient of 16-bit floats, without a word, and rounds that of
            # float64 to float32.
            yield Case(op, NAMES[dtype], [images, i32(5, 4)], {}, (1,), "sum",
                       gradient=op == "ResizeNearestNeighbor" or dtype is F32)
        if dtype in FLOATS and dtype is not F64:
            yield Case("ResizeBilinearGrad", NAMES[dtype], [floats([1, 6, 4, 3]), images], {}, (),
                       "sum")
        if dtype in FLOATS:
            yield Case("ResizeNearestNeighborGrad", NAMES[dtype], [images, i32(2, 2)], {}, (1,),
                       "sum")


def detections():
    def boxes(n, key=0):
        corner, size = floats([n, 2], 0, 0.7, key=key), floats([n, 2], 0.1, 0.5, key=key + 1)
        return np.concatenate([corner, corner + size], 1)

    def f(x):
        return np.array(x, F32)
    padded = {"pad_to_max_output_size": True}
    tables = {"plain": (boxes(20), 5, 0.3, -np.inf, 0), "all": (boxes(7), 12, 0.5, 0, 0),
              "scores": (boxes(15), 15, 0.2, 0.3, 0), "soft": (boxes(15), 8, 1, 0.1, 0.4),
              "soft_all": (boxes(9), 9, 0.5, 0.05, 0.5), "none": (boxes(5), 3, 0.5, 9, 0),
              "empty": (boxes(0), 3, 0.5, 0, 0),
              "swapped": (boxes(9)[:, [2, 1, 0, 3]], 6, 0.1, 0, 0),
              "flat": (boxes(4)[:, [0, 1, 0, 3]], 4, 0, 0, 0), "no_boxes": (boxes(4), 0, 0.5, 0, 0)}
    for name, (corners, count, iou, score, sigma) in tables.items():
        inputs = [corners, floats([len(corners)], 0, 1, key=9), scalar(count), f(iou), f(score)]
        if not sigma:
            yield Case("NonMaxSuppressionV4", name, inputs, padded, (2,), gradient=False)
        yield Case("NonMaxSuppressionV5", name, inputs + [f(sigma)], padded, (2,), "function",
                   gradient=False)
    for name, (batch, n, q, classes, each, total, attrs) in {
            "shared": (2, 9, 1, 3, 4, 7, {}), "own": (2, 7, 3, 3, 3, 20, {}),
            "per_class": (1, 5, 1, 2, 2, 30, {"pad_per_class": True}),
            "unclipped": (1, 6, 1, 1, 6, 6, {"clip_boxes": False}),
            "empty": (0, 3, 1, 2, 2, 2, {})}.items():
        corners = boxes(batch * n * q).reshape([batch, n, q, 4]) * 1.4 - F32(0.2)
        yield Case("CombinedNonMaxSuppression", name,
                   [corners, floats([batch, n, classes], 0, 1, key=5), scalar(each), scalar(total),
                    f(0.3), f(0.2)], attrs, (2, 3), gradient=False)


def losses():
    for op in ("Softmax", "LogSoftmax"):
        for dtype in FLOATS:
            yield Case(op, NAMES[dtype], [floats([2, 5], dtype=dtype)], tolerance="function")
        for shape in ([5], [1, 1], [3, 1], [2, 3, 4], [0, 3], [7, 33]):
            yield Case(op, "x".join(map(str, shape)), [floats(shape, -6, 6)], tolerance="function")
        yield Case(op, "large", [F32([[1e4, 0, -1e4], [-1e30, 0, 1e30], [88, 89, 90]])],
                   tolerance="function")
        yield Case(op, "special",
                   [F32([[np.inf, 0, 1], [-np.inf, 0, 1], [np.nan, 0, 1],
                         [-np.inf, -np.inf, -np.inf]])], tolerance="function")
    for dtype in FLOATS:
        logits, labels = floats([3, 4], -4, 4, dtype, 1), floats([3, 4], 0, 0.5, dtype, 2)
        yield Case("SoftmaxCrossEntropyWithLogits", NAMES[dtype], [logits, labels],
                   tolerance="function", ys=[0])
        for index in (np.int32, np.int64):
            yield Case("SparseSoftmaxCrossEntropyWithLogits", f"{NAMES[dtype]}_{NAMES[index]}",
                       [logits, ints([3], 0, 4, index)], tolerance="function", ys=[0])
    for shape in ([1, 1], [0, 3], [5, 1], [7, 33]):
        name = "x".join(map(str, shape))
        yield Case("SoftmaxCrossEntropyWithLogits", name,
                   [floats(shape, -6, 6, key=1), floats(shape, 0, 1, key=2)], tolerance="function",
                   ys=[0])
        yield Case("SparseSoftmaxCrossEntropyWithLogits", name,
                   [floats(shape, -6, 6, key=1), ints(shape[:1], 0, shape[1])],
                   tolerance="function", ys=[0])
    logits = F32([[1e4, 0, -1e4], [88, 89, 90]])
    yield Case("SoftmaxCrossEntropyWithLogits", "large", [logits, F32([[0, 1, 0], [0, 0, 1]])],
               tolerance="function", ys=[0])
    yield Case("SparseSoftmaxCrossEntropyWithLogits", "large", [logits, i32(1, 2)],
               tolerance="function", ys=[0])
    for op, labels in (("SoftmaxCrossEntropyWithLogits", floats([3, 4], 0, 0.5, key=2)),
                       ("SparseSoftmaxCrossEntropyWithLogits", i32(1, 0, 3))):
        # TensorFlow drops the second part of the gradient of the labels, so they are a constant.
        yield Case(op, "second_order", [floats([3, 4], key=1), labels], {}, (1,), "function",
                   ys=[0, 1])


def updates():
    # op: the number of states, then the further operands: "g" is the gradient, and numbers are
    # scalars
    rules = {
        "ApplyGradientDescent": (1, [0.1, "g"], [{}]),
        "ApplyMomentum": (2, [0.1, "g", 0.9], [{"use_nesterov": False}, {"use_nesterov": True}]),
        "ApplyAdam": (3, [0.81, 0.998, 0.1, 0.9, 0.999, 1e-3, "g"],
                      [{"use_nesterov": False}, {"use_nesterov": True}]),
        "ApplyRMSProp": (3, [0.1, 0.9, 0.5, 1e-3, "g"], [{}]),
        "ApplyCenteredRMSProp": (4, [0.1, 0.9, 0.5, 1e-3, "g"], [{}]),
        "ApplyAdagrad": (2, [0.1, "g"], [{"update_slots": True}, {"update_slots": False}]),
        "ApplyAdadelta": (3, [0.1, 0.9, 1e-3, "g"], [{}]),
        "ApplyFtrl": (3, ["g", 0.1, 0.25, 0.5, -0.5], [{}]),
        "ApplyFtrlV2": (3, ["g", 0.1, 0.25, 0.5, 0.125, -0.5], [{}]),
        "ApplyProximalAdagrad": (2, [0.1, 0.25, 0.5, "g"], [{}]),
    }
    for op, (states, rest, options) in rules.items():
        for (k, attrs), dtype, shape in itertools.product(enumerate(options), (F32, F64),
                                                          ([6], [2, 3], [], [1], [0, 2])):
            name = f"{NAMES[dtype]}_{'x'.join(map(str, shape)) or 'scalar'}_{k}"
            state = [floats(shape, -2, 2, dtype)]
            # The centred second moment must exceed the squared mean, so the mean is small.
            state += [floats(shape, 0.5, 1, dtype, 10 + i)
                      * dtype(0.2 if states == 4 and i == 0 else 1) for i in range(states - 1)]
            operands = [floats(shape, -1, 1, dtype, 3) if x == "g" else scalar(x, dtype)
                        for x in rest]
            yield Case(op, name, state + operands, attrs, tolerance="powers" if "Ftrl" in op
                       else "function", states=states)
    yield Case("ApplyFtrl", "power", [floats([6]), floats([6], 0.5, 1), floats([6], -1, 1, key=4),
                                      floats([6], key=3)]
               + [scalar(x, F32) for x in (0.1, 0.25, 0.5, -0.75)], {}, tolerance="powers",
               states=3)


def recurrent():
    """Whole sequences: [time steps, batch, inputs, units], and the length. TensorFlow
    leaves some results undefined: gates beyond the length, and gradients of weights without a
    batch."""
    for name, (steps, batch, inputs, units), length in (
            ("one", (1, 1, 1, 1), 1), ("odd", (3, 2, 5, 3), 3), ("short", (4, 2, 1, 2), 2),
            ("empty", (2, 0, 3, 2), 2)):
        def some(*shape, key=1, low=-1.0, high=1.0):
            return floats(shape, low, high, key=key)
        peephole = np.zeros([units], F32)
        operands = [np.int64(length), some(steps, batch, inputs),
                    some(batch, units, key=2), some(batch, units, key=3),
                    some(inputs + units, 4 * units, key=4), peephole, peephole, peephole,
                    some(4 * units, key=5)]
        yield Case("BlockLSTM", name, operands,
                   {"forget_bias": 0.5, "cell_clip": -1.0, "use_peephole": False},
                   const=(0, 5, 6, 7), tolerance="sum", ys=[1, 6], gradient=batch > 0,
                   out=None if length == steps else [1, 6])
        rows = [some(steps, batch, units, key=6 + i, low=0.1) for i in range(9)]
        yield Case("BlockLSTMGrad", name, operands + rows, {"use_peephole": False},
                   const=(0, 5, 6, 7), tolerance="sum", gradient=False,
                   out=None if batch > 0 else [0, 1, 2])


TABLES = (products, recurrent, convolutions, depthwise, pools, bias, batch_norms, resizes,
          detections, losses, updates)
