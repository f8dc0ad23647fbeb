// What the trips of a loop cost: no allocation, and an end if there are too many.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <new>

#include "estimator/base/interrupt.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/branches.h"
#include "estimator/ops/building/loop.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/tensor_array.h"
#include "estimator/ops/while_loop.h"
#include "estimator/runtime/control_flow/non_finite_watch.h"
#include "estimator/runtime/control_flow/step_time.h"
#include "estimator/runtime/cpu_backend.h"
#include "gmock/gmock.h"

namespace {
std::atomic<int64_t> num_allocations{0};
}  // namespace

// Not inlined: GCC would take the pair of them for a mismatch.
__attribute__((noinline)) void* operator new(size_t size) {
  ++num_allocations;
  if (void* p = std::malloc(size)) return p;
  throw std::bad_alloc();
}
__attribute__((noinline)) void operator delete(void* p) noexcept { std::free(p); }
__attribute__((noinline)) void operator delete(void* p, size_t) noexcept { std::free(p); }

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class LoopCostTest : public GraphTest {
 protected:
  std::unique_ptr<Executable> Compile(const Tensors& fetches, const CompileOptions& options = {}) {
    const auto backend = MakeCpuBackend(store_, options);
    auto executable =
        backend->Compile(graph_, {.feeds = {trips_}, .fetches = fetches, .updates = {}});
    EST_EXPECT_OK(executable);
    return *std::move(executable);
  }
  absl::Status Step(Executable& executable, int trips) {
    return executable.RunLoop(1, SameFeeds({{Array::Scalar<int32_t>(trips)}}), nullptr).status();
  }

  VariableStore store_;
  const Tensor trips_ =
      graph_.AddOp("Placeholder", {}, {{"dtype", DType::kInt32}, {"shape", Shape{}}}, "trips");
};

TEST_F(LoopCostTest, ATripAllocatesNothing) {
  const Tensor w = Constant(Array(DType::kFloat32, {16, 16}));
  const Tensors last =
      WhileLoop([&](const Tensors& v) { return Less(v[0], trips_); },
                [&](const Tensors& v) {
                  const Tensor h = Cond(
                      Equal(FloorMod(v[0], 2), 0), [&] { return Tanh(MatMul(v[1], w)); },
                      [&] { return Multiply(v[1], 0.5f); });
                  const TensorArray rows(v[2]);
                  return Tensors{Add(v[0], 1), h, rows.Write(FloorMod(v[0], 4), h)};
                },
                {Constant(0), Constant(Array(DType::kFloat32, {2, 16})),
                 TensorArray({DType::kFloat32, {2, 16}}, 4)});
  // oneDNN allocates.
  const auto executable = Compile(last, {.fastest = KernelTier::kFused});
  EST_ASSERT_OK(Step(*executable, 2));
  const auto allocations = [&](int trips) {
    const StepFeeds feeds = {{Array::Scalar<int32_t>(trips)}};
    const Infeed infeed = SameFeeds(feeds);
    const int64_t before = num_allocations;
    EST_EXPECT_OK(executable->RunLoop(1, infeed, nullptr));
    return num_allocations - before;
  };
  EXPECT_EQ(allocations(2), allocations(500));
}

// A loop without end.
Tensors Endless() {
  return WhileLoop([](const Tensors& v) { return GreaterEqual(v[0], 0); },
                   [](const Tensors& v) { return Tensors{FloorMod(Add(v[0], 1), 1000)}; },
                   {Constant(0)}, {.name = "search"});
}

