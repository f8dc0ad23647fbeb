"""The table of op goldens: which ops run on which operands. See generate.py.

A row is a Case. The helpers below write many rows at once: every dtype of an op, every
broadcasting, empty and scalar operands, and the special values (NaN, infinities, signed zeros) for
ops that have a rule for them.
"""

import dataclasses
import itertools
import zlib

import numpy as np
import tensorflow as tf

BF16 = tf.bfloat16.as_numpy_dtype
F16, F32, F64 = np.float16, np.float32, np.float64
FLOATS = [F32, F64, BF16, F16]
INTS = [np.int32, np.int64, np.int8, np.int16, np.uint8]
NAMES = {F32: "f32", F64: "f64", BF16: "bf16", F16: "f16", np.int32: "i32", np.int64: "i64",
         np.int8: "i8", np.int16: "i16", np.uint8: "u8", np.bool_: "bool"}
SPECIAL = F32([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e30, -1e30])


@dataclasses.dataclass
class Case:
    op: str
    name: str  # unique among the cases of the op
    inputs: list
    attrs: dict = dataclasses.field(default_factory=dict)
    const: tuple = ()  # flat indices of the operands that are constants of the graph (axes, shapes)
    tolerance: str = "exact"  # a class of estimator/ops/golden_test.cc
    out: list = None  # the outputs that are compared; None: all
    ys: list = None  # the outputs that are differentiated; None: all that are floating
    gradient: bool = True
    states: int = 0  # for update rules: the number of inputs that are variables
    run: object = None  # instead of an op: a function of TensorFlow that consists of several ops
    # if TensorFlow has no kernel on the CPU: a function of other ops with the op's defined result
    by: object = None
    absent: str = ""  # the reason why TensorFlow has no golden: see ABSENT


def seeded(*words):
    return np.random.RandomState(zlib.crc32(repr(words).encode()))


def floats(shape, low=-2.0, high=2.0, dtype=F32, key=0):
    return seeded(tuple(shape), key).uniform(low, high, shape).astype(dtype)


def ints(shape, low=-5, high=6, dtype=np.int32, key=0):
    return seeded(tuple(shape), key).randint(low, high, shape).astype(dtype)


def values(shape, dtype, low=-2.0, high=2.0, key=0):
    """Returns numbers of any dtype. Floating ones are in [low, high]."""
    if dtype is np.bool_:
        return seeded(tuple(shape), key).randint(0, 2, shape).astype(bool)
    if dtype in FLOATS:
        return floats(shape, low, high, dtype, key)
    lowest = 0 if dtype is np.uint8 else -5
    return ints(shape, max(lowest, int(low * 3)) if low >= 0 else lowest, 6, dtype, key)


def i32(*numbers):
    return np.array(numbers, np.int32)


def special(dtype):
    with np.errstate(over="ignore"):
        return SPECIAL.astype(dtype)


def scalar(x, dtype=np.int32):
    return np.array(x, dtype)


EDGES = {"scalar": [], "one": [1], "empty": [0, 3], "odd": [7, 5]}


# ---- kernels that TensorFlow does not have

TYPE = "the op does not take the type"  # generate.py sees to it that these three are so
KERNEL = "no kernel of the type on the CPU"
REFUSED = "refused on the CPU"
VERIFIED = (TYPE, KERNEL, REFUSED)
MEMORY = "uninitialized memory where there are no rows"

# The rows of the tables that have no golden, with the reason. They go to absent.txt, and
# golden_test checks their number.
ABSENT = {
    TYPE: ("Neg/u8 Abs/u8 Sign/u8 Round/u8 Pow/u8 DivNoNan/i32 DivNoNan/i64 DivNoNan/i8 "
           "DivNoNan/i16 DivNoNan/u8 SquaredDifference/i8 SquaredDifference/i16 "
           "SquaredDifference/u8 Atan2/i32 Atan2/i64 Atan2/i8 Atan2/i16 Atan2/u8 Xdivy/i32 "
           "Xdivy/i64 Xdivy/i8 Xdivy/i16 Xdivy/u8 Xlogy/i32 Xlogy/i64 Xlogy/i8 Xlogy/i16 Xlogy/u8 "
           "TruncateMod/i8 TruncateMod/i16 TruncateMod/u8"),
    KERNEL: ("Round/i8 Round/i16 Rint/bf16 Rint/f16 RealDiv/i32 RealDiv/i64 RealDiv/i8 RealDiv/i16 "
             "RealDiv/u8 TruncateMod/bf16 TruncateMod/f16"),
}


