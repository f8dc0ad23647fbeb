#!/usr/bin/env python3
"""A new element-wise op is one row with its formula, one gradient and one table of goldens.

Usage: check_new_op.py STABLEHLO_OPS_TOOL [--keep DIR]
Copies the tree and adds MulNoNan as CONTRIBUTING.md says: x * y, but 0 where y is 0. It makes the
goldens by TensorFlow and builds the copy. Then these hold: the op and its gradient equal
TensorFlow's on the reference and the fused kernel, in a chain of element-wise ops it is part of one
kernel, a GraphDef has it and can be read, and JAX computes the same from its StableHLO. Fails if
more files had to be edited than MAX_FILES. Needs tensorflow-cpu 2.15.1; tools/verify_interop.sh
installs it.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

# A file, the text before which the addition goes, and the addition. None: the new table of goldens
# is the first word of the list that begins so.
ADDITIONS = [
    ("estimator/op_def/elementwise_table.h", "EST_BINARY(DivNoNan,",
     "EST_BINARY(MulNoNan, x, y, kFloating, kTile, 0, Select(y == 0, 0, x * y))\n"),
    ("estimator/ops/math_binary.h", "Tensor Maximum(",
     "Tensor MultiplyNoNan(const Operand& x, const Operand& y,\n"
     '                     StringArg name = "multiply_no_nan");\n'),
    ("estimator/ops/math_binary.cc", "EST_BINARY_FUNCTION(Maximum,",
     'EST_BINARY_FUNCTION(MultiplyNoNan, "MulNoNan", FloatingBroadcastRule,\n'
     "                    EST_PARTIALS(MultiplyNoNan(g, y), MultiplyNoNan(x, g)))\n"),
    ("testdata/ops/cases.py", "def comparisons():", '''def no_nan():
    for dtype in FLOATS:
        operands = [floats([2, 3], dtype=dtype, key=key) for key in (1, 2)]
        yield Case("MulNoNan", NAMES[dtype], operands, tolerance="rounded")
    for name, (a, b) in BROADCASTS.items():
        yield Case("MulNoNan", name, [floats(a, key=1), floats(b, key=2)],
                   tolerance=sums_if_broadcast("rounded", a, b))
    yield Case("MulNoNan", "special", [SPECIAL[:, None], SPECIAL[None, :]], tolerance="rounded",
               gradient=False)


'''),
    ("testdata/ops/cases.py", "    for table in (unary,", None),
]
MAX_FILES = 4

TEST_BUILD = '''load("//tools/build:build_defs.bzl", "est_test")

est_test(
    name = "new_op_test",
    srcs = ["new_op_test.cc"],
    deps = [
        "//estimator/base/testing",
        "//estimator/graph",
        "//estimator/graph/testing",
        "//estimator/graphdef",
        "//estimator/kernels:kernel",
        "//estimator/kernels/testing",
        "//estimator/ops",
        "//estimator/proto",
        "//estimator/runtime",
    ],
    link = ["//estimator/kernels:all_kernels"],
)
'''
TEST = '''#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/graphdef/graph_def.h"
#include "estimator/graphdef/import_graph_def.h"
#include "estimator/kernels/kernel.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/proto/graph.pb.h"
#include "estimator/runtime/program.h"

namespace estimator {
namespace {

using NewOpTest = GraphTest;

TEST_F(NewOpTest, HasAReferenceKernelAndAFusedOne) {
  EXPECT_TRUE(HasKernel("MulNoNan", KernelTier::kReference));
  EXPECT_TRUE(HasKernel("MulNoNan", KernelTier::kFused));
}

TEST_F(NewOpTest, IsFusedIntoAChainForwardAndBackward) {
  for (const DType dtype : {DType::kFloat32, DType::kBfloat16}) {
    const Tensor x = Placeholder(dtype, {64, 128}), y = Placeholder(dtype, {64, 128});
    const Tensor out = Relu(MultiplyNoNan(x, y));
    const std::vector<Tensor> grads = Gradients({out}, {x, y});
    const auto program = Program::Compile(
        graph_, {.feeds = {x, y}, .fetches = {grads[0], grads[1]}, .updates = {}},
        {.print_plan = true});
    EST_ASSERT_OK(program);
    EXPECT_THAT((*program)->Plan(), ::testing::HasSubstr("_FusedElementwise"));
    EXPECT_THAT((*program)->Plan(), ::testing::HasSubstr(" 1 instructions"));
  }
}

TEST_F(NewOpTest, IsWrittenToAGraphDefAndReadFromIt) {
  const Tensor x = Placeholder(DType::kFloat32, {2, 3}, "x");
  const Tensor out = MultiplyNoNan(x, x, "out");
  proto::GraphDef def;
  ASSERT_TRUE(def.ParseFromString(GraphToGraphDef(graph_)));
  Graph other;
  const auto imported = ImportGraphDef(
      def, {.feeds = {{"x", {DType::kFloat32, {2, 3}}}}, .fetches = {"out"}}, other);
  EST_ASSERT_OK(imported);
  EXPECT_EQ(imported->fetches[0].node()->op(), "MulNoNan");
}

}  // namespace
}  // namespace estimator
'''


def copy_tree(to):
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                           cwd=ROOT, check=True, capture_output=True).stdout.decode().split("\0")
    for name in filter(None, names):
        source, target = os.path.join(ROOT, name), os.path.join(to, name)
        if not os.path.isfile(source):
            continue  # deleted, and not committed yet
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(source, target)


def add(tree):
    """Edits the copy and returns the edited files."""
    for name, before, text in ADDITIONS:
        path = os.path.join(tree, name)
        with open(path) as file:
            content = file.read()
        assert content.count(before) == 1, f"{name}: {before!r} must be there once"
        new = before + " no_nan," if text is None else text + before
        with open(path, "w") as file:
            file.write(content.replace(before, new))
    return sorted({name for name, _, _ in ADDITIONS})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")  # built, so that the copy finds most objects in the disk cache
    parser.add_argument("--keep", help="the folder of the copy, which is kept")
    args = parser.parse_args()
    tree = args.keep or tempfile.mkdtemp(prefix="new_op_")
    try:
        copy_tree(tree)
        files = add(tree)
        print(f"{len(files)} files edited: {', '.join(files)}")
        if len(files) > MAX_FILES:
            return f"FAILED: a new op may touch {MAX_FILES} files"
        os.makedirs(os.path.join(tree, "new_op"))
        for name, text in {"BUILD": TEST_BUILD, "new_op_test.cc": TEST}.items():
            with open(os.path.join(tree, "new_op", name), "w") as file:
                file.write(text)
        run = lambda *command: subprocess.run(command, cwd=tree, check=True)  # noqa: E731
        run(sys.executable, "testdata/ops/generate.py")
        run("bazel", "test", "//new_op:new_op_test", "//estimator/op_def/...", "//tpu:ops_test",
            "//estimator/kernels:kernels_kernels_test")
        run("bazel", "test", "//estimator/ops:ops_test", "--test_filter=*MulNoNan*:*OfTheRegistry*")
        run("bazel", "build", "//tools/interop:stablehlo_ops_tool")
        run(sys.executable, "testdata/interop/check_stablehlo_ops.py",
            "bazel-bin/tools/interop/stablehlo_ops_tool", "--ops", "MulNoNan")
    except subprocess.CalledProcessError as error:
        return f"FAILED: {error}"
    finally:
        if os.path.isdir(tree):
            subprocess.run(["bazel", "shutdown"], cwd=tree, check=False)
        if not args.keep:
            shutil.rmtree(tree, ignore_errors=True)
    print("a new op is one row, one formula, one gradient and one table of goldens")
    return 0


if __name__ == "__main__":
    sys.exit(main())
