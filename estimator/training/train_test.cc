// Train: how long it runs, what it saves, what it calls. Errors are in train_errors_test.cc,
// resuming in resume_test.cc.
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/checkpoint_state.h"
#include "estimator/checkpoint/load.h"
#include "estimator/runtime/variable_store.h"
#include "estimator/summary/event_reader.h"
#include "estimator/training/testing/tiny_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto Endless = [](const TinyParams&) { return TinyDataset(4).Repeat(); };

class TrainTest : public ::testing::Test {
 protected:
  std::string Dir(const std::string& name = "m") { return dir_.File(name); }
  int64_t StepOf(const Estimator<TinyParams>& estimator) {
    const absl::StatusOr<Array> step = estimator.GetVariableValue("global_step");
    return step.ok() ? step->scalar<int64_t>() : -1;
  }
  static float LoadedBias(const std::string& prefix) {
    const absl::StatusOr<Array> bias = LoadVariable(prefix, "dense_1/bias");
    return bias.ok() ? bias->data<float>()[0] : -1;
  }
  TempDir dir_;
};

// Behaviour D1.
TEST_F(TrainTest, StepsAddUpAndMaxStepsIsAbsolute) {
  Estimator<TinyParams> adds(TinyOptions(Dir()));
  EST_ASSERT_OK(adds.Train(Endless, Steps(5)));
  EXPECT_EQ(StepOf(adds), 5);
  EST_ASSERT_OK(adds.Train(Endless, Steps(5)));
  EXPECT_EQ(StepOf(adds), 10);

  Estimator<TinyParams> absolute(TinyOptions(Dir("absolute")));
  const auto recorder = std::make_shared<RunRecorder>();
  EST_ASSERT_OK(absolute.Train(Endless, MaxSteps(5)));
  EST_ASSERT_OK(absolute.Train(Endless, MaxSteps(5), {.hooks = {recorder}}));
  EXPECT_EQ(StepOf(absolute), 5);
  EXPECT_EQ(recorder->num_begins, 0) << "nothing is touched";
}

// relu makes 0 of a NaN where oneDNN computes it: the loss is finite, the weights are not.
TEST_F(TrainTest, VariablesThatAreSavedWithNaNAreNamed) {
  const auto with_nan = [](const TinyParams&) {
    Element examples = TinyExamples();
    examples.features.at("x").data<float>()[3] = std::nanf("");
    return Dataset::FromTensorSlices(examples).Repeat().Batch(4);
  };
  const estimator::testing::CapturedLog log;
  Estimator<TinyParams> estimator(TinyOptions(Dir()));
  EST_ASSERT_OK(estimator.Train(with_nan, MaxSteps(6)));
  EXPECT_THAT(log.warnings,
              Contains(AllOf(HasSubstr("model.ckpt-5: NaN in 2 variables, dense/kernel, "),
                             HasSubstr("is there one in the input?"))));
}

// A pause that the input asks for is over when Train is called again.
TEST_F(TrainTest, AnInputThatCancelsIsAskedAgainByTheNextCall) {
  int num_batches = 0;
  const auto pausing = [&num_batches](const TinyParams&) {
    return TinyDataset(4).Repeat().Map(
        [&num_batches](const Element& batch) -> absl::StatusOr<Element> {
          if (++num_batches == 4) return absl::CancelledError("paused");
          return batch;
        });
  };
  Estimator<TinyParams> estimator(TinyOptions(Dir()));
  const absl::Status paused = estimator.Train(pausing, MaxSteps(6));
  EXPECT_THAT(paused, StatusIs(absl::StatusCode::kCancelled));
  const absl::Status trained = estimator.Train(pausing, MaxSteps(6));
  EST_EXPECT_OK(trained);
  EXPECT_EQ(StepOf(estimator), 6);
}

