#include "models/common/benchmark_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/ops.h"
#include "estimator/runtime/backend.h"
#include "estimator/runtime/variable_store.h"

namespace estimator {
namespace {

// Next() of a list of times.
Clock Times(std::vector<double> times) {
  return [times = std::move(times), i = size_t{0}]() mutable { return times.at(i++); };
}

// A session with a product of 2 * 3 * 4 multiply-adds, on two replicas.
class FakeSession : public Session {
 public:
  FakeSession() {
    const GraphScope scope(graph_);
    (void)Relu(MatMul(Ones({2, 3}), Ones({3, 4})));
    info_.planned_peak_bytes = 3 << 20;
    info_.num_replicas = 2;
  }
  const Graph& graph() const override { return graph_; }
  VariableStore& variables() override { return variables_; }
  int64_t global_step() const override { return 0; }
  const std::string& model_dir() const override { return model_dir_; }
  int64_t steps_per_run() const override { return 1; }
  int64_t examples_per_step() const override { return 10; }
  absl::StatusOr<std::string> SaveCheckpoint() override {
    return absl::FailedPreconditionError("a fake session saves nothing");
  }
  int64_t restored_step() const override { return -1; }
  std::string FirstNonFiniteTensor() override { return ""; }
  const ExecutableInfo* program_info() const override { return &info_; }

 private:
  Graph graph_;
  VariableStore variables_;
  std::string model_dir_;
  ExecutableInfo info_;
};

// Returns whether the hook asked for a stop.
bool RunOnce(BenchmarkHook& hook, Session& session, int64_t num_steps) {
  RunContext context(session, 0);
  RunValues values;
  values.num_steps = num_steps;
  EST_EXPECT_OK(hook.AfterRun(context, values));
  return context.stop_requested();
}

double Number(const BenchmarkHook& hook, const std::string& name) {
  for (const auto& [field, value] : hook.Fields("images")) {
    if (field != name) continue;
    const auto* integer = std::get_if<int64_t>(&value);
    return integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value);
  }
  ADD_FAILURE() << "no field " << name;
  return 0;
}

TEST(BenchmarkHook, LeavesTheWarmUpOut) {
  FakeSession session;
  BenchmarkHook hook({.warmup_steps = 2, .steps = 5}, Times({10, 20, 21, 23}), Times({0.75}));
  EST_ASSERT_OK(hook.AfterCreateSession(session));
  EXPECT_FALSE(RunOnce(hook, session, 1));
  EXPECT_FALSE(RunOnce(hook, session, 1));
  EXPECT_TRUE(std::isnan(Number(hook, "images_per_second")));
  EXPECT_FALSE(RunOnce(hook, session, 4));
  EXPECT_TRUE(RunOnce(hook, session, 2));
  EXPECT_EQ(Number(hook, "measured_steps"), 6);
  EXPECT_EQ(Number(hook, "images_per_second"), 6 * 10 / 3.0);
  EXPECT_EQ(Number(hook, "first_step_seconds"), 0.75);
  EXPECT_EQ(Number(hook, "planned_mib"), 6);
  EXPECT_DOUBLE_EQ(Number(hook, "gflops"), 1e-9 * 2 * 2 * 3 * 4 * 2 * 6 / 3.0);
}

TEST(BenchmarkHook, StopsAfterTheSeconds) {
  FakeSession session;
  BenchmarkHook hook({.warmup_steps = 1, .steps = 1000, .seconds = 3}, Times({0, 2, 3}),
                     Times({0.5}));
  EST_ASSERT_OK(hook.AfterCreateSession(session));
  EXPECT_FALSE(RunOnce(hook, session, 1));
  EXPECT_FALSE(RunOnce(hook, session, 1));
  EXPECT_TRUE(RunOnce(hook, session, 1));
}

TEST(BenchmarkHook, MeasuresTheLastCallAndTheFirstStepOfTheFirst) {
  FakeSession session;
  BenchmarkHook hook({.warmup_steps = 1, .steps = 2}, Times({1, 50, 51, 52}), Times({0.25}));
  EST_ASSERT_OK(hook.AfterCreateSession(session));
  RunOnce(hook, session, 1);
  EST_ASSERT_OK(hook.AfterCreateSession(session));
  RunOnce(hook, session, 1);
  RunOnce(hook, session, 1);
  RunOnce(hook, session, 1);
  EXPECT_EQ(Number(hook, "first_step_seconds"), 0.25);
  EXPECT_EQ(Number(hook, "images_per_second"), 10);
}

}  // namespace
}  // namespace estimator