def mark_absent(case):
    for reason, names in ABSENT.items():
        if f"{case.op}/{case.name}" in names.split():
            case.absent = reason
    return case


# ---- element by element

def unary():
    exact = {"Neg": INTS, "Abs": INTS, "Sign": INTS, "Square": INTS, "Round": INTS, "Floor": [],
             "Ceil": [], "Rint": [], "Identity": INTS + [np.bool_], "StopGradient": INTS,
             "ZerosLike": INTS + [np.bool_], "OnesLike": INTS + [np.bool_], "IsNan": [],
             "IsInf": [], "IsFinite": [], "Relu": [], "Relu6": []}
    for op, others in exact.items():
        yield from unary_rows(op, "rounded" if op == "Square" else "exact", FLOATS + others, -3, 3)
    functions = {"Sqrt": (0.1, 4), "Rsqrt": (0.1, 4), "Exp": (-4, 4), "Expm1": (-4, 4),
                 "Log": (0.1, 4), "Log1p": (-0.9, 4), "Sin": (-4, 4), "Cos": (-4, 4),
                 "Tan": (-1.4, 1.4), "Erf": (-3, 3), "Erfc": (-3, 3), "Reciprocal": (0.2, 3),
                 "Asin": (-0.95, 0.95), "Acos": (-0.95, 0.95), "Atan": (-3, 3), "Sinh": (-3, 3),
                 "Cosh": (-3, 3), "Asinh": (-3, 3), "Acosh": (1.1, 4), "Atanh": (-0.9, 0.9),
                 "Elu": (-3, 3), "Selu": (-3, 3), "Softplus": (-9, 9), "Softsign": (-3, 3),
                 "Sigmoid": (-6, 6), "Tanh": (-3, 3)}
    for op, (low, high) in functions.items():
        yield from unary_rows(op, "function", FLOATS, low, high)
    for alpha in (0.2, 0.0, 1.5):
        yield Case("LeakyRelu", f"alpha_{alpha}".replace(".", "_"), [SPECIAL], {"alpha": alpha},
                   tolerance="rounded")
    for dtype in FLOATS:
        yield Case("LeakyRelu", NAMES[dtype], [floats([2, 3], dtype=dtype)], {"alpha": 0.25},
                   tolerance="rounded")
    for name, shape in EDGES.items():
        yield Case("LeakyRelu", name, [floats(shape)], {"alpha": 0.25}, tolerance="rounded")
        yield Case("LogicalNot", name, [values(shape, np.bool_)])
        yield Case("Invert", name, [ints(shape)])
    for dtype in INTS:
        yield Case("Invert", NAMES[dtype], [values([2, 3], dtype)])
    for dtype in FLOATS:
        for name, shape in (("", [2, 3]), ("_one", [1]), ("_empty", [0, 3])):
            yield Case("CheckNumerics", NAMES[dtype] + name, [values(shape, dtype, -3, 3)],
                       {"message": "of_rows"})


def unary_rows(op, tolerance, dtypes, low, high):
    for dtype in dtypes:
        yield Case(op, NAMES[dtype], [values([2, 3], dtype, low, high)], tolerance=tolerance)
    yield Case(op, "scalar", [floats([], low, high)], tolerance=tolerance)
    yield Case(op, "one", [floats([1], low, high)], tolerance=tolerance)
    yield Case(op, "empty", [floats([0, 3])], tolerance=tolerance)
    yield Case(op, "odd", [floats([7, 5], low, high)], tolerance=tolerance)
    yield Case(op, "special", [SPECIAL], tolerance=tolerance)
    if op in ("Round", "Rint", "Floor", "Ceil"):
        yield Case(op, "halves", [F32([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5])])


