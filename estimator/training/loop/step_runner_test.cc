#include "estimator/training/loop/step_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "estimator/base/interrupt.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/reduction.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/initialize_variables.h"
#include "estimator/training/input/feeder.h"
#include "estimator/training/model/local_strategy.h"
#include "estimator/training/testing/fake_session.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Records the values of one tensor.
struct Recorder : SessionRunHook {
  explicit Recorder(Tensor tensor) : wanted(tensor) {}
  std::vector<Tensor> BeforeRun(RunContext&) override {
    ++num_before_runs;
    return {wanted};
  }
  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    runs.push_back(values);
    if (stops) context.RequestStop();
    return absl::OkStatus();
  }
  Tensor wanted;
  bool stops = false;
  int num_before_runs = 0;
  std::vector<RunValues> runs;
};

// A model on the batches [1], [2], [3], [4], whose loss is the batch's only element.
class StepRunnerTest : public ::testing::Test {
 protected:
  // What hooks see: the model's graph, and its global step.
  struct ModelSession : testing::FakeSession {
    explicit ModelSession(StepRunnerTest& test) : test(test) {}
    const Graph& graph() const override { return *test.model_->graph; }
    int64_t global_step() const override { return test.GlobalStep(); }
    StepRunnerTest& test;
  };

  void SetUp() override {
    strategy_ = MakeLocalStrategy([this](const Features& features, const Labels&, Mode mode,
                                         int64_t) -> absl::StatusOr<ModelSpec> {
      ModelSpec spec;
      spec.mode = mode;
      spec.loss = ReduceSum(Tensor(features));
      spec.train_op = AssignAdd(GetOrCreateGlobalStep(), Constant(int64_t{1}));
      spec.host_call = HostCall{[this](const std::vector<Array>& values) {
                                  host_calls_.push_back(values[0].AsDouble(0));
                                  return absl::OkStatus();
                                },
                                {features}};
      return spec;
    });
    const Element batch{.features = Array::Of<float>({1}, {1}), .labels = {}};
    auto model = BuildModel(*strategy_, batch, {.mode = Mode::kTrain});
    ASSERT_TRUE(model.ok()) << model.status();
    model_ = *std::move(model);
    backend_ = strategy_->MakeBackend(Mode::kTrain, session_.store);
    ASSERT_TRUE(InitializeVariables(*model_->graph, session_.store).ok());
    step_ = std::make_unique<CompiledStep>(*model_, *backend_,
                                           std::vector<Operation>{model_->spec.train_op});
    Open(Dataset::FromTensorSlices({.features = Array::Of<float>({4}, {1, 2, 3, 4}), .labels = {}})
             .Batch(1));
  }
  void Open(const Dataset& dataset) { input_ = *Feeder::Open({dataset}, {}); }
  double NextValue() {
    const StepInput next = **input_->Next();
    return next.replicas[0].features.begin()->second.AsDouble(0);
  }
  int64_t GlobalStep() const { return session_.store.Peek("global_step")->scalar<int64_t>(); }
  // Runs `num_steps`; discards the step whose loss is `discarded`.
  absl::StatusOr<StepRun> Run(StepRunner& runner, int64_t num_steps, double discarded = -1) {
    return runner.Run(
        {.step = *step_,
         .input = *input_,
         .num_steps = num_steps,
         .fetches = {model_->spec.loss},
         .on_step = [this, discarded](const StepOutput& step) -> absl::StatusOr<StepVerdict> {
           const double loss = step.values[0].AsDouble();
           losses_.push_back(loss);
           if (loss == interrupted_at_) RequestInterruptForTest();
           EXPECT_EQ(step.feeds[0][0].AsDouble(0), loss);
           return loss == discarded ? StepVerdict::kDiscard : StepVerdict::kApply;
         },
         .on_run =
             [this](const StepRun& run) {
               ends_.push_back(run.end);
               return absl::OkStatus();
             }});
  }

  std::unique_ptr<Strategy> strategy_;
  std::unique_ptr<BuiltModel> model_;
  ModelSession session_{*this};
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<CompiledStep> step_;
  std::unique_ptr<Feeder> input_;
  std::vector<double> losses_, host_calls_;
  double interrupted_at_ = -1;  // the loss of the step at which a signal arrives
  std::vector<RunEnd> ends_;
};

