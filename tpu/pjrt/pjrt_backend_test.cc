#include "tpu/pjrt/pjrt_backend.h"

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/pjrt/testing/fake_plugin.h"

namespace estimator::tpu::pjrt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Values = FakePlugin::Values;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr int kReplicas = 2;

Tensor Zeros(const Shape& shape, DType dtype) { return Constant(Array(dtype, shape)); }

// The model: x f32 [2] is a replica's batch, w f32 [2] the variable.
//   loss = sum(x * w);  w += the sum of x over all replicas
// The plugin runs RunTraining or RunEvaluation instead of the StableHLO of it.

float Loss(const Array& x, int64_t row, const float* w) {
  const float* const values = x.data<float>() + 2 * row;
  return values[0] * w[0] + values[1] * w[1];
}

// Arguments: w, stacked x, num_steps, first_step. Outputs: w, stacked losses, steps_done. A step
// with a loss that is not finite ends the loop before its update.
Values RunTraining(const Values& arguments) {
  const int32_t num_steps = arguments[0][2].scalar<int32_t>();
  const int64_t iterations = arguments[0][1].shape().dim(0);
  const size_t replicas = arguments.size();
  std::vector<float> w(arguments[0][0].data<float>(), arguments[0][0].data<float>() + 2);
  std::vector<Array> losses(replicas, Array(DType::kFloat32, {iterations}));
  for (Array& loss : losses) loss = Array(DType::kFloat32, {iterations});  // each its own bytes
  int32_t done = 0;
  for (bool finite = true; done < num_steps;) {
    for (size_t r = 0; r < replicas; ++r) {
      const float loss = Loss(arguments[r][1], done, w.data());
      losses[r].data<float>()[done] = loss;
      finite = finite && std::isfinite(loss);
    }
    if (!finite) break;
    for (const std::vector<Array>& of_replica : arguments) {
      for (int64_t i = 0; i < 2; ++i)
        w[static_cast<size_t>(i)] += of_replica[1].data<float>()[2 * done + i];
    }
    ++done;
  }
  Values outputs;
  for (size_t r = 0; r < replicas; ++r) {
    outputs.push_back(
        {Array::Of<float>({2}, {w[0], w[1]}), losses[r], Array::Scalar<int32_t>(done)});
  }
  return outputs;
}

// Arguments as in RunTraining. Outputs: stacked losses, steps_done.
Values RunEvaluation(const Values& arguments) {
  Values outputs;
  for (const std::vector<Array>& of_replica : arguments) {
    Array losses(DType::kFloat32, {of_replica[1].shape().dim(0)});
    const int32_t num_steps = of_replica[2].scalar<int32_t>();
    for (int32_t i = 0; i < num_steps; ++i)
      losses.data<float>()[i] = Loss(of_replica[1], i, of_replica[0].data<float>());
    outputs.push_back({losses, Array::Scalar<int32_t>(num_steps)});
  }
  return outputs;
}

class PjrtBackendTest : public GraphTest {
 protected:
  PjrtBackendTest() {
    x_ = Placeholder(DType::kFloat32, {2}, "x");
    const Variable w = GetVariable("w", {2}, {.initializer = Zeros});
    loss_ = ReduceSum(x_ * Tensor(w));
    update_ = Assign(w, Tensor(w) + CrossReplicaSum(x_));
    fake_.compiler = [this](absl::string_view) -> absl::StatusOr<FakePlugin::Program> {
      const auto record = [this](Values (*run)(const Values&)) {
        return [this, run](const Values& arguments) -> absl::StatusOr<Values> {
          arguments_.push_back(arguments);
          return run(arguments);
        };
      };
      if (compiles_training_) return FakePlugin::Program{3, record(RunTraining)};
      return FakePlugin::Program{2, record(RunEvaluation)};
    };
    EST_EXPECT_OK(store_.Set("w", Array::Of<float>({2}, {1, 10})));
  }

