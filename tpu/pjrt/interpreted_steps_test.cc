// Steps as StableHLO have the numbers of replicas in this process: a plugin whose programs are run
// by the interpreter (stablehlo/testing), beside the CPU's backend.
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/nn/train/gradient_descent.h"
#include "estimator/nn/train/rate_by_name.h"
#include "estimator/nn/train/settable_rate.h"
#include "estimator/ops/ops.h"
#include "estimator/ops/optimizer_ops.h"
#include "estimator/runtime/cpu_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/pjrt/pjrt_backend.h"
#include "tpu/pjrt/testing/fake_plugin.h"
#include "tpu/stablehlo/testing/interpreter.h"
#include "tpu/stablehlo/testing/module.h"

namespace estimator::tpu::pjrt {
namespace {

using ::testing::ElementsAre;

absl::StatusOr<FakePlugin::Program> Interpreted(absl::string_view stablehlo) {
  const stablehlo::testing::Block main = stablehlo::testing::ParseModule(stablehlo);
  return FakePlugin::Program{main.ops.back().operands.size(),
                             [text = std::string(stablehlo)](const auto& arguments) {
                               return stablehlo::testing::Interpret(text, arguments);
                             }};
}

// What a run of some steps shows.
struct Outcome {
  absl::Status status;
  std::vector<std::vector<std::vector<Array>>> fetches;  // [step][replica][fetch]
  std::vector<Array> variables;
};

class InterpretedStepsTest : public GraphTest {
 protected:
  Variable Vector(const char* name, std::initializer_list<float> values) {
    const Array value = Array::Of<float>({static_cast<int64_t>(values.size())}, values);
    return Known(name, value);
  }
  Variable Known(const char* name, const Array& value) {
    initial_.emplace_back(name, value);
    return GetVariable(name, value.shape(),
                       {.dtype = value.dtype(), .initializer = [](const Shape& shape, DType dtype) {
                          return Constant(Array(dtype, shape));
                        }});
  }

  // Runs `steps` steps; the plugin runs two in each execution. Feed i of a step is
  // feed(step, replica).
  Outcome Steps(bool interpreted, int num_replicas, const ProgramSpec& spec, int64_t steps,
                const std::function<std::vector<Array>(int step, int replica)>& feed,
                PjrtBackendOptions options = {}) {
    Outcome run;
    std::optional<FakePlugin> plugin;
    VariableStore store;
    for (const auto& [name, value] : initial_) EST_EXPECT_OK(store.Set(name, value.Clone()));
    std::unique_ptr<Backend> backend;
    if (interpreted) {
      plugin.emplace(num_replicas);
      plugin->compiler = Interpreted;
      options.num_replicas = num_replicas;
      options.iterations = 2;
      backend = MakePjrtBackend(
          [&]() -> absl::StatusOr<std::shared_ptr<Client>> { return plugin->NewClient(); }, store,
          options);
    } else {
      backend = MakeCpuBackend(store, {}, nullptr, num_replicas);
    }
    const auto executable = backend->Compile(graph_, spec);
    EST_EXPECT_OK(executable);
    if (!executable.ok()) return run;
    int step = 0;
    const Infeed infeed = [&]() -> absl::StatusOr<std::optional<StepFeeds>> {
      StepFeeds feeds;
      for (int replica = 0; replica < num_replicas; ++replica) feeds.push_back(feed(step, replica));
      ++step;
      return feeds;
    };
    run.status = (*executable)
                     ->RunLoop(steps, infeed,
                               [&run](int64_t, const StepFetches& fetches) {
                                 run.fetches.emplace_back(fetches);
                                 for (std::vector<Array>& of_replica : run.fetches.back())
                                   for (Array& value : of_replica) value = value.Clone();
                                 return absl::OkStatus();
                               })
                     .status();
    for (const auto& [name, value] : initial_) {
      const auto now = store.Get(name);
      EST_EXPECT_OK(now);
      run.variables.push_back(now.ok() ? now->Clone() : Array());
    }
    return run;
  }

