"""Writes goldens.h: what TensorFlow's random ops draw in the first two runs of a session.

Command: python generate.py > goldens.h   (TensorFlow 2.15.1, tensorflow-cpu)
"""
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
tf1.disable_eager_execution()
GRAPH_SEED, OP_SEED = 87, 5


def fnv1a(array):
    """FNV-1a, 64 bit, of the array's bytes. The same as in random_test.cc."""
    value = 0xCBF29CE484222325
    for byte in array.tobytes():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def two_runs(tensor):
    with tf1.Session() as session:
        return session.run(tensor), session.run(tensor)


def draw(op, n, dtype):
    with tf.Graph().as_default():
        tf1.set_random_seed(GRAPH_SEED)
        if op == "RandomUniformInt":
            return two_runs(tf1.random_uniform([n], -5, 100, dtype=dtype, seed=OP_SEED))
        function = {
            "RandomUniform": tf1.random_uniform,
            "RandomStandardNormal": tf1.random_normal,
            "TruncatedNormal": tf1.truncated_normal,
        }[op]
        return two_runs(function([n], dtype=dtype, seed=OP_SEED))


def dropout():
    with tf.Graph().as_default():
        tf1.set_random_seed(GRAPH_SEED)
        return two_runs(tf.nn.dropout(tf.ones([64]), rate=0.4, seed=OP_SEED))


print("// Written by generate.py with TensorFlow %s: graph seed %d, op seed %d."
      % (tf.__version__, GRAPH_SEED, OP_SEED))
print("#ifndef ESTIMATOR_OPS_TESTDATA_RANDOM_GOLDENS_H_\n#define "
      "ESTIMATOR_OPS_TESTDATA_RANDOM_GOLDENS_H_\n")
print("#include <cstdint>\n#include <vector>\n")
print('#include "estimator/array/dtype.h"\n')
print("namespace estimator::goldens {\n")
print("// FNV-1a of the bytes that a run drew: these need no function of the C library, so all "
      "bits agree.")
print("struct DrawHash {\n  const char* op;\n  DType dtype;\n  int n;\n  int run;\n  uint64_t "
      "hash;\n};")
print("inline const std::vector<DrawHash> kDrawHashes = {")
NAMES = {"float32": "kFloat32", "float64": "kFloat64", "bfloat16": "kBfloat16",
         "float16": "kFloat16", "int32": "kInt32", "int64": "kInt64"}
for op, dtypes in (("RandomUniform", "float32 float64 bfloat16 float16"),
                   ("RandomUniformInt", "int32 int64")):
    for dtype in dtypes.split():
        for n in (1, 7, 1000):
            for run, array in enumerate(draw(op, n, getattr(tf, dtype))):
                print('    {"%s", DType::%s, %d, %d, 0x%016xu},'
                      % (op, NAMES[dtype], n, run, fnv1a(array)))
print("};\n")
print("// The last of n numbers: these go through log, sin and cos, whose last bit differs between "
      "libraries.")
print("struct DrawLast {\n  const char* op;\n  DType dtype;\n  int n;\n  int run;\n  double "
      "last;\n};")
print("inline const std::vector<DrawLast> kDrawLast = {")
for op in ("RandomStandardNormal", "TruncatedNormal"):
    for dtype in "float32 float64 bfloat16 float16".split():
        for n in (1, 7, 1000):
            for run, array in enumerate(draw(op, n, getattr(tf, dtype))):
                print('    {"%s", DType::%s, %d, %d, %.17g},'
                      % (op, NAMES[dtype], n, run, float(array[-1])))
print("};\n")
print("// tf.nn.dropout(ones([64]), rate=0.4): which elements stay, in two runs.")
print("inline const std::vector<std::vector<int>> kDropoutKept = {")
for array in dropout():
    print("    {%s}," % ", ".join("1" if x else "0" for x in array))
print("};\n")
print("}  // namespace estimator::goldens\n")
print("#endif  // ESTIMATOR_OPS_TESTDATA_RANDOM_GOLDENS_H_")