  std::unique_ptr<Backend> MakeBackend(int64_t iterations = 4, int64_t max_stacked_bytes = 1000) {
    const ClientSource source = [this]() -> absl::StatusOr<std::shared_ptr<Client>> {
      ++num_opened_;
      if (client_ == nullptr) client_ = fake_.NewClient();
      return client_;
    };
    return MakePjrtBackend(source, store_,
                           {.num_replicas = kReplicas,
                            .iterations = iterations,
                            .max_stacked_bytes = max_stacked_bytes,
                            .guard_loss = true});
  }
  absl::StatusOr<std::unique_ptr<Executable>> CompileTraining(Backend& backend) {
    compiles_training_ = true;
    return backend.Compile(graph_, {.feeds = {x_}, .fetches = {loss_}, .updates = {update_}});
  }
  absl::StatusOr<std::unique_ptr<Executable>> CompileEvaluation(Backend& backend) {
    compiles_training_ = false;
    return backend.Compile(graph_, {.feeds = {x_}, .fetches = {loss_}, .updates = {}});
  }

  // Step i of the input feeds {i, 0} to replica 0 and {0, 1} to replica 1. It ends after
  // `num_steps` steps, with `end` if that is an error. The step `nan_step` has a NaN for replica 1.
  Infeed Steps(int num_steps, absl::Status end = absl::OkStatus(), int nan_step = -1) {
    return [this, num_steps, end, nan_step]() -> absl::StatusOr<std::optional<StepFeeds>> {
      if (next_step_ == num_steps) {
        if (!end.ok()) return end;
        return std::optional<StepFeeds>();
      }
      const int step = next_step_++;
      const float second = step == nan_step ? kNan : 1.0f;
      return std::optional<StepFeeds>(
          StepFeeds{{Array::Of<float>({2}, {static_cast<float>(step), 0})},
                    {Array::Of<float>({2}, {0, second})}});
    };
  }
  // Records the steps and the losses of both replicas.
  Outfeed Record() {
    return [this](int64_t step, const StepFetches& fetches) {
      EXPECT_EQ(fetches.size(), static_cast<size_t>(kReplicas));
      steps_.push_back(step);
      for (size_t r = 0; r < fetches.size(); ++r)
        losses_[r].push_back(fetches[r].at(0).scalar<float>());
      return absl::OkStatus();
    };
  }
  static int64_t Ran(const absl::StatusOr<int64_t>& steps) {
    EST_EXPECT_OK(steps);
    return steps.value_or(-1);
  }
  std::vector<float> W() {
    const absl::StatusOr<Array> value = store_.Get("w");
    EST_EXPECT_OK(value);
    if (!value.ok()) return {};
    return {value->data<float>()[0], value->data<float>()[1]};
  }

  FakePlugin fake_{kReplicas};  // outlives the clients, which the store may keep
  std::shared_ptr<Client> client_;
  VariableStore store_;
  Tensor x_, loss_;
  Operation update_;
  bool compiles_training_ = true;
  int num_opened_ = 0;
  int next_step_ = 0;
  std::vector<Values> arguments_;  // of each execution
  std::vector<int64_t> steps_;
  std::vector<float> losses_[kReplicas];
};

TEST_F(PjrtBackendTest, VariablesStayOnTheDevicesUntilTheyAreRead) {
  const auto backend = MakeBackend();
  EXPECT_EQ(num_opened_, 0);  // no step, no device
  EXPECT_EQ(backend->name(), "2 replicas on a PJRT plugin's devices");
  EST_ASSERT_OK_AND_ASSIGN(const auto train, CompileTraining(*backend));
  EXPECT_EQ(backend->name(), "2 replicas on Fake v1 (fake)");

  EXPECT_EQ(Ran(train->RunLoop(4, Steps(100), Record())), 4);
  EXPECT_EQ(fake_.uploads, 8);    // on 2 devices: w, x, num_steps, first_step
  EXPECT_EQ(fake_.downloads, 3);  // the losses of 2 devices, steps_done
  EXPECT_EQ(Ran(train->RunLoop(4, Steps(100), Record())), 4);
  EXPECT_EQ(fake_.uploads, 14);  // w is there
  EXPECT_EQ(fake_.downloads, 6);
  EXPECT_EQ(fake_.executions, 2);

  EXPECT_THAT(W(), ElementsAre(1 + 28, 10 + 8));  // 0 + 1 + ... + 7, 8 ones
  EXPECT_EQ(fake_.downloads, 7);
  EXPECT_THAT(W(), ElementsAre(29, 18));
  EST_EXPECT_OK(store_.Download());
  EXPECT_EQ(fake_.downloads, 7);  // the store has it

  EST_ASSERT_OK(store_.Set("w", Array::Of<float>({2}, {0, 0})));  // as a restored checkpoint
  EST_ASSERT_OK(train->RunLoop(1, Steps(100), Record()));
  EXPECT_EQ(fake_.uploads, 22);
  EXPECT_THAT(W(), ElementsAre(8, 1));
}

