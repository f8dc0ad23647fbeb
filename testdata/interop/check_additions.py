#!/usr/bin/env python3
"""What a new element-wise op and a new optimizer touch: few files, and nothing else is needed.

Usage: check_additions.py STABLEHLO_OPS_TOOL [--keep DIR]
Copies the tree and adds to the copy the optimizer AddSign, as CONTRIBUTING.md says: a formula, a
class, and a row of goldens; then the op MulNoNan (x * y, but 0 where y is 0): a row with its
formula, a function with its gradient, and a table of goldens. It makes the goldens by TensorFlow,
and builds and tests the copy after each. Then these hold:
  the op, its gradient and the update rule equal TensorFlow's on the reference and the fused kernel
  JAX computes the same from their StableHLO
  the op is part of one kernel in a chain of element-wise ops
  a GraphDef has the op and can be read
  three steps of the optimizer equal those of TensorFlow's op
Fails if more files had to be edited than each may. Needs tensorflow-cpu 2.15.1;
tools/verify_interop.sh installs it.
"""

import argparse
import dataclasses
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


@dataclasses.dataclass
class Edit:
    """Writes `text` before `before`, which the file has once; a new file if `before` is None."""
    file: str
    before: str
    text: str


@dataclasses.dataclass
class Addition:
    what: str  # "op", "optimizer"
    op: str  # the op in goldens
    edits: list
    max_files: int
    test: str  # what new_test.cc has besides TEST_BEGIN and TEST_END


OP = Addition(
    what="op",
    op="MulNoNan",
    edits=[
        Edit("estimator/op_def/elementwise_table.h", "EST_BINARY(DivNoNan,",
             "EST_BINARY(MulNoNan, x, y, kFloating, kTile, 0, Select(y == 0, 0, x * y))\n"),
        Edit("estimator/ops/math_binary.h", "Tensor Maximum(",
             "Tensor MultiplyNoNan(const Operand& x, const Operand& y,\n"
             '                     StringArg name = "multiply_no_nan");\n'),
        Edit("estimator/ops/math_binary.cc", "EST_BINARY_FUNCTION(Maximum,",
             'EST_BINARY_FUNCTION(MultiplyNoNan, "MulNoNan", FloatingBroadcastRule,\n'
             "                    EST_PARTIALS(MultiplyNoNan(g, y), MultiplyNoNan(x, g)))\n"),
        Edit("testdata/ops/cases.py", "def comparisons():", '''def no_nan():
    for dtype in FLOATS:
        operands = [floats([2, 3], dtype=dtype, key=key) for key in (1, 2)]
        yield Case("MulNoNan", NAMES[dtype], operands, tolerance="rounded")
    for name, (a, b) in BROADCASTS.items():
        yield Case("MulNoNan", name, [floats(a, key=1), floats(b, key=2)],
                   tolerance=sums_if_broadcast("rounded", a, b))
    yield Case("MulNoNan", "special", [SPECIAL[:, None], SPECIAL[None, :]], tolerance="rounded",
               gradient=False)


'''),
        Edit("testdata/ops/cases.py", "unary, activation_gradients,", "no_nan, "),
    ],
    max_files=4,
    test='''
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
  const std::string out(MultiplyNoNan(x, x, "out").node()->name());
  proto::GraphDef def;
  ASSERT_TRUE(def.ParseFromString(GraphToGraphDef(graph_)));
  Graph other;
  const auto imported = ImportGraphDef(
      def, {.feeds = {{"x", {DType::kFloat32, {2, 3}}}}, .fetches = {out}}, other);
  EST_ASSERT_OK(imported);
  EXPECT_EQ(imported->fetches[0].node()->op(), "MulNoNan");
}
''')