TEST_F(TrainTest, EstimatorsOfSeveralThreadsDoNotDisturbEachOther) {
  constexpr int kThreads = 3;
  const auto train = [this](const std::string& name) -> std::string {
    Estimator<TinyParams>::Options options = TinyOptions(Dir(name));
    options.config.save_summary_steps = 2;
    options.params.dropout = 0.1;
    Estimator<TinyParams> estimator(options);
    const auto input = [](const TinyParams&) {
      return Dataset::FromTensorSlices(TinyExamples()).Shuffle(20).Repeat().Batch(4).Prefetch(2);
    };
    const absl::Status trained = estimator.Train(input, Steps(20));
    if (!trained.ok()) return trained.ToString();
    const auto result = estimator.Evaluate([](const TinyParams&) { return TinyDataset(8); });
    if (!result.ok()) return result.status().ToString();
    return absl::StrCat((*result)["loss"], " ", *CheckpointBits(**estimator.LatestCheckpoint()));
  };
  const std::string alone = train("alone");
  EXPECT_THAT(alone, HasSubstr("dense_1/bias"));
  std::vector<std::string> together(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&train, &text = together[static_cast<size_t>(t)], t] {
      text = train(absl::StrCat("thread_", t));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : together) EXPECT_EQ(text, alone);
}

// Behaviour D2.
TEST_F(TrainTest, TheStateFileIsRelativeSoAMovedModelDirGoesOn) {
  {
    Estimator<TinyParams> estimator(TinyOptions(Dir()));
    EST_ASSERT_OK(estimator.Train(Endless, Steps(5)));
  }
  const std::string state = *ReadFile(CheckpointStatePath(Dir()));
  EXPECT_THAT(state, HasSubstr("\"model.ckpt-0\""));
  EXPECT_THAT(state, HasSubstr("model_checkpoint_path: \"model.ckpt-5\""));
  EXPECT_THAT(state, Not(HasSubstr(Dir())));
  EST_ASSERT_OK(RenameFile(Dir(), Dir("moved")));
  Estimator<TinyParams> moved(TinyOptions(Dir("moved")));
  EST_ASSERT_OK(moved.Train(Endless, MaxSteps(10)));
  EXPECT_EQ(StepOf(moved), 10);
}

class CountingListener : public CheckpointSaverListener {
 public:
  std::vector<int64_t> before, after;
  int num_begins = 0, num_ends = 0;
  absl::Status Begin() override {
    ++num_begins;
    return absl::OkStatus();
  }
  absl::Status BeforeSave(Session&, int64_t step) override {
    before.push_back(step);
    return absl::OkStatus();
  }
  absl::StatusOr<bool> AfterSave(Session&, int64_t step) override {
    after.push_back(step);
    return false;
  }
  absl::Status End(Session&, int64_t) override {
    ++num_ends;
    return absl::OkStatus();
  }
};

// Behaviour D4.
TEST_F(TrainTest, ListenersSeeTheFirstTheRegularAndTheLastSave) {
  auto options = TinyOptions(Dir());
  options.config.save_checkpoints_steps = 10;
  Estimator<TinyParams> estimator(options);
  const auto listener = std::make_shared<CountingListener>();
  EST_ASSERT_OK(estimator.Train(Endless, Steps(26), {.saving_listeners = {listener}}));
  EXPECT_THAT(listener->before, ElementsAre(0, 10, 20, 26));
  EXPECT_THAT(listener->after, ElementsAre(0, 10, 20, 26));
  EXPECT_EQ(listener->num_begins, 1);
  EXPECT_EQ(listener->num_ends, 1);
}

// Behaviour D5.
TEST_F(TrainTest, ListenersWithoutASaverAndNullHooksAreRefused) {
  auto options = TinyOptions(Dir());
  options.config.save_checkpoints_steps = std::nullopt;
  options.config.disable_checkpoints = true;
  Estimator<TinyParams> unsaved(options);
  const auto listener = std::make_shared<CountingListener>();
  EXPECT_THAT(unsaved.Train(Endless, Steps(1), {.saving_listeners = {listener}}),
              ErrorHas("There should be a CheckpointSaverHook to use saving_listeners"));
  Estimator<TinyParams> estimator(TinyOptions(Dir()));
  EXPECT_THAT(estimator.Train(Endless, Steps(1), {.hooks = {nullptr}}), ErrorHas("one is null"));
  EXPECT_THAT(estimator.Train(Endless, Steps(1), {.saving_listeners = {nullptr}}),
              ErrorHas("saving_listeners must be CheckpointSaverListener instances; one is null"));
}