GRADIENT_OPS = {"ReluGrad": (-2, 2), "Relu6Grad": (-2, 8), "EluGrad": (-0.9, 2),
                "SeluGrad": (-1.5, 2), "SoftplusGrad": (-4, 4),
                "SoftsignGrad": (-3, 3), "SigmoidGrad": (0.05, 0.95), "TanhGrad": (-0.95, 0.95)}


def activation_gradients():
    for op, (low, high) in GRADIENT_OPS.items():
        first = op in ("SigmoidGrad", "TanhGrad")  # (y, dy), the other way round
        for dtype in FLOATS:
            pair = [floats([2, 3], -1, 1, dtype, 1), floats([2, 3], low, high, dtype, 2)]
            yield Case(op, NAMES[dtype], pair[::-1] if first else pair, tolerance="function")
        for shape in ([], [1], [0, 3], [7, 5]):
            pair = [floats(shape, -1, 1, key=1), floats(shape, low, high, key=2)]
            yield Case(op, "x".join(map(str, shape)) or "scalar", pair[::-1] if first else pair,
                       tolerance="function")
        kinks = F32([0, -0.0, 6, 1, -1])
        yield Case(op, "kinks", [kinks, F32([1, 2, 3, 4, 5])] if first
                   else [F32([1, 2, 3, 4, 5]), kinks], tolerance="function")
    for dtype in FLOATS:
        yield Case("LeakyReluGrad", NAMES[dtype],
                   [floats([2, 3], dtype=dtype, key=1), floats([2, 3], dtype=dtype, key=2)],
                   {"alpha": 0.25}, tolerance="rounded")
    for name, shape in EDGES.items():
        yield Case("LeakyReluGrad", name, [floats(shape, key=1), floats(shape, key=2)],
                   {"alpha": 0.25}, tolerance="rounded")
    yield Case("LeakyReluGrad", "kinks", [F32([1, 2, 3]), F32([0, -0.0, -1])], {"alpha": 0.1},
               tolerance="rounded")


BROADCASTS = {"same": ([2, 3], [2, 3]), "both": ([2, 1, 3], [4, 1]), "left": ([], [3]),
              "right": ([3], []), "one": ([1], [1]), "scalars": ([], []), "row": ([5, 3], [3]),
              "column": ([5, 3], [5, 1]), "empty": ([0, 3], [1, 3]),
              "emptied": ([1, 3], [0, 1]), "middle": ([2, 1, 3], [2, 4, 3])}