OPTIMIZER = Addition(
    what="optimizer",
    op="ApplyAddSign",
    edits=[
        Edit("estimator/op_def/update_formulas.h",
             "// accum'        = accum * rho + grad^2 * (1 - rho)\n",
             '''// m'   = m * beta + grad * (1 - beta)
// var' = var - lr * (alpha + sign_decay * sign(grad) * sign(m')) * grad
struct ApplyAddSign {
  static constexpr UpdateDef kDef = {
      .op = "ApplyAddSign", .signature = "var m lr alpha sign_decay beta grad -> var m"};

  template <typename N>
  static std::array<N, 2> Next(const std::array<N, 7>& operands, auto /*flag*/) {
    const auto& [var, m, lr, alpha, sign_decay, beta, grad] = operands;
    const N next_m = m * beta + grad * (1 - beta);
    const N sign = Sign(grad) * Sign(next_m);
    return {var - lr * (alpha + sign_decay * sign) * grad, next_m};
  }
};

'''),
        Edit("estimator/op_def/update_formulas.h", "ApplyGradientDescent, ApplyMomentum,",
             "ApplyAddSign, "),
        Edit("estimator/nn/train/add_sign.h", None, '''\
// AddSign: a larger step where the signs of the gradient and of its moving average agree.
//   slot: `<variable>/AddSign` (m)
// Source: TF 1.15 tf.contrib.opt.AddSignOptimizer.
#ifndef ESTIMATOR_NN_TRAIN_ADD_SIGN_H_
#define ESTIMATOR_NN_TRAIN_ADD_SIGN_H_

#include <utility>

#include "estimator/nn/train/formula_optimizer.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_unary.h"

namespace estimator::train {

class AddSign : public FormulaOptimizer {
 public:
  explicit AddSign(Schedule learning_rate)
      : FormulaOptimizer("AddSign", std::move(learning_rate)) {}

 protected:
  Update UpdateOf(const Variable& variable) override {
    const auto number = [&](float value) { return Cast(Constant(value), variable.dtype()); };
    return {.op = "ApplyAddSign",
            .slots = {GetSlot(variable, "m", {.name = name()})},
            .numbers = {{"lr", Rate(variable)},
                        {"alpha", number(1.0f)},
                        {"sign_decay", number(0.5f)},
                        {"beta", number(0.9f)}}};
  }
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_ADD_SIGN_H_
'''),
        Edit("testdata/ops/networks.py", '        "ApplyFtrl": (3,',
             '        "ApplyAddSign": (2, [0.1, 1.0, 0.5, 0.9, "g"], [{}]),\n'),
    ],
    max_files=3,
    test='''
TEST(NewOptimizer, HasAReferenceKernelAndAFusedOne) {
  EXPECT_TRUE(HasKernel("ApplyAddSign", KernelTier::kReference));
  EXPECT_TRUE(HasKernel("ApplyAddSign", KernelTier::kFused));
}

TEST(NewOptimizer, EqualsTensorFlowsOp) {
  testing::ExpectAfterThreeSteps(train::AddSign(0.1), {%(steps)s}, {"w/AddSign"});
}
''')

TEST_BUILD = '''load("//tools/build:build_defs.bzl", "est_test")

est_test(
    name = "new_test",
    srcs = ["new_test.cc"],
    deps = [
        "//estimator/base/testing",
        "//estimator/graph",
        "//estimator/graph/testing",
        "//estimator/graphdef",
        "//estimator/kernels:kernel",
        "//estimator/kernels/testing",
        "//estimator/nn",
        "//estimator/nn/testing",
        "//estimator/ops",
        "//estimator/proto",
        "//estimator/runtime",
    ],
    link = ["//estimator/kernels:all_kernels"],
)
'''
TEST_BEGIN = '''#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/graphdef/graph_def.h"
#include "estimator/graphdef/import_graph_def.h"
#include "estimator/kernels/kernel.h"
#include "estimator/nn/testing/three_steps.h"
#if __has_include("estimator/nn/train/add_sign.h")
#include "estimator/nn/train/add_sign.h"
#endif
#include "estimator/ops/activations.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/proto/graph.pb.h"
#include "estimator/runtime/program.h"

namespace estimator {
namespace {
'''
TEST_END = '''
}  // namespace
}  // namespace estimator
'''