  // Five steps: the plugin's part of two, of two and of one.
  void ExpectStepsOfTheCpu(int num_replicas, const ProgramSpec& spec,
                           const std::function<std::vector<Array>(int, int)>& feed,
                           double tolerance = 1e-6) {
    const Outcome cpu = Steps(false, num_replicas, spec, 5, feed);
    const Outcome device = Steps(true, num_replicas, spec, 5, feed);
    EST_ASSERT_OK(cpu.status);
    EST_ASSERT_OK(device.status);
    ASSERT_EQ(device.fetches.size(), 5u);
    const auto expect_equal = [&](const Array& actual, const Array& expected,
                                  const std::string& what) {
      EXPECT_EQ(Compare(actual, expected, {.relative = tolerance, .absolute = tolerance}).report,
                "")
          << what;
    };
    for (size_t step = 0; step < 5; ++step) {
      for (size_t r = 0; r < static_cast<size_t>(num_replicas); ++r) {
        for (size_t f = 0; f < spec.fetches.size(); ++f) {
          expect_equal(device.fetches[step][r][f], cpu.fetches[step][r][f],
                       absl::StrCat("step ", step, " replica ", r, " fetch ", f));
        }
      }
    }
    for (size_t v = 0; v < initial_.size(); ++v)
      expect_equal(device.variables[v], cpu.variables[v], initial_[v].first);
  }