TEST_F(PjrtBackendTest, BatchesAreStackedForEachReplica) {
  const auto backend = MakeBackend(/*iterations=*/3);
  EST_ASSERT_OK_AND_ASSIGN(const auto train, CompileTraining(*backend));
  EST_ASSERT_OK(train->RunLoop(3, Steps(100), Record()));
  ASSERT_EQ(arguments_.size(), 1u);
  EXPECT_EQ(arguments_[0][0][1].shape(), (Shape{3, 2}));
  EXPECT_THAT(arguments_[0][0][1].values<float>(), ElementsAre(0, 0, 1, 0, 2, 0));
  EXPECT_THAT(arguments_[0][1][1].values<float>(), ElementsAre(0, 1, 0, 1, 0, 1));
  EXPECT_THAT(steps_, ElementsAre(0, 1, 2));
  // w is (1, 10), (1, 11), (2, 12) before the steps.
  EXPECT_THAT(losses_[0], ElementsAre(0, 1, 4));
  EXPECT_THAT(losses_[1], ElementsAre(10, 11, 12));
}

TEST_F(PjrtBackendTest, ALongLoopRunsInParts) {
  const auto backend = MakeBackend(/*iterations=*/2);
  EST_ASSERT_OK_AND_ASSIGN(const auto train, CompileTraining(*backend));
  EXPECT_EQ(Ran(train->RunLoop(5, Steps(100), Record())), 5);
  ASSERT_EQ(arguments_.size(), 3u);
  const int32_t num_steps[] = {2, 2, 1};
  const int64_t first_steps[] = {0, 2, 4};
  for (size_t part = 0; part < 3; ++part) {
    for (const std::vector<Array>& of_replica : arguments_[part]) {
      EXPECT_EQ(of_replica[2].scalar<int32_t>(), num_steps[part]);
      EXPECT_EQ(of_replica[3].scalar<int64_t>(), first_steps[part]);
    }
  }
  EXPECT_THAT(steps_, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(W(), ElementsAre(11, 15));
}

// A tensor of a hook is stacked on the device too, and may be larger than the batch.
TEST_F(PjrtBackendTest, TheBytesOfBatchesAndFetchesLimitThePart) {
  // x has 8 bytes and the loss 4, so 30 bytes hold two steps.
  const auto backend = MakeBackend(/*iterations=*/50, /*max_stacked_bytes=*/30);
  EST_ASSERT_OK_AND_ASSIGN(const auto train, CompileTraining(*backend));
  EST_ASSERT_OK(train->RunLoop(4, Steps(100), Record()));
  ASSERT_EQ(arguments_.size(), 2u);
  EXPECT_EQ(arguments_[0][0][1].shape(), (Shape{2, 2}));
}

TEST_F(PjrtBackendTest, AnInputThatEndsRunsTheStepsThatItHas) {
  const auto backend = MakeBackend();
  EST_ASSERT_OK_AND_ASSIGN(const auto train, CompileTraining(*backend));
  EXPECT_EQ(Ran(train->RunLoop(8, Steps(6), Record())), 6);
  ASSERT_EQ(arguments_.size(), 2u);
  EXPECT_EQ(arguments_[1][0][2].scalar<int32_t>(), 2);
  EXPECT_THAT(steps_, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(Ran(train->RunLoop(8, Steps(6), Record())), 0);
  EXPECT_EQ(arguments_.size(), 2u);  // nothing ran
}

TEST_F(PjrtBackendTest, AnErrorOfTheInputRunsTheStepsBeforeIt) {
  const auto backend = MakeBackend();
  EST_ASSERT_OK_AND_ASSIGN(const auto train, CompileTraining(*backend));
  const absl::Status status =
      train->RunLoop(8, Steps(3, absl::DataLossError("damaged record")), Record()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(steps_, ElementsAre(0, 1, 2));
  EXPECT_THAT(W(), ElementsAre(4, 13));
}

TEST_F(PjrtBackendTest, ALossThatIsNotFiniteEndsTheLoopBeforeTheUpdate) {
  const auto backend = MakeBackend();
  EST_ASSERT_OK_AND_ASSIGN(const auto train, CompileTraining(*backend));
  const absl::Status status =
      train->RunLoop(4, Steps(100, absl::OkStatus(), /*nan_step=*/2), Record()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the loss of step 2 "));
  EXPECT_THAT(steps_, ElementsAre(0, 1, 2));  // the outfeed sees the bad step, and no later one
  EXPECT_TRUE(std::isnan(losses_[1][2]));
  EXPECT_EQ(losses_[0][2], 4);
  EXPECT_THAT(W(), ElementsAre(2, 12));  // after steps 0 and 1

  // The loop continues with the variables of before the bad step, and counts two steps.
  EST_ASSERT_OK(train->RunLoop(1, Steps(100), Record()));
  EXPECT_EQ(arguments_[1][0][3].scalar<int64_t>(), 2);
  EXPECT_THAT(W(), ElementsAre(6, 13));
}

TEST_F(PjrtBackendTest, AnErrorOfTheOutfeedEndsTheLoop) {
  const auto backend = MakeBackend(/*iterations=*/2);
  EST_ASSERT_OK_AND_ASSIGN(const auto train, CompileTraining(*backend));
  const Outfeed refuses = [](int64_t step, const StepFetches&) -> absl::Status {
    if (step == 2) return absl::InternalError("a hook failed");
    return absl::OkStatus();
  };
  EXPECT_THAT(train->RunLoop(8, Steps(100), refuses).status(), ErrorHas("a hook failed"));
  EXPECT_EQ(arguments_.size(), 2u);      // steps 0 to 3
  EXPECT_THAT(W(), ElementsAre(7, 14));  // step 3 had run
}

TEST_F(PjrtBackendTest, AFailedStepLosesWhatOnlyTheDevicesHad) {
  for (const bool asynchronous : {false, true}) {
    SCOPED_TRACE(asynchronous);
    const auto backend = MakeBackend();
    EST_ASSERT_OK(store_.Set("w", Array::Of<float>({2}, {1, 10})));
    EST_ASSERT_OK_AND_ASSIGN(const auto train, CompileTraining(*backend));
    absl::Status& error = asynchronous ? fake_.event_error : fake_.execute_error;

    // The host has the value of w still: the next run copies it again.
    error = absl::UnavailableError("the device has halted");
    absl::Status status = train->RunLoop(1, Steps(100), Record()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(status.message()), HasSubstr("the device has halted"));
    EXPECT_THAT(W(), ElementsAre(1, 10));
    error = absl::OkStatus();
    next_step_ = 0;
    EST_ASSERT_OK(train->RunLoop(2, Steps(100), Record()));
    EXPECT_THAT(arguments_.back()[0][0].values<float>(), ElementsAre(1, 10));

    // Now only the devices have it, and the step takes it.
    error = absl::UnavailableError("the device has halted");
    EXPECT_FALSE(train->RunLoop(1, Steps(100), Record()).ok());
    error = absl::OkStatus();
    status = train->RunLoop(1, Steps(100), Record()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(status.message()), HasSubstr("'w'"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("restore the newest checkpoint"));

    // A restored value helps.
    EST_ASSERT_OK(store_.Set("w", Array::Of<float>({2}, {5, 5})));
    EST_ASSERT_OK(train->RunLoop(1, Steps(100), Record()));
    EXPECT_THAT(arguments_.back()[0][0].values<float>(), ElementsAre(5, 5));
  }
}

TEST_F(PjrtBackendTest, AStoreThatReadsALostVariableNamesIt) {
  const auto backend = MakeBackend();
  EST_ASSERT_OK_AND_ASSIGN(const auto train, CompileTraining(*backend));
  EST_ASSERT_OK(train->RunLoop(1, Steps(100), Record()));
  fake_.execute_error = absl::UnavailableError("the device has halted");
  EXPECT_FALSE(train->RunLoop(1, Steps(100), Record()).ok());
  const absl::Status status = store_.Download();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("variable 'w'"));
  EXPECT_FALSE(store_.initialized("w"));
}

TEST_F(PjrtBackendTest, TrainingAndEvaluationShareTheVariablesOnTheDevices) {
  const auto backend = MakeBackend();
  EST_ASSERT_OK_AND_ASSIGN(const auto train, CompileTraining(*backend));
  EST_ASSERT_OK_AND_ASSIGN(const auto evaluate, CompileEvaluation(*backend));
  EXPECT_EQ(num_opened_, 1);
  EST_ASSERT_OK(train->RunLoop(3, Steps(100), Record()));
  const int uploads = fake_.uploads;
  EST_ASSERT_OK(evaluate->RunLoop(2, Steps(100), Record()));
  EXPECT_EQ(fake_.uploads, uploads + 6);  // x, num_steps and first_step, but not w
  EXPECT_THAT(arguments_.back()[0][0].values<float>(), ElementsAre(4, 13));
  // Evaluation donates nothing: training goes on with the same buffers.
  EST_ASSERT_OK(train->RunLoop(1, Steps(100), Record()));
  EXPECT_EQ(fake_.uploads, uploads + 12);
  EXPECT_THAT(W(), ElementsAre(4 + 5, 14));
}

TEST_F(PjrtBackendTest, TwoBackendsOfAStoreSeeEachOthersUpdates) {
  const auto train_backend = MakeBackend();
  const auto eval_backend = MakeBackend();
  EST_ASSERT_OK_AND_ASSIGN(const auto train, CompileTraining(*train_backend));
  EST_ASSERT_OK_AND_ASSIGN(const auto evaluate, CompileEvaluation(*eval_backend));
  for (const float expected : {11.0f, 12.0f}) {
    EST_ASSERT_OK(train->RunLoop(1, Steps(100), Record()));
    EST_ASSERT_OK(evaluate->RunLoop(1, Steps(100), Record()));
    EXPECT_EQ(arguments_.back()[1][0].data<float>()[1], expected);
  }
}

TEST_F(PjrtBackendTest, FetchesThatNoOneWantsAreNotCopied) {
  const auto backend = MakeBackend();
  compiles_training_ = false;
  EST_ASSERT_OK_AND_ASSIGN(
      const auto evaluate,
      backend->Compile(graph_,
                       {.feeds = {x_}, .fetches = {loss_}, .updates = {}, .fetch_groups = {1}}));
  evaluate->WantFetches(2);
  EST_ASSERT_OK(evaluate->RunLoop(1, Steps(100), Record()));
  EXPECT_EQ(fake_.downloads, 1);  // steps_done
  evaluate->WantFetches(1);
  EST_ASSERT_OK(evaluate->RunLoop(1, Steps(100), Record()));
  EXPECT_EQ(fake_.downloads, 4);
}

TEST_F(PjrtBackendTest, WrongFeedsAreErrorsWithBothShapes) {
  const auto backend = MakeBackend();
  EST_ASSERT_OK_AND_ASSIGN(const auto train, CompileTraining(*backend));
  const auto feed = [](StepFeeds feeds) {
    return [feeds]() -> absl::StatusOr<std::optional<StepFeeds>> {
      return std::optional<StepFeeds>(feeds);
    };
  };
  const Array x = Array::Of<float>({2}, {0, 1});
  EXPECT_THAT(train->RunLoop(1, feed({{x}}), Record()).status(),
              ErrorHas("split for 1 replicas, but the backend runs 2"));
  EXPECT_THAT(train->RunLoop(1, feed({{x}, {}}), Record()).status(),
              ErrorHas("replica 1 has 0 arrays"));
  const absl::Status status =
      train->RunLoop(1, feed({{x}, {Array::Of<float>({1}, {0})}}), Record()).status();
  EXPECT_THAT(status, ErrorHas("the input x:0 is "));
  EXPECT_THAT(status, ErrorHas("[1]"));
  EXPECT_THAT(status, ErrorHas("[2]"));
  EXPECT_EQ(fake_.executions, 0);
}

TEST_F(PjrtBackendTest, VariablesWithoutAValueAreNamed) {
  store_.MarkUninitialized("w");
  const auto backend = MakeBackend();
  EST_ASSERT_OK_AND_ASSIGN(const auto train, CompileTraining(*backend));
  const absl::Status status = train->RunLoop(1, Steps(100), Record()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("variables that have no value yet: w"));
}

TEST_F(PjrtBackendTest, ErrorsOfTheCompilerAreThoseOfCompile) {
  const auto backend = MakeBackend();
  fake_.compiler = [](absl::string_view) -> absl::StatusOr<FakePlugin::Program> {
    return absl::ResourceExhaustedError("out of HBM");
  };
  EXPECT_EQ(CompileTraining(*backend).status().code(), absl::StatusCode::kResourceExhausted);
  fake_.compiler = [](absl::string_view) -> absl::StatusOr<FakePlugin::Program> {
    return FakePlugin::Program{7, nullptr};
  };
  EXPECT_THAT(CompileTraining(*backend).status(), ErrorHas("to 7 outputs instead of 3"));
}

}  // namespace
}  // namespace estimator::tpu::pjrt
