// _MaxPoolWithArgmax and _MaxPoolGradWithArgmax, which the runtime makes of a max pool and its
// gradient (runtime/passes/fusion/fuse.h), against TensorFlow's MaxPool, MaxPoolGrad and ReluGrad:
// the same goldens as those of the ops, ties included.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/testing/attrs.h"
#include "estimator/ops/testing/golden_runner.h"
#include "estimator/ops/testing/golden_table.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::GoldenCase;

// A max pool that TensorFlow ran: of x, what it gave, and the gradient dx that came of dy.
struct GoldenPool {
  Attrs attrs;
  Array x, y, dy, dx;
  bool relu = false;  // x is a Relu's, and dx what flows into it
};

Array Relu(const Array& x) {
  Array y = x.Clone();
  for (float& value : y.values<float>()) value = std::max(value, 0.0f);
  return y;
}

// False for cases of other ops and dtypes.
bool PoolOf(const GoldenCase& golden, GoldenPool* pool) {
  if (golden.inputs.empty() || golden.inputs[0].dtype() != DType::kFloat32) return false;
  *pool = {.attrs = golden.attrs, .x = golden.inputs[0], .y = {}, .dy = {}, .dx = {}};
  if (golden.op == "MaxPoolGrad") {
    pool->y = golden.inputs[1];
    pool->dy = golden.inputs[2];
    pool->dx = golden.outputs.at(0);
    return true;
  }
  pool->relu = golden.op == "fn.MaxPoolOfRelu" || golden.op == "fn.OverlappingMaxPoolOfRelu";
  if (golden.op != "MaxPool" && !pool->relu) return false;
  if (pool->relu) {
    pool->attrs = golden.op == "fn.MaxPoolOfRelu" ? PoolWindow(2, 2, "VALID") : PoolWindow(3);
    pool->x = Relu(golden.inputs[0]);
  }
  pool->y = golden.outputs.at(0);
  pool->dy = golden.grad_ys.at(0);
  pool->dx = golden.grads.at(0);
  return true;
}

TensorSpec SpecOf(const Array& array) { return {array.dtype(), array.shape()}; }

void ExpectTensorFlows(const GoldenPool& pool, KernelTier tier) {
  const auto forward = RunKernel({.op = "_MaxPoolWithArgmax",
                                  .attrs = pool.attrs,
                                  .inputs = {SpecOf(pool.x)},
                                  .outputs = {SpecOf(pool.y), {DType::kUint8, pool.y.shape()}}},
                                 {pool.x}, tier);
  EST_ASSERT_OK(forward);
  EXPECT_TRUE(SameBits((*forward)[0], pool.y)) << Compare((*forward)[0], pool.y).report;
  KernelSpec backward{.op = "_MaxPoolGradWithArgmax",
                      .attrs = pool.attrs,
                      .inputs = {{DType::kUint8, pool.y.shape()}, SpecOf(pool.dy)},
                      .outputs = {SpecOf(pool.x)}};
  backward.attrs.Set("input_shape", pool.x.shape().dims());
  std::vector<Array> operands = {(*forward)[1], pool.dy};
  if (pool.relu) {
    backward.inputs.push_back(SpecOf(pool.y));
    operands.push_back((*forward)[0]);
  }
  const auto dx = RunKernel(backward, operands, tier);
  EST_ASSERT_OK(dx);
  const Difference difference =
      Compare((*dx)[0], pool.dx, testing::GoldenTolerance("sum", pool.dx));
  EXPECT_TRUE(difference.equal) << difference.report;
}

TEST(GoldenPools, TheArgmaxPairGivesTensorFlowsGradients) {
  std::set<std::string> seen;
  for (const GoldenCase& golden : testing::Goldens()) {
    GoldenPool pool;
    if (!PoolOf(golden, &pool)) continue;
    seen.insert(golden.op + " " + golden.name);
    for (const KernelTier tier : {KernelTier::kReference, KernelTier::kFused}) {
      SCOPED_TRACE(golden.op + " " + golden.name +
                   (tier == KernelTier::kReference ? ", reference" : ", fused"));
      ExpectTensorFlows(pool, tier);
    }
  }
  for (const char* name :
       {"MaxPool ties", "MaxPool ties_overlap", "MaxPool ties_vectors", "MaxPoolGrad ties",
        "MaxPoolGrad ties_overlap", "MaxPoolGrad ties_vectors", "MaxPoolGrad ties_stride_1",
        "fn.MaxPoolOfRelu vectors_ties", "fn.OverlappingMaxPoolOfRelu odd_ties"}) {
    EXPECT_EQ(seen.count(name), 1u) << "testdata/ops has no " << name;
  }
}

}  // namespace
}  // namespace estimator
