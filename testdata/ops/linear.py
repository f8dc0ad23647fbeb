"""Rows of linear algebra. See cases.py.

The operands are well-conditioned, so that a rounding of an intermediate value stays small. The
vectors of a decomposition have the sign that Eigen gives them, here and in TensorFlow.
"""

import numpy as np

from cases import F32, F64, NAMES, Case, floats

SQUARES = {"one": [1, 1], "odd": [3, 5, 5], "even": [2, 2, 4, 4], "empty": [0, 3, 3],
           "no_rows": [2, 0, 0]}


def identity_like(x):
    return np.broadcast_to(np.eye(x.shape[-1]), x.shape)


def dominant(shape, dtype=F32, key=0):
    """Matrices with a large diagonal, that are not symmetric."""
    x = floats(shape, -1, 1, F64, key)
    return (x + 2 * shape[-1] * identity_like(x)).astype(dtype)


def definite(shape, dtype=F32, key=0):
    """Symmetric positive definite matrices."""
    x = floats(shape, -1, 1, F64, key)
    return (x @ np.swapaxes(x, -1, -2) + 2 * identity_like(x)).astype(dtype)


def separated(shape, dtype=F32):
    """Symmetric matrices whose eigenvalues are far apart."""
    x = floats(shape, -0.3, 0.3, F64)
    steps = np.arange(1, shape[-1] + 1, dtype=F64)
    return (x + np.swapaxes(x, -1, -2) + identity_like(x) * 2 * steps).astype(dtype)


def spread(shape, dtype=F32):
    """Matrices whose singular values are far apart."""
    x = floats(shape, -0.3, 0.3, F64)
    steps = np.arange(1, shape[-1] + 1, dtype=F64)
    return (x + np.eye(shape[-2], shape[-1]) * 2 * steps).astype(dtype)


def rows_of(shape, columns):
    return list(shape[:-1]) + [columns]


def solvers():
    for name, shape in SQUARES.items():
        for dtype in (F32, F64):
            end = f"{name}_{NAMES[dtype]}"
            # TensorFlow's gradient of a matrix without rows fails.
            some = dict(gradient=shape[-1] > 0, tolerance="solution")
            rhs = floats(rows_of(shape, 1 if name == "one" else 3), dtype=dtype, key=5)
            yield Case("Cholesky", end, [definite(shape, dtype)], **some)
            yield Case("MatrixDeterminant", end, [definite(shape, dtype) / 4], **some)
            yield Case("LogMatrixDeterminant", end, [dominant(shape, dtype)], ys=[1], **some)
            for adjoint in (False, True):
                ending = end + "_adjoint" * adjoint
                yield Case("MatrixInverse", ending, [dominant(shape, dtype)], {"adjoint": adjoint},
                           **some)
                yield Case("MatrixSolve", ending, [dominant(shape, dtype), rhs],
                           {"adjoint": adjoint}, **some)
                for lower in (False, True):
                    yield Case("MatrixTriangularSolve", ending + "_lower" * lower,
                               [dominant(shape, dtype), rhs], {"adjoint": adjoint, "lower": lower},
                               **some)
    yield Case("MatrixTriangularSolve", "broadcast", [dominant([2, 1, 3, 3]), floats([4, 3, 2])],
               {"adjoint": False, "lower": True}, tolerance="solution")
    yield Case("LogMatrixDeterminant", "signs",
               [dominant([4, 3, 3]) * F32([1, -1, -1]).reshape(3, 1)], ys=[1],
               tolerance="solution")
    yield Case("LogMatrixDeterminant", "singular", [np.zeros([2, 2], F32)], gradient=False,
               tolerance="solution")


def least_squares():
    shapes = {"one": [1, 1], "tall": [2, 5, 3], "wide": [2, 3, 5], "square": [3, 3],
              "empty": [0, 3, 2]}
    for name, shape in shapes.items():
        for dtype in (F32, F64):
            for fast in (True, False):
                matrix = spread(shape, dtype)
                rhs = floats(rows_of(shape, 1 if name == "one" else 2), dtype=dtype, key=5)
                yield Case("MatrixSolveLs", f"{name}_{NAMES[dtype]}" + "_fast" * fast,
                           [matrix, rhs, np.array(0.25, F64)], {"fast": fast}, (2,), "solution",
                           gradient=fast)


def decompositions():
    shapes = {"one": [1, 1], "tall": [2, 5, 3], "wide": [2, 3, 5], "square": [2, 4, 4],
              "empty": [0, 3, 2], "no_columns": [3, 0], "near": [4, 3]}
    for name, shape in shapes.items():
        for dtype in (F32, F64):
            end = f"{name}_{NAMES[dtype]}"
            x, some = spread(shape, dtype), dict(tolerance="solution")
            has_gradient = 0 not in shape
            for full in (False, True):
                ending = end + "_full" * full
                yield Case("Qr", ending, [x], {"full_matrices": full},
                           gradient=has_gradient and not (full and shape[-2] > shape[-1]), **some)
                yield Case("Svd", ending, [x], {"full_matrices": full, "compute_uv": True},
                           gradient=has_gradient and not (full and abs(shape[-2] - shape[-1]) > 1),
                           **some)
            yield Case("Svd", end + "_values", [x], {"full_matrices": False, "compute_uv": False},
                       out=[0], ys=[0], gradient=has_gradient, **some)
    for name, shape in SQUARES.items():
        for dtype in (F32, F64):
            end, x = f"{name}_{NAMES[dtype]}", separated(shape, dtype)
            some = dict(gradient=shape[-1] > 0, tolerance="solution")
            yield Case("SelfAdjointEigV2", end, [x], {"compute_v": True}, **some)
            yield Case("SelfAdjointEigV2", end + "_values", [x], {"compute_v": False}, out=[0],
                       ys=[0], **some)


TABLES = [solvers, least_squares, decompositions]
