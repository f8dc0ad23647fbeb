// What a long run costs: no allocation in a step, no leak over compilations, quick compilation.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "estimator/base/testing/child_memory.h"
#include "estimator/base/testing/memory.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/evaluate.h"
#include "estimator/runtime/initialize_variables.h"
#include "estimator/runtime/testing/testing_ops.h"

namespace {
std::atomic<int64_t> num_allocations{0};
}  // namespace

// Not inlined: GCC would take the pair of them for a mismatch.
__attribute__((noinline)) void* operator new(size_t size) {
  ++num_allocations;
  if (void* p = std::malloc(size)) return p;
  throw std::bad_alloc();
}
// Asan has its own where there is none: what it gives must not meet our delete.
__attribute__((noinline)) void* operator new(size_t size, const std::nothrow_t&) noexcept {
  ++num_allocations;
  return std::malloc(size);
}
__attribute__((noinline)) void operator delete(void* p) noexcept { std::free(p); }
__attribute__((noinline)) void operator delete(void* p, size_t) noexcept { std::free(p); }

namespace estimator {
namespace {

using testing::Add;
using testing::Mul;
using testing::Sub;

// A chain of `depth` products and sums with a variable that learns.
struct Model {
  Graph graph;
  GraphScope scope{graph};
  Tensor x = testing::Placeholder({8, 8});
  Variable w = testing::MakeVariable("w", Array(DType::kFloat32, {8, 8}));
  Tensor y;
  Operation train;

  explicit Model(int depth) {
    y = x;
    for (int i = 0; i < depth; ++i) y = i % 2 == 0 ? testing::MatMul(y, w) : Add(Mul(y, x), w);
    train = Assign(w, Sub(w, Mul(y, testing::Const(Array::Scalar(1e-3f)))));
  }
  ProgramSpec spec() const { return {.feeds = {x}, .fetches = {y, w}, .updates = {train}}; }
};

TEST(SteadyState, AStepAllocatesNothing) {
  const Model model(20);
  VariableStore store;
  EST_ASSERT_OK(InitializeVariables(model.graph, store));
  const auto program = Program::Compile(model.graph, model.spec());
  EST_ASSERT_OK(program);
  const auto run = ProgramRun::Create(*program, store, 0, 1);
  EST_ASSERT_OK(run);
  const std::vector<Array> feeds = {Array(DType::kFloat32, {8, 8})};
  const auto step = [&] {
    if (!(*run)->SetFeeds(feeds).ok() || !(*run)->RunSegment(0, 0).ok() ||
        !(*run)->ApplyUpdates().ok())
      std::abort();
  };
  step();
  const int64_t before = num_allocations;
  for (int i = 0; i < 100; ++i) step();
  EXPECT_EQ(num_allocations - before, 0);
}

TEST(SteadyState, AThousandRoundsOfCompilingAndRunningLeakNothing) {
  int64_t after_warm_up = 0;
  VariableStore store;
  for (int round = 0; round < 1000; ++round) {
    const Model model(10);
    EST_ASSERT_OK(InitializeVariables(model.graph, store));
    const std::unique_ptr<Backend> backend = MakeCpuBackend(store);
    EST_ASSERT_OK(RunOnce(*backend, model.graph, model.spec(), {Array(DType::kFloat32, {8, 8})}));
    if (round == 199) after_warm_up = ResidentBytes();
  }
  testing::ExpectGrowthBelow(ResidentBytes() - after_warm_up, 1 << 20);  // 1.3 KiB a round
}

TEST(SteadyState, AHundredNodesCompileInFiftyMilliseconds) {
  const Model model(75);
  ASSERT_GE(model.graph.nodes().size(), 100u);
  const std::clock_t begin = std::clock();  // processor time: a busy machine does not count
  EST_ASSERT_OK(Program::Compile(model.graph, model.spec()));
  const double milliseconds = 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  RecordProperty("compile_us", static_cast<int>(milliseconds * 1e3));
  EXPECT_LT(milliseconds, 50);
}

}  // namespace
}  // namespace estimator