def binary():
    tolerances = {"AddV2": "exact", "Sub": "exact", "Mul": "rounded", "RealDiv": "rounded",
                  "Div": "rounded", "DivNoNan": "rounded", "FloorDiv": "exact",
                  "FloorMod": "rounded", "Maximum": "exact", "Minimum": "exact",
                  "SquaredDifference": "rounded", "Pow": "function", "Atan2": "function",
                  "Xdivy": "rounded", "Xlogy": "function", "TruncateDiv": "exact",
                  "TruncateMod": "exact"}
    for op, tolerance in tolerances.items():
        def second(shape, dtype, op=op, key=2):
            y = values(shape, dtype, 0.2, 3, key)
            if op == "Pow" and dtype not in FLOATS:
                return np.abs(y).astype(dtype)
            return np.where(y == 0, dtype(3), y).astype(dtype) if dtype not in FLOATS else y
        low = 0.2 if op in ("Pow", "Xlogy") else -3
        for dtype in FLOATS + INTS:
            yield Case(op, NAMES[dtype],
                       [values([2, 1, 3], dtype, low, 3, 1), second([2, 1], dtype)],
                       tolerance=sums_if_broadcast(tolerance, [2, 1, 3], [2, 1]))
        sample = np.int32 if op in ("TruncateDiv", "TruncateMod") else F32
        for name, (a, b) in BROADCASTS.items():
            yield Case(op, name, [values(a, sample, low, 3, 1), second(b, sample)],
                       tolerance=sums_if_broadcast(tolerance, a, b))
        if sample is F32:
            yield Case(op, "special", [SPECIAL[:, None], SPECIAL[None, :]], tolerance=tolerance,
                       gradient=False)
            n = len(SPECIAL)
            pairs = np.array(list(itertools.product(range(n), range(n))))
            yield Case(op, "special_gradient", [SPECIAL[pairs[:, 0]], SPECIAL[pairs[:, 1]]],
                       tolerance=tolerance)
    signs = [np.array([7, -7, 7, -7, 6, -6, 0, 1], np.int32),
             np.array([3, 3, -3, -3, 3, 3, 5, -5], np.int32)]
    for op in ("FloorDiv", "FloorMod", "Div", "TruncateDiv", "TruncateMod"):
        yield Case(op, "signs", signs)
    for op in ("FloorDiv", "FloorMod"):
        yield Case(op, "signs_f32", [x.astype(F32) for x in signs])
    extremes = np.array([-2**31, 2**31 - 1, -2**31, 2**31 - 1], np.int32)
    for op in ("AddV2", "Sub", "Mul", "SquaredDifference"):
        yield Case(op, "overflow", [extremes, extremes[::-1].copy()])
    yield Case("Maximum", "ties", [F32([1, 2, 3]), F32([1, 3, 2])])
    yield Case("Minimum", "ties", [F32([1, 2, 3]), F32([1, 3, 2])])
    for n in (1, 2, 5):
        yield Case("AddN", f"of_{n}", [[floats([2, 3], key=k) for k in range(n)]], tolerance="sum")
    for dtype in FLOATS + INTS:
        yield Case("AddN", NAMES[dtype], [[values([3], dtype, key=k) for k in range(3)]],
                   tolerance="sum")
    for name, shape in EDGES.items():
        yield Case("AddN", name, [[floats(shape), floats(shape, key=2)]], tolerance="sum")
    for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift"):
        for dtype in INTS:
            y = ints([2, 1], 0, 5, dtype, 2)
            yield Case(op, NAMES[dtype], [values([2, 1, 3], dtype, key=1), y])
        yield Case(op, "scalar", [i32(-7, 8, 100), scalar(2)])
        for name, (a, b) in BROADCASTS.items():
            yield Case(op, "broadcast_" + name, [ints(a, key=1), ints(b, 0, 5, key=2)])


def sums_if_broadcast(tolerance, a, b):
    """The gradient of a broadcast operand is a sum."""
    return tolerance if a == b or tolerance == "function" else "sum"


def comparisons():
    for op in ("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"):
        for dtype in FLOATS + INTS + ([np.bool_] if op in ("Equal", "NotEqual") else []):
            yield Case(op, NAMES[dtype],
                       [values([4, 1, 3], dtype, key=1), values([2, 1], dtype, key=2)])
        for name, (a, b) in BROADCASTS.items():
            yield Case(op, name, [ints(a, 0, 3, F32, 1), ints(b, 0, 3, F32, 2)])
        yield Case(op, "special", [SPECIAL[:, None], SPECIAL[None, :]])
    for op in ("LogicalAnd", "LogicalOr"):
        for name, (a, b) in BROADCASTS.items():
            yield Case(op, name, [values(a, np.bool_, key=1), values(b, np.bool_, key=2)])
    for dtype in FLOATS + INTS + [np.bool_]:
        yield Case("SelectV2", NAMES[dtype],
                   [values([2, 3], np.bool_), values([2, 3], dtype, key=1),
                    values([2, 3], dtype, key=2)])
    for name, shapes in {"scalar": ([], [2, 3], [2, 3]), "broadcast": ([2, 1], [3], [4, 1, 1]),
                         "condition": ([2, 3], [], []), "empty": ([0, 2], [1, 2], [2]),
                         "one": ([1], [1], [1])}.items():
        c, x, y = shapes
        yield Case("SelectV2", name, [values(c, np.bool_), floats(x, key=1), floats(y, key=2)],
                   tolerance="sum")
    yield Case("SelectV2", "special", [values([12], np.bool_), SPECIAL, SPECIAL[::-1].copy()])