TEST_F(StepRunnerTest, TheLoopGetsEveryStepAndHooksGetTheLast) {
  const auto recorder = std::make_shared<Recorder>(model_->spec.loss);
  StepRunner runner(session_, {recorder}, {.host_call_every_n_steps = 2});
  const auto run = Run(runner, 3);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->end, RunEnd::kStepsDone);
  EXPECT_EQ(run->num_steps, 3);
  EXPECT_FALSE(run->stop_requested);
  EXPECT_THAT(losses_, ElementsAre(1, 2, 3));
  EXPECT_THAT(host_calls_, ElementsAre(1, 3)) << "at steps 0 and 2";
  ASSERT_EQ(recorder->runs.size(), 1u);
  EXPECT_EQ(recorder->runs[0].results.at(0).AsDouble(), 3);
  EXPECT_EQ(recorder->runs[0].global_step, 3);
  EXPECT_EQ(recorder->runs[0].num_steps, 3);
}

// Evaluation and training look at the values only. A prediction is kept.
TEST_F(StepRunnerTest, OnlyALoopThatKeepsValuesGetsCopies) {
  const GraphScope scope(*model_->graph);
  const Tensor twice =
      Multiply(model_->spec.loss, Constant(2.0f));  // a value that the program computes
  for (const bool keeps_values : {false, true}) {
    Open(Dataset::FromTensorSlices({.features = Array::Of<float>({3}, {1, 2, 3}), .labels = {}})
             .Batch(1));
    StepRunner runner(session_, {}, {});
    std::vector<Array> values;
    const auto run =
        runner.Run({.step = *step_,
                    .input = *input_,
                    .num_steps = 3,
                    .fetches = {twice},
                    .on_step = [&](const StepOutput& step) -> absl::StatusOr<StepVerdict> {
                      values.push_back(step.values[0]);
                      return StepVerdict::kApply;
                    },
                    .keeps_values = keeps_values});
    ASSERT_TRUE(run.ok()) << run.status();
    ASSERT_EQ(values.size(), 3u);
    EXPECT_EQ(values[0].raw() == values[1].raw(), !keeps_values);
    if (!keeps_values) continue;
    for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i].AsDouble(), 2.0 * (i + 1));
  }
}

TEST_F(StepRunnerTest, PrepareRegistersAllThatARunFetches) {
  struct Named : Recorder {
    using Recorder::Recorder;
    std::vector<Tensor> Fetches() override { return {wanted}; }
  };
  const GraphScope scope(*model_->graph);
  StepRunner runner(session_, {std::make_shared<Named>(Constant(1.0f))}, {});
  const absl::Status prepared = runner.Prepare(*step_, {model_->spec.loss});
  ASSERT_TRUE(prepared.ok()) << prepared;
  EXPECT_EQ(step_->num_fetches(), 3u) << "the loss, that of host_call and that of the hook";
  const auto run = Run(runner, 2);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(step_->num_fetches(), 3u) << "so the step is not compiled again";
}

TEST_F(StepRunnerTest, AnInputThatEndsEarlyEndsTheRunAndAnEmptyRunHasNoAfterRun) {
  const auto recorder = std::make_shared<Recorder>(model_->spec.loss);
  StepRunner runner(session_, {recorder}, {});
  auto run = Run(runner, 10);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->end, RunEnd::kInputEnded);
  EXPECT_EQ(run->num_steps, 4);
  EXPECT_EQ(recorder->runs.at(0).results.at(0).AsDouble(), 4) << "of the last step there was";
  run = Run(runner, 10);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->end, RunEnd::kInputEnded);
  EXPECT_EQ(run->num_steps, 0);
  EXPECT_EQ(recorder->num_before_runs, 2);
  EXPECT_EQ(recorder->runs.size(), 1u);
}