// Behaviour D8.
TEST_F(TrainTest, TheLossIsInTheEventFile) {
  auto options = TinyOptions(Dir());
  options.config.save_summary_steps = 1;
  Estimator<TinyParams> estimator(options);
  const auto recorder = std::make_shared<RunRecorder>();
  EST_ASSERT_OK(estimator.Train(Endless, Steps(3), {.hooks = {recorder}}));
  const auto scalars = ReadScalars(Dir());
  EST_ASSERT_OK(scalars);
  ASSERT_EQ(scalars->size(), 3u);
  for (int64_t step = 1; step <= 3; ++step) {
    EXPECT_FLOAT_EQ(static_cast<float>(scalars->at(step).at("loss")),
                    static_cast<float>(recorder->losses[static_cast<size_t>(step - 1)]));
  }
}

// Behaviour D9.
TEST_F(TrainTest, TheSeedAndGlobalStepAreThereBeforeModelFnRuns) {
  auto options = TinyOptions(Dir());
  int num_calls = 0;
  options.model_fn = [&num_calls](const Features& features, const Labels& labels, Mode mode,
                                  const TinyParams& params) {
    ++num_calls;
    EXPECT_EQ(Graph::Current().seed(), 7);
    EXPECT_TRUE(Graph::Current().GlobalStep().has_value());
    return TinyModel(features, labels, mode, params);
  };
  Estimator<TinyParams> estimator(options);
  EST_ASSERT_OK(estimator.Train(Endless, Steps(1)));
  EXPECT_EQ(num_calls, 1);
}