def casts():
    kinds = FLOATS + INTS + [np.bool_]
    for a, b in itertools.product(kinds, kinds):
        x = values([2, 3], a, 0, 3) if b is np.uint8 or a is np.uint8 else values([2, 3], a, -3, 3)
        yield Case("Cast", f"{NAMES[a]}_to_{NAMES[b]}", [x], {"DstT": tf.as_dtype(b)})
    for a, b in itertools.product(FLOATS, FLOATS):
        yield Case("Cast", f"special_{NAMES[a]}_to_{NAMES[b]}", [special(a)],
                   {"DstT": tf.as_dtype(b)})
    yield Case("Cast", "halfway",
               [F32([1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-11, 65504, 65520, 1e-7, 6e-8])],
               {"DstT": tf.float16})
    yield Case("Cast", "halfway_bf16", [F32([1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-9, 3.4e38])],
               {"DstT": tf.bfloat16})
    yield Case("Cast", "truncates", [F32([2.9, -2.9, 0.5, -0.5, 1e9])], {"DstT": tf.int32})
    yield Case("Cast", "wraps", [i32(300, -1, 255, 128, 65537)], {"DstT": tf.uint8})
    yield Case("Cast", "any_is_true", [F32([0, -0.0, 1e-30, np.nan, 2])], {"DstT": tf.bool})
    for name, shape in EDGES.items():
        yield Case("Cast", name, [floats(shape)], {"DstT": tf.int32})
        yield Case("Cast", "bf16_" + name, [floats(shape)], {"DstT": tf.bfloat16})


# ---- strings

def strings():
    """AsString. fill=" " is missing, because a line of cases.txt cannot represent it;
    ops/strings_test tests it."""
    formats = {"plain": {}, "width": dict(width=9), "zeros": dict(width=9, fill="0"),
               "left": dict(width=9, fill="-"),
               "signs": dict(width=9, fill="+"), "hash": dict(width=9, fill="#")}
    of_floats = {"precision": dict(precision=3), "none": dict(precision=0),
                 "scientific": dict(scientific=True), "shortest": dict(shortest=True),
                 "digits": dict(shortest=True, precision=9),
                 "all": dict(precision=2, width=12, fill="+", scientific=True)}
    defaults = dict(precision=-1, scientific=False, shortest=False, width=-1, fill="")
    for dtype in FLOATS + INTS + [np.bool_]:
        for name, attrs in {**formats, **(of_floats if dtype in FLOATS else {})}.items():
            yield Case("AsString", f"{NAMES[dtype]}_{name}", [values([5], dtype, -300, 300)],
                       {**defaults, **attrs})
    for name, attrs in {**formats, "ignored": dict(precision=2), "cut": dict(precision=2, width=9),
                        "narrow": dict(width=2)}.items():
        yield Case("AsString", f"str_{name}", [np.array([b"abcdef", b"", b"a\0b"], object)],
                   {**defaults, **attrs})
    for name in ("plain", "scientific", "shortest", "zeros"):
        yield Case("AsString", f"special_{name}", [SPECIAL],
                   {**defaults, **{**formats, **of_floats}[name]})
    limits = np.int64([np.iinfo(np.int64).min, np.iinfo(np.int64).max])
    yield Case("AsString", "limits", [limits], defaults)
    for name, shape in {"one": [1], "empty": [0, 3], "odd": [3, 5]}.items():
        yield Case("AsString", name, [ints(shape)], defaults)


def all_cases():
    import moves  # noqa: PLC0415
    import functions  # noqa: PLC0415
    import linear  # noqa: PLC0415
    import networks  # noqa: PLC0415
    import reductions  # noqa: PLC0415
    import sequences  # noqa: PLC0415
    for table in (unary, activation_gradients, binary, comparisons, casts, *reductions.TABLES,
                  strings, *moves.TABLES, *networks.TABLES, *sequences.TABLES, *linear.TABLES,
                  *functions.TABLES):
        yield from map(mark_absent, table())