// A fixed bug: on replicas a signal waited for all steps of the loop, longer than the usual 30 s
// until a SIGKILL.
TEST_F(StepRunnerTest, AnInterruptEndsTheRunAfterTheStepAndItsResultsGoToTheHooks) {
  const auto recorder = std::make_shared<Recorder>(model_->spec.loss);
  StepRunner runner(session_, {recorder}, {});
  interrupted_at_ = 2;
  const auto run = Run(runner, 4);
  ClearInterrupt();
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->end, RunEnd::kInterrupted);
  EXPECT_EQ(run->num_steps, 2);
  EXPECT_EQ(GlobalStep(), 2);
  EXPECT_EQ(recorder->runs.at(0).results.at(0).AsDouble(), 2);
  EXPECT_EQ(NextValue(), 3) << "no batch is lost";
  ASSERT_TRUE(input_->Restore(run->input_position).ok());
  EXPECT_EQ(NextValue(), 3);
}

TEST_F(StepRunnerTest, ADiscardedStepChangesNothingAndItsResultsGoToTheHooks) {
  const auto recorder = std::make_shared<Recorder>(model_->spec.loss);
  StepRunner runner(session_, {recorder}, {});
  const auto run = Run(runner, 4, /*discarded=*/2);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->end, RunEnd::kStepDiscarded);
  EXPECT_EQ(run->num_steps, 1);
  EXPECT_EQ(GlobalStep(), 1);
  ASSERT_EQ(recorder->runs.size(), 1u);
  EXPECT_TRUE(recorder->runs[0].loss_not_finite);
  EXPECT_EQ(recorder->runs[0].results.at(0).AsDouble(), 2);
  ASSERT_TRUE(input_->Restore(run->input_position).ok());
  EXPECT_EQ(NextValue(), 2) << "it comes again";
}

TEST_F(StepRunnerTest, AnErrorOfTheInputIsToldFromOthers) {
  Open(Dataset::FromGenerator([](int64_t i) -> absl::StatusOr<std::optional<Element>> {
    if (i == 1) return absl::DataLossError("record 1 is damaged");
    return Element{.features = Array::Of<float>({1}, {1}), .labels = {}};
  }));
  StepRunner runner(session_, {}, {});
  EXPECT_EQ(Run(runner, 4).status(),
            absl::DataLossError("element 1 of FromGenerator: record 1 is damaged"));
  EXPECT_THAT(ends_, ElementsAre(RunEnd::kInputFailed));
  EXPECT_EQ(GlobalStep(), 1) << "the step before it is applied";

  model_->spec.host_call->fn = [](const std::vector<Array>&) {
    return absl::UnavailableError("host_call");
  };
  Open(Dataset::FromTensorSlices({.features = Array::Of<float>({1}, {1}), .labels = {}}).Batch(1));
  EXPECT_EQ(Run(runner, 4).status(), absl::UnavailableError("host_call"));
  EXPECT_THAT(ends_, ElementsAre(RunEnd::kInputFailed, RunEnd::kHostCallFailed));
}

TEST_F(StepRunnerTest, AHookMayAskToStop) {
  const auto recorder = std::make_shared<Recorder>(model_->spec.loss);
  recorder->stops = true;
  StepRunner runner(session_, {recorder}, {});
  EXPECT_TRUE(Run(runner, 2)->stop_requested);
}

// Predict dropped such tensors, and a hook then found fewer results than it had asked for.
TEST_F(StepRunnerTest, RefusesTensorsThatTheModelDoesNotHave) {
  const auto recorder = std::make_shared<Recorder>(Tensor());
  StepRunner runner(session_, {recorder}, {});
  EXPECT_THAT(std::string(Run(runner, 1).status().message()),
              HasSubstr("BeforeRun returned a tensor that is not valid"));

  testing::FakeSession other;  // with a graph of its own
  const GraphScope scope(other.fake_graph);
  recorder->wanted = Constant(1.0f, "only_there");
  StepRunner in_other(other, {recorder}, {});
  EXPECT_THAT(
      std::string(Run(in_other, 1).status().message()),
      HasSubstr("a hook asks for 'only_there:0', which the model for batches of another shape "
                "does not have"));
  EXPECT_THAT(ends_, IsEmpty()) << "no step ran";
}

}  // namespace
}  // namespace estimator