def three_steps_of_add_sign():
    """w after three steps of TensorFlow's op from nn/testing/three_steps.h, as text."""
    import numpy as np
    import tensorflow as tf
    w, m = tf.Variable(np.float32([1, -2, 3])), tf.Variable(np.zeros(3, np.float32))
    slope = np.float32([.5, -1, 2])
    for _ in range(3):
        tf.raw_ops.ResourceApplyAddSign(var=w.handle, m=m.handle, lr=0.1, alpha=1.0,
                                        sign_decay=0.5, beta=0.9, grad=2 * slope * w)
    return ", ".join(repr(float(x)) for x in w.numpy())


def copy_tree(to):
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                           cwd=ROOT, check=True, capture_output=True).stdout.decode().split("\0")
    for name in filter(None, names):
        source, target = os.path.join(ROOT, name), os.path.join(to, name)
        if not os.path.isfile(source):
            continue  # deleted, and not committed yet
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(source, target)


def apply(edits, tree):
    """Edits the copy and returns the edited files."""
    for edit in edits:
        path = os.path.join(tree, edit.file)
        content = ""
        if edit.before is not None:
            with open(path) as file:
                content = file.read()
            assert content.count(edit.before) == 1, f"{edit.file}: not once: {edit.before!r}"
            content = content.replace(edit.before, edit.text + edit.before)
        with open(path, "w") as file:
            file.write(content or edit.text)
    return sorted({edit.file for edit in edits})


def check(addition, tree):
    """Adds to the copy. Returns an error, or None."""
    files = apply(addition.edits, tree)
    print(f"a new {addition.what}: {len(files)} files edited: {', '.join(files)}")
    if len(files) > addition.max_files:
        return f"FAILED: a new {addition.what} may touch {addition.max_files} files"
    test = addition.test
    if addition is OPTIMIZER:
        test = test % {"steps": three_steps_of_add_sign()}
    os.makedirs(os.path.join(tree, "new_code"), exist_ok=True)
    for name, text in {"BUILD": TEST_BUILD, "new_test.cc": TEST_BEGIN + test + TEST_END}.items():
        with open(os.path.join(tree, "new_code", name), "w") as file:
            file.write(text)

    def run(*command):
        subprocess.run(command, cwd=tree, check=True)

    try:
        run(sys.executable, "testdata/ops/generate.py")
        run("bazel", "test", "//new_code:new_test", "//estimator/op_def/...",
            "//tpu:stablehlo_ops_test", "//estimator/kernels:kernels_test")
        run("bazel", "test", "//estimator/ops:golden_test",
            f"--test_filter=*{addition.op}*:*OfTheRegistry*")
        run("bazel", "build", "//tools/interop:stablehlo_ops_tool")
        run(sys.executable, "testdata/interop/check_stablehlo_ops.py",
            "bazel-bin/tools/interop/stablehlo_ops_tool", "--ops", addition.op)
    except subprocess.CalledProcessError as error:
        return f"FAILED: a new {addition.what}: {error}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")  # built, so that the copy finds some objects in the disk cache
    parser.add_argument("--keep", help="the folder of the copy, which is kept")
    args = parser.parse_args()
    top = args.keep or tempfile.mkdtemp(prefix="additions_")
    try:
        # One copy for both: Bazel compiles again only what includes an edited header.
        copy_tree(top)
        errors = [check(addition, top) for addition in (OPTIMIZER, OP)]
    finally:
        subprocess.run(["bazel", "shutdown"], cwd=top, check=False)
        if not args.keep:
            shutil.rmtree(top, ignore_errors=True)
    if any(errors):
        return "\n".join(filter(None, errors))
    print("a new op is one row, one formula, one gradient and one table of goldens; "
          "a new optimizer is one formula, one class and one row of goldens")
    return 0


if __name__ == "__main__":
    sys.exit(main())