// Behaviour D13.
TEST_F(TrainTest, InitFnRunsOnAFreshStartOnlyAndTheSpecsHooksAreCalled) {
  const auto chief = std::make_shared<RunRecorder>(), own = std::make_shared<RunRecorder>();
  int num_inits = 0;
  auto options = TinyOptions(Dir());
  options.model_fn = [&](const Features& features, const Labels& labels, Mode mode,
                         const TinyParams& params) {
    ModelSpec spec = TinyModel(features, labels, mode, params).spec();
    EstimatorSpecOptions more{.training_chief_hooks = {chief}, .training_hooks = {own}};
    more.scaffold.init_fn = [&num_inits](VariableStore& store) {
      ++num_inits;
      return store.Set("dense_1/bias", Array::Of<float>({1}, {42.0f}));
    };
    return EstimatorSpec::Train(spec.loss, spec.train_op, more);
  };
  Estimator<TinyParams> estimator(options);
  EST_ASSERT_OK(estimator.Train(Endless, Steps(2)));
  EXPECT_EQ(LoadedBias(Dir() + "/model.ckpt-0"), 42.0f);
  EST_ASSERT_OK(estimator.Train(Endless, Steps(1)));
  Estimator<TinyParams> restarted(options);
  EST_ASSERT_OK(restarted.Train(Endless, Steps(1)));
  EXPECT_EQ(num_inits, 1);
  EXPECT_THAT(chief->steps, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(own->steps, ElementsAre(1, 2, 3, 4));
}

// Without steps, training continues to the input's end; many programs train one pass over the data
// a call.
TEST_F(TrainTest, WithoutStepsACallTrainsOnePassAndTheNextCallAnother) {
  Estimator<TinyParams> estimator(TinyOptions(Dir()));
  const auto epoch = [](const TinyParams&) { return TinyDataset(4); };
  EST_ASSERT_OK(estimator.Train(epoch));
  EXPECT_EQ(StepOf(estimator), 5);
  EST_ASSERT_OK(estimator.Train(epoch));
  EXPECT_EQ(StepOf(estimator), 10);
  const InputFn kept = estimator.Input(epoch);
  EST_ASSERT_OK(estimator.Train(kept));
  EST_ASSERT_OK(estimator.Train(kept));
  EXPECT_EQ(StepOf(estimator), 20);
}

TEST_F(TrainTest, AnEmptyInputTrainsNoStep) {
  Estimator<TinyParams> estimator(TinyOptions(Dir()));
  EST_EXPECT_OK(
      estimator.Train([](const TinyParams&) { return TinyDataset(4).Take(0); }, Steps(3)));
  EXPECT_FALSE(estimator.LatestCheckpoint()->has_value());
}

TEST_F(TrainTest, AHookThatAsksForAStopEndsTheLoopAndTheStepIsSaved) {
  class Stopper : public SessionRunHook {
    absl::Status AfterRun(RunContext& context, const RunValues& values) override {
      if (values.global_step == 7) context.RequestStop();
      return absl::OkStatus();
    }
  };
  Estimator<TinyParams> estimator(TinyOptions(Dir()));
  EST_ASSERT_OK(estimator.Train(Endless, Steps(100), {.hooks = {std::make_shared<Stopper>()}}));
  EXPECT_EQ(StepOf(estimator), 7);
}

TEST_F(TrainTest, WithoutCheckpointsASecondCallGoesOnWithTheLiveVariablesAndTheOpenInput) {
  const auto recorder = std::make_shared<RunRecorder>(), straight = std::make_shared<RunRecorder>();
  auto options = TinyOptions(Dir());
  options.config.save_checkpoints_steps = std::nullopt;
  options.config.disable_checkpoints = true;
  Estimator<TinyParams> estimator(options);
  const InputFn input = estimator.Input(Endless);
  EST_ASSERT_OK(estimator.Train(input, Steps(3), {.hooks = {recorder}}));
  EST_ASSERT_OK(estimator.Train(input, Steps(4), {.hooks = {recorder}}));
  EST_ASSERT_OK(estimator.Train(input, MaxSteps(7), {.hooks = {recorder}}));
  EXPECT_THAT(recorder->steps, ElementsAre(1, 2, 3, 4, 5, 6, 7));
  Estimator<TinyParams> whole(options);
  EST_ASSERT_OK(whole.Train(Endless, Steps(7), {.hooks = {straight}}));
  EXPECT_EQ(recorder->losses, straight->losses);
  EXPECT_FALSE(estimator.LatestCheckpoint()->has_value());

  // What was learnt is what is evaluated and used for predictions.
  const auto once = [](const TinyParams&) { return TinyDataset(20); };
  const auto result = estimator.Evaluate(once);
  EST_ASSERT_OK(result);
  EXPECT_EQ(result->global_step(), 7);
  Estimator<TinyParams> saved(TinyOptions(Dir("saved")));
  EST_ASSERT_OK(saved.Train(Endless, Steps(7)));
  EXPECT_EQ((*result)["loss"], (*saved.Evaluate(once))["loss"]);
  const auto rows = estimator.Predict(once).All(), same = whole.Predict(once).All();
  EST_ASSERT_OK(rows);
  EST_ASSERT_OK(same);
  EXPECT_EQ((*rows)[3].at("y").AsDouble(), (*same)[3].at("y").AsDouble());
}

TEST_F(TrainTest, WithoutCheckpointsTrainingGoesOnFromWhereItLeftAnOlderOne) {
  Estimator<TinyParams> saved(TinyOptions(Dir()));
  EST_ASSERT_OK(saved.Train(Endless, Steps(5)));
  auto options = TinyOptions(Dir());
  options.config.save_checkpoints_steps = 0;  // as TensorFlow switches them off
  Estimator<TinyParams> unsaved(options);
  const auto recorder = std::make_shared<RunRecorder>();
  EST_ASSERT_OK(unsaved.Train(Endless, Steps(2), {.hooks = {recorder}}));
  EST_ASSERT_OK(unsaved.Train(Endless, Steps(2), {.hooks = {recorder}}));
  EXPECT_THAT(recorder->steps, ElementsAre(6, 7, 8, 9));
  const auto result = unsaved.Evaluate([](const TinyParams&) { return TinyDataset(20); });
  EST_ASSERT_OK(result);
  EXPECT_EQ(result->global_step(), 9);
  const auto old = unsaved.Evaluate([](const TinyParams&) { return TinyDataset(20); },
                                    {.checkpoint_path = Dir() + "/model.ckpt-5"});
  EST_ASSERT_OK(old);
  EXPECT_EQ(old->global_step(), 5) << "a checkpoint that is named is what counts";
  EXPECT_EQ(StepOf(unsaved), 5) << "on disk";
}

// The model is built again for the new shape, over the same variables.
TEST_F(TrainTest, AnInputWithAnotherBatchSizeGoesOnWithTheSameVariables) {
  Estimator<TinyParams> estimator(TinyOptions(Dir()));
  const auto recorder = std::make_shared<RunRecorder>();
  for (const int64_t batch_size : {4, 5, 4}) {
    const absl::Status trained = estimator.Train(
        [batch_size](const TinyParams&) { return TinyDataset(batch_size).Repeat(); }, Steps(2),
        {.hooks = {recorder}});
    EST_ASSERT_OK(trained);
  }
  EXPECT_THAT(recorder->steps, ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(TrainTest, ARemovedModelDirMeansANewStart) {
  Estimator<TinyParams> estimator(TinyOptions(Dir()));
  const auto first = std::make_shared<RunRecorder>(), second = std::make_shared<RunRecorder>();
  EST_ASSERT_OK(estimator.Train(Endless, Steps(5), {.hooks = {first}}));
  EST_ASSERT_OK(RemoveDirectoryRecursively(Dir()));
  EST_ASSERT_OK(estimator.Train(Endless, Steps(5), {.hooks = {second}}));
  EXPECT_EQ(second->steps, first->steps);
  EXPECT_EQ(second->losses, first->losses);
  // Nor is an evaluation's copy of the removed run's variables used for the new run.
  const auto once = [](const TinyParams&) { return TinyDataset(20); };
  const double before = (*estimator.Evaluate(once))["loss"];
  EST_ASSERT_OK(RemoveDirectoryRecursively(Dir()));
  EST_ASSERT_OK(
      estimator.Train([](const TinyParams&) { return TinyDataset(3).Repeat(); }, Steps(5)));
  const auto after = estimator.Evaluate(once);
  EST_ASSERT_OK(after);
  EXPECT_NE((*after)["loss"], before);
}

TEST_F(TrainTest, TheSameSeedGivesTheSameBitsAndAnotherSeedOthers) {
  std::vector<std::string> bits;
  for (const int64_t seed : {7, 7, 8}) {
    auto options = TinyOptions(Dir(std::to_string(bits.size())));
    options.config.tf_random_seed = seed;
    options.params.dropout = 0.4;
    Estimator<TinyParams> estimator(options);
    const absl::Status trained = estimator.Train(
        [](const TinyParams&) {
          return Dataset::FromTensorSlices(TinyExamples()).Shuffle(20).Repeat().Batch(6);
        },
        Steps(12));
    EST_ASSERT_OK(trained);
    bits.push_back(*CheckpointBits(**estimator.LatestCheckpoint()));
  }
  EXPECT_EQ(bits[0], bits[1]);
  EXPECT_NE(bits[0], bits[2]);
}

Dataset WithoutParams() { return TinyDataset(4).Repeat(); }

// As in TensorFlow. A plain function is one input: the second call continues with it.
TEST(InputFns, MayTakeNothing) {
  const TempDir dir;
  Estimator<TinyParams> estimator(TinyOptions(dir.path()));
  int opened = 0;
  const auto counts = [&opened]() -> absl::StatusOr<Dataset> {
    ++opened;
    return WithoutParams();
  };
  EST_ASSERT_OK(estimator.Train(counts, Steps(2)));
  EXPECT_EQ(opened, 1);
  EST_ASSERT_OK(estimator.Train(WithoutParams, Steps(2)));
  EXPECT_EQ(Estimator<TinyParams>::InputFnType(WithoutParams).identity(),
            Estimator<TinyParams>::InputFnType(WithoutParams).identity());
  EXPECT_NE(Estimator<TinyParams>::InputFnType(WithoutParams).identity(), nullptr);
  EXPECT_EQ(Estimator<TinyParams>::InputFnType(counts).identity(), nullptr);
  EST_EXPECT_OK(estimator.Evaluate([] { return TinyDataset(4); }));
}

}  // namespace
}  // namespace estimator
