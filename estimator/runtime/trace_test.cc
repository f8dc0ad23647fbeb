#include "estimator/runtime/trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/evaluate.h"
#include "estimator/runtime/initialize_variables.h"
#include "estimator/runtime/testing/testing_ops.h"

namespace estimator {
namespace {

using testing::F32;

class TraceTest : public GraphTest {
 protected:
  void RunStep() {
    const Tensor x = testing::Placeholder({2, 2});
    const Variable v = testing::MakeVariable("v", F32({2, 2}, {1, 1, 1, 1}));
    const Tensor product = testing::MatMul(x, v);
    EST_ASSERT_OK(InitializeVariables(graph_, store_));
    const auto backend = MakeCpuBackend(store_, {.disable_passes = OptionalPasses()});
    EST_ASSERT_OK(RunOnce(
        *backend, graph_,
        {.feeds = {x}, .fetches = {product}, .updates = {Assign(v, testing::Add(v, product))}},
        {F32({2, 2}, {1, 2, 3, 4})}));
  }

  VariableStore store_;
};

TEST_F(TraceTest, EveryInstructionOfAStepIsTimed) {
  const auto trace = std::make_shared<Trace>();
  SetThreadTrace(trace);
  RunStep();
  SetThreadTrace(nullptr);
  std::vector<std::string> ops;
  int64_t now = 0;
  for (const TraceEvent& event : trace->events) {
    ops.push_back(event.op);
    EXPECT_FALSE(event.name.empty());
    EXPECT_GE(event.start_us, now);
    EXPECT_GE(event.duration_us, 0);
    now = event.start_us + event.duration_us;
  }
  EXPECT_NE(std::find(ops.begin(), ops.end(), "MatMul"), ops.end());
  for (const TraceEvent& event : trace->events)
    EXPECT_TRUE(event.op != "MatMul" || event.reference);
}

TEST(OpTable, HasTheLargestTotalFirst) {
  Trace trace;
  trace.events = {{.name = "a", .op = "Pow", .duration_us = 100, .reference = true},
                  {.name = "a", .op = "MatMul", .duration_us = 250},
                  {.name = "a", .op = "Pow", .duration_us = 50, .reference = true},
                  {.name = "a", .op = "Pow", .duration_us = 100}};
  EXPECT_EQ(OpTable(trace, 2),
            "share  time a step  runs a step  kernel     op\n"
            " 50.0%     0.125 ms          0.5  fast       MatMul\n"
            " 30.0%     0.075 ms          1.0  reference  Pow\n"
            " 20.0%     0.050 ms          0.5  fast       Pow\n");
}

TEST_F(TraceTest, EndsWhenTheHolderLetsGo) {
  auto trace = std::make_shared<Trace>();
  SetThreadTrace(trace);
  EXPECT_EQ(ThreadTrace(), trace);
  trace.reset();
  EXPECT_EQ(ThreadTrace(), nullptr);
  RunStep();
}

}  // namespace
}  // namespace estimator