TEST_F(LoopCostTest, ALoopWithoutEndIsEndedByTheTimeoutOfTheStep) {
  const auto executable = Compile(Endless(), {.step_timeout_secs = 0.05});
  const absl::Status status = Step(*executable, 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(status.ToString(),
              AllOf(HasSubstr("search: trip "),
                    HasSubstr("the step runs longer than RunConfig.step_timeout_secs")));
}

TEST_F(LoopCostTest, ALoopWithoutEndIsEndedByAStopRequest) {
  const auto executable = Compile(Endless());
  SetStopGraceForTest(0.05);
  RequestInterruptForTest();
  const absl::Status status = Step(*executable, 0);
  ClearInterrupt();
  SetStopGraceForTest(5);
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(status.ToString(),
              AllOf(HasSubstr("search: trip "), HasSubstr("a stop was requested")));
}

using LoopCostDeathTest = LoopCostTest;

// The gradient of the loop needs the values of each trip, and the loop does not end.
TEST_F(LoopCostDeathTest, AListWithoutEndIsRefusedWhenTheMemoryIsUsedUp) {
#if defined(__SANITIZE_ADDRESS__) || defined(EST_SANITIZE_THREAD)
  GTEST_SKIP() << "sanitizers need all of the address space";
#endif
  // The child begins as a new process, which has not started threads.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [&] {
    const Tensor x = Fill({1 << 18}, Constant(0.5f));
    const Tensor y = WhileLoop([](const Tensors& v) { return GreaterEqual(v[0], 0); },
                               [&](const Tensors& v) {
                                 return Tensors{FloorMod(Add(v[0], 1), 1000), Multiply(v[1], x)};
                               },
                               {Constant(0), x}, {.name = "search"})[1];
    const auto executable = Compile(Gradients({y}, {x}));
    int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const auto most = static_cast<rlim_t>(pages * ::sysconf(_SC_PAGESIZE) + (int64_t{256} << 20));
    const rlimit limit = {.rlim_cur = most, .rlim_max = most};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
    const absl::Status status = Step(*executable, 0);
    std::cerr << status.ToString() << std::endl;
    _exit(status.code() == absl::StatusCode::kResourceExhausted ? 0 : 1);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0),
              "search: trip .*: out of memory: a list of .* elements needs .* of a limit of .* on "
              "its address space .* are free; give the loop a smaller number of trips");
}

TEST_F(LoopCostTest, OnlyALoopReadsAListWithoutEnd) {
  const Tensors stacked = AddLoop({.name = "gather_all",
                                   .cond = [&](const Tensors& v) { return Less(v[0], trips_); },
                                   .body =
                                       [](const Tensors& v, const Tensors&) {
                                         return Tensors{Add(v[0], 1), v[0]};
                                       },
                                   .carried = {Constant(0)}});
  ASSERT_EQ(stacked.size(), 2u);
  const auto backend = MakeCpuBackend(store_, {});
  const auto executable =
      backend->Compile(graph_, {.feeds = {trips_}, .fetches = {stacked[1]}, .updates = {}});
  EXPECT_THAT(executable.status().ToString(),
              HasSubstr("gather_all: its number of trips is not known, so only another loop"));
}

TEST_F(LoopCostTest, AWatchFindsTheOpOfABodyThatGivesNaN) {
  const Tensors last = WhileLoop([&](const Tensors& v) { return Less(v[0], trips_); },
                                 [](const Tensors& v) {
                                   return Tensors{Add(v[0], 1), Subtract(Log(v[1]), 0.5f)};
                                 },
                                 {Constant(0), Constant({1.f, 8.f})}, {.name = "decode"});
  const auto executable = Compile(last, {.disable_passes = OptionalPasses()});
  const NonFiniteWatch watch;
  EST_ASSERT_OK(Step(*executable, 1));
  EXPECT_EQ(watch.FirstInside("decode"), std::nullopt);
  EST_ASSERT_OK(Step(*executable, 4));  // the first element: 1, -0.5, NaN
  EXPECT_EQ(watch.FirstInside("decode"), "decode/Log (f32 [2]) is NaN at trip 1");
  EXPECT_EQ(watch.FirstInside("deco"), std::nullopt);
}

}  // namespace
}  // namespace estimator
