// What an Estimator makes of its options.
#include <cstdlib>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/nn/train/gradient_descent.h"
#include "estimator/training/testing/tiny_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr auto Endless = [](const TinyParams&) { return TinyDataset(4).Repeat(); };

// Behaviour A1.
TEST(EstimatorConstruction, WithoutAModelDirATemporaryOneIsMade) {
  const TempDir dir;
  const char* value = getenv("TMPDIR");
  const std::optional<std::string> before =
      value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  setenv("TMPDIR", dir.path().c_str(), 1);
  auto options = TinyOptions("");
  options.config.model_dir = std::nullopt;
  const testing::CapturedLog log;
  const Estimator<TinyParams> estimator(options);
  EXPECT_THAT(log.warnings,
              ElementsAre(AllOf(StartsWith("Using temporary folder as model directory: " +
                                           estimator.model_dir() + "; it is not removed"),
                                HasSubstr("--model_dir"))));
  EXPECT_THAT(estimator.model_dir(), StartsWith(dir.path() + "/"));
  EXPECT_TRUE(IsDirectory(estimator.model_dir()));
  EXPECT_EQ(estimator.config().model_dir, estimator.model_dir());
  // Tests that run after this one make temporary folders too.
  if (before.has_value()) setenv("TMPDIR", before->c_str(), 1);
  if (!before.has_value()) unsetenv("TMPDIR");
}

// Behaviours A3 and B5: every call returns what is wrong with the construction.
TEST(EstimatorConstruction, AMissingModelFnAndABadConfigAreReportedByEveryCall) {
  const TempDir dir;
  auto options = TinyOptions(dir.File("m"));
  options.model_fn = nullptr;
  Estimator<TinyParams> without(options);
  EXPECT_THAT(without.Train(Endless, Steps(1)), ErrorIs("model_fn must be given"));
  EXPECT_THAT(without.Evaluate(Endless), ErrorIs("model_fn must be given"));
  EXPECT_THAT(without.Predict(Endless).Next(), ErrorIs("model_fn must be given"));
  Estimator<TinyParams> nowhere(TinyOptions(""));
  EXPECT_THAT(nowhere.Train(Endless, Steps(1)),
              ErrorHas("model_dir must be non-empty when it is given"));
}

// Behaviour A5.
TEST(EstimatorConstruction, ParamsAreCopiedIn) {
  const TempDir dir;
  auto options = TinyOptions(dir.File("m"));
  options.params.hidden_units = 3;
  Estimator<TinyParams> estimator(options);
  options.params.hidden_units = 5;
  EXPECT_EQ(estimator.params().hidden_units, 3);
  EST_ASSERT_OK(estimator.Train(Endless, Steps(1)));
  EXPECT_EQ(estimator.GetVariableValue("dense/kernel")->shape(), (Shape{2, 3}));
}

// Behaviour A6.
TEST(EstimatorConstruction, CallableObjectsServeAsModelFnAndInputFn) {
  struct Model {
    int64_t hidden_units;
    EstimatorSpec operator()(const Features& features, const Labels& labels, Mode mode,
                             TinyParams params) const {
      params.hidden_units = hidden_units;
      return TinyModel(features, labels, mode, params);
    }
  };
  struct Input {
    int64_t batch_size;
    absl::StatusOr<Dataset> operator()(const TinyParams&) const {
      return TinyDataset(batch_size).Repeat();
    }
  };
  const TempDir dir;
  auto options = TinyOptions(dir.File("m"));
  options.model_fn = Model{6};
  Estimator<TinyParams> estimator(options);
  EST_ASSERT_OK(estimator.Train(Input{5}, Steps(1)));
  EXPECT_EQ(estimator.GetVariableValue("dense/kernel")->shape(), (Shape{2, 6}));
}

// Behaviours B5 and D10.
TEST(EstimatorConstruction, TfConfigGivesTheModelDirAndSaysWhoMayTrain) {
  const TempDir dir;
  struct Environment {
    explicit Environment(const std::string& json) { setenv("TF_CONFIG", json.c_str(), 1); }
    ~Environment() { unsetenv("TF_CONFIG"); }
  };
  auto options = TinyOptions(dir.File("m"));
  {
    const Environment environment(absl::StrCat(R"({"model_dir": ")", dir.File("t"), R"("})"));
    Estimator<TinyParams> differs(options);
    EXPECT_THAT(differs.Train(Endless, Steps(1)), ErrorHas("but TF_CONFIG says"));
    options.config.model_dir = std::nullopt;
    const Estimator<TinyParams> estimator(options);
    EXPECT_EQ(estimator.model_dir(), dir.File("t"));
  }
  const Environment environment(
      R"({"cluster": {"chief": ["c:1"]}, "task": {"type": "evaluator", "index": 0}})");
  options = TinyOptions(dir.File("m"));
  Estimator<TinyParams> evaluator(options);
  EXPECT_EQ(evaluator.task().task_type, "evaluator");
  EXPECT_THAT(evaluator.Train(Endless, Steps(1)), ErrorHas("which does not train"));
  EXPECT_FALSE(IsDirectory(dir.File("m")));
}

// Behaviour B3, at the estimator.
TEST(EstimatorConstruction, AConfigOutOfRangeIsNamed) {
  const TempDir dir;
  auto options = TinyOptions(dir.File("m"));
  options.config.keep_checkpoint_max = -1;
  Estimator<TinyParams> estimator(options);
  EXPECT_THAT(estimator.Train(Endless, Steps(1)),
              ErrorHas("keep_checkpoint_max must be >= 0, given -1"));
}

// Fixed bug: such a program did not compile.
TEST(EstimatorConstruction, ParamsMayHaveAMemberOfTheirOwnThatIsNamedContext) {
  struct Own : EstimatorParams {
    std::string context;
  };
  const TempDir dir;
  Own params;
  params.context = "mine";
  Estimator<Own> estimator(
      {.model_fn =
           [](const Features& features, const Labels& labels, Mode, const Own& given) {
             EXPECT_EQ(given.context, "mine");
             const Tensor y = TinyNetwork(features, true, 0);
             const Tensor loss = TinyLoss(labels, y);
             return EstimatorSpec::Train(loss, train::GradientDescent(0.1).Minimize(loss));
           },
       .config = TinyConfig(dir.File("m")),
       .params = params});
  EST_EXPECT_OK(estimator.Train(
      [](const Own& given) {
        EXPECT_EQ(given.context, "mine");
        EXPECT_EQ(given.EstimatorParams::context.num_hosts, 1);
        return TinyDataset(4);
      },
      Steps(1)));
}

}  // namespace
}  // namespace estimator