  std::vector<std::pair<std::string, Array>> initial_;
};

// A replica's rows of a step: numbers that differ in all of them.
std::vector<Array> Rows(int step, int replica) {
  Array x(DType::kFloat32, {2, 3});
  for (int64_t i = 0; i < 6; ++i) {
    x.data<float>()[i] =
        static_cast<float>(std::sin(1 + 7 * step + 3 * replica) + 0.3 * std::cos(double(i + step)));
  }
  return {x};
}

// A layer with batch normalization's kind of moving average, momentum, and a global step.
TEST_F(InterpretedStepsTest, TrainingHasTheNumbersOfReplicasInThisProcess) {
  const Tensor x = Placeholder(DType::kFloat32, {2, 3}, "x");
  const Variable w = Known("w", Array::Of<float>({3, 2}, {.1f, -.2f, .3f, .4f, -.5f, .6f}));
  const Variable accum = Known("accum", Array(DType::kFloat32, {3, 2}));
  const Variable mean = Vector("mean", {.5f, .5f, .5f});
  const Variable step = Known("global_step", Array::Scalar<int64_t>(7));
  const Tensor y = Tanh(MatMul(x, w));
  const Tensor loss = ReduceMean(y * y + y);
  const Tensor gradient = CrossReplicaSum(Gradients(loss, std::vector<Variable>{w})[0]);
  const auto updates = ApplyUpdate(*FindUpdateOp("ApplyMomentum"),
                                   {w, accum, Constant(.1f), gradient, Constant(.9f)}, true);
  const Operation train = Group({Assign(w, updates[0]), Assign(accum, updates[1]),
                                 Assign(mean, Tensor(mean) * .9f + ReduceMean(x, {0}) * .1f),
                                 AssignAdd(step, Constant(int64_t{1}))});
  for (const int replicas : {1, 4}) {
    ExpectStepsOfTheCpu(replicas, {.feeds = {x}, .fetches = {loss, y}, .updates = {train}}, Rows);
  }
}

// The rate that a hook sets is a variable of the step, and so is lowered with it.
TEST_F(InterpretedStepsTest, ALearningRateThatIsSetIsThatOfTheStep) {
  const Tensor x = Placeholder(DType::kFloat32, {2, 3}, "x");
  const Variable w = Vector("w", {1, 10, 100}), v = Vector("v", {1, 2, 3});
  Known("global_step", Array::Scalar<int64_t>(0));
  const Tensor loss = ReduceMean(x * (Tensor(w) + Tensor(v)));
  const Operation train =
      train::GradientDescent(train::RateByName({{"w", 0.5}, {"v", 0.25}})).Minimize(loss);
  EST_ASSERT_OK(train::MakeLearningRateSettable(graph_));
  const ProgramSpec spec = {.feeds = {x}, .fetches = {loss}, .updates = {train}};
  std::vector<double> moved;
  for (const float rate : {-1.0f, 0.125f}) {
    if (moved.empty()) initial_.emplace_back("set_learning_rate", Array());
    initial_.back().second = Array::Scalar(rate);
    ExpectStepsOfTheCpu(1, spec, Rows);
    const Outcome run = Steps(true, 1, spec, 5, Rows);
    moved.push_back(run.variables[0].data<float>()[0] - 1.0);
  }
  EXPECT_NEAR(moved[1], moved[0] / 4, 1e-6);
}

// With a global step, and with the first step that the host counts.
TEST_F(InterpretedStepsTest, EachReplicaDrawsItsOwnNumbersInEachStep) {
  const Tensor x = Placeholder(DType::kFloat32, {2, 3}, "x");
  const std::vector<Tensor> draws = {
      RandomUniform({5}, {.seed = 3}), RandomUniformInt({3}, -5, 100, {.seed = 4}),
      TruncatedNormal({6}, {.seed = 5}), RandomShuffle(x, 6), Dropout(x, {.rate = .4, .seed = 7})};
  ExpectStepsOfTheCpu(3, {.feeds = {x}, .fetches = draws, .updates = {}}, Rows);
  const Variable step = Known("global_step", Array::Scalar<int64_t>(1000));
  const Operation count = AssignAdd(step, Constant(int64_t{1}));
  ExpectStepsOfTheCpu(3, {.feeds = {x}, .fetches = draws, .updates = {count}}, Rows);
}

TEST_F(InterpretedStepsTest, SumsOverGroupsStayInTheGroup) {
  const Tensor x = Placeholder(DType::kFloat32, {2, 3}, "x");
  const Variable total = Vector("total", {1, 2, 3});
  const Tensor sum = CrossReplicaSum(x, {{0, 2}, {1, 3}});
  const Tensor half = Cast(CrossReplicaSum(Cast(x, DType::kBfloat16)), DType::kFloat32);
  // What a group sums differs from that of the other group: the variable takes replica 0's.
  const Operation update = Assign(total, Tensor(total) + ReduceSum(sum, {0}));
  ExpectStepsOfTheCpu(
      4, {.feeds = {x}, .fetches = {sum, half, ReplicaId(), x + 1.0f}, .updates = {update}}, Rows);
}

// The variables are those before the step on every replica, and no later step runs.
TEST_F(InterpretedStepsTest, ALossThatIsNotFiniteStopsBeforeTheUpdate) {
  const Tensor x = Placeholder(DType::kFloat32, {2, 3}, "x");
  const Variable w = Vector("w", {1, 10, 100});
  const Tensor loss = ReduceSum(x * Tensor(w));
  const Operation update = Assign(w, Tensor(w) + CrossReplicaSum(ReduceSum(x, {0})));
  const Outcome run = Steps(
      true, 2, {.feeds = {x}, .fetches = {loss}, .updates = {update}}, 5,
      [](int step, int replica) {
        const float value = step == 3 && replica == 1 ? std::numeric_limits<float>::infinity() : 1;
        return std::vector<Array>{Array::Of<float>({2, 3}, {value, 0, 0, 0, 0, 1})};
      },
      {.guard_loss = true});
  EXPECT_TRUE(absl::IsAborted(run.status)) << run.status;
  ASSERT_EQ(run.fetches.size(), 4u);
  // Three steps have added the sum of two replicas.
  EXPECT_THAT(run.variables[0].values<float>(), ElementsAre(7, 10, 106));
  EXPECT_EQ(run.fetches[2][0][0].scalar<float>(), 5 + 104);
  EXPECT_EQ(run.fetches[3][0][0].scalar<float>(), 7 + 106);
  EXPECT_FALSE(std::isfinite(run.fetches[3][1][0].scalar<float>()));
}

// 1 + 2^-9 is 1 in bfloat16; the sum of three products has 24 bits again.
TEST_F(InterpretedStepsTest, ProductsOfBfloat16RoundTheirOperandsOnly) {
  const Tensor x = Placeholder(DType::kFloat32, {2, 3}, "x");
  const Variable w = Known("w", Array::Of<float>({3, 1}, {1, 1, 1 + 0x1p-9f}));
  const Tensor product = MatMul(x, w);
  const auto feed = [](int, int) {
    return std::vector<Array>{Array::Of<float>({2, 3}, {1, 0x1p-20f, 0, 0, 0, 3})};
  };
  const ProgramSpec spec = {.feeds = {x}, .fetches = {product}, .updates = {}};
  const Outcome rounded = Steps(true, 1, spec, 1, feed, {.compute_dtype = DType::kBfloat16});
  EST_ASSERT_OK(rounded.status);
  EXPECT_THAT(rounded.fetches[0][0][0].values<float>(), ElementsAre(1 + 0x1p-20f, 3));
  const Outcome exact = Steps(true, 1, spec, 1, feed);
  EST_ASSERT_OK(exact.status);
  EXPECT_THAT(exact.fetches[0][0][0].values<float>(), ElementsAre(1 + 0x1p-20f, 3 + 3 * 0x1p-9f));
}

}  // namespace
}  // namespace estimator::tpu::pjrt
