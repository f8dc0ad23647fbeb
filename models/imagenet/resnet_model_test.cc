// The model_fn with a small network: training, resuming, evaluation and prediction, on the CPU and
// on replicas. tools/replay/cases compares its training with TensorFlow.
#include "models/imagenet/resnet_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator::imagenet {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kImages = 24, kSize = 32, kClasses = 3;

// Images whose class is their brightest channel.
Element Images(int32_t label_of_first = 0) {
  Array images(DType::kUint8, Shape({kImages, kSize, kSize, 3}));
  Array labels(DType::kInt32, Shape({kImages}));
  for (int64_t i = 0; i < kImages; ++i) {
    const auto label = static_cast<int32_t>(i % kClasses);
    labels.data<int32_t>()[i] = i == 0 ? label_of_first : label;
    for (int64_t pixel = 0; pixel < kSize * kSize; ++pixel) {
      for (int c = 0; c < 3; ++c) {
        images.data<uint8_t>()[(i * kSize * kSize + pixel) * 3 + c] =
            static_cast<uint8_t>((pixel * 7 + i * 31) % 90 + (c == label ? 120 : 0));
      }
    }
  }
  return {.features = images, .labels = labels};
}

std::string Bytes(const Array& array) {
  return std::string(static_cast<const char*>(array.raw()), array.num_bytes());
}

class ResnetModelTest : public ::testing::Test {
 protected:
  using Classifier = tpu::TPUEstimator<ResnetParams>;

  static ResnetParams Params() {
    ResnetParams params;
    params.network = {.resnet_depth = 18, .num_label_classes = kClasses, .width = 8};
    params.learning_rate = {.base_learning_rate = 3,
                            .train_batch_size = 8,
                            .num_train_images = kImages,
                            .train_steps = 60};
    return params;
  }
  Classifier MakeClassifier(const ResnetParams& params, const std::string& folder,
                            bool use_tpu = false) const {
    tpu::RunConfig config;
    config.model_dir = dir_.File(folder);
    config.tf_random_seed = 1;
    config.save_summary_steps = config.log_step_count_steps = std::nullopt;
    config.tpu_config = {.iterations_per_loop = 2, .num_shards = 2};
    return Classifier({.model_fn = ResnetModelFn,
                       .config = config,
                       .params = params,
                       .use_tpu = use_tpu,
                       .train_batch_size = 8,
                       .eval_batch_size = 8,
                       .predict_batch_size = 8});
  }
  static Dataset Train(const ResnetParams& params) {
    return Dataset::FromTensorSlices(Images()).Shuffle(kImages).Repeat().Batch(
        params.batch_size, {.drop_remainder = true});
  }
  static Dataset Test(const ResnetParams& params) {
    return Dataset::FromTensorSlices(Images()).Batch(params.batch_size);
  }

  const TempDir dir_;
};

TEST_F(ResnetModelTest, LearnsOnTheCpuAndOnReplicas) {
  for (const bool use_tpu : {false, true}) {
    Classifier classifier = MakeClassifier(Params(), use_tpu ? "tpu" : "cpu", use_tpu);
    EST_ASSERT_OK(classifier.Train(Train, MaxSteps(60)));
    const absl::StatusOr<EvalResult> result = classifier.Evaluate(Test);
    EST_ASSERT_OK(result);
    EXPECT_GE(result->values.at("top_1_accuracy").AsDouble(), 0.9) << use_tpu;
    EXPECT_EQ(result->values.at("top_5_accuracy").AsDouble(), 1) << "there are three classes";
    const auto rows = classifier.Predict(Test).All();
    EST_ASSERT_OK(rows);
    ASSERT_EQ(rows->size(), static_cast<size_t>(kImages));
    int num_correct = 0;
    for (int64_t i = 0; i < kImages; ++i) {
      num_correct += (*rows)[i].at("classes").scalar<int64_t>() == i % kClasses;
      double sum = 0;
      for (const float p : (*rows)[i].at("probabilities").values<float>()) sum += p;
      EXPECT_NEAR(sum, 1, 1e-5);
    }
    EXPECT_NEAR(num_correct / static_cast<double>(kImages),
                result->values.at("top_1_accuracy").AsDouble(), 1e-6);
  }
}

// With 32 channels in the first group, filters of 3x3 have fast kernels in bf16 (kernels/bfloat16).
TEST_F(ResnetModelTest, TrainingInBfloat16FollowsFloat32) {
  ResnetParams params = Params();
  params.network.width = 32;
  const auto loss_after = [&](DType dtype, int64_t steps) {
    params.compute_dtype = dtype;
    Classifier classifier =
        MakeClassifier(params, absl::StrCat(DTypeSize(dtype), "_bytes_", steps, "_steps"));
    EST_EXPECT_OK(classifier.Train(Train, MaxSteps(steps)));
    const absl::StatusOr<EvalResult> result = classifier.Evaluate(Test);
    EST_EXPECT_OK(result);
    return result.ok() ? result->values.at("loss").AsDouble() : std::nan("");
  };
  const double first = loss_after(DType::kFloat32, 1);
  // One step moves each weight by less than its rounding changes a loss.
  EXPECT_NEAR(loss_after(DType::kBfloat16, 1), first, 0.02 * first);
  const double f32 = loss_after(DType::kFloat32, 30), bf16 = loss_after(DType::kBfloat16, 30);
  EXPECT_LT(f32, 0.5 * first) << "the network learns";
  EXPECT_LT(bf16, 0.5 * first);
  EXPECT_NEAR(bf16, f32, 0.2 * first);
}

TEST_F(ResnetModelTest, AResumedRunEqualsAnUndisturbedOne) {
  Classifier whole = MakeClassifier(Params(), "whole");
  EST_ASSERT_OK(whole.Train(Train, MaxSteps(6)));
  for (const int64_t step : {3, 6}) {
    Classifier part = MakeClassifier(Params(), "parts");
    EST_ASSERT_OK(part.Train(Train, MaxSteps(step)));
  }
  Classifier parts = MakeClassifier(Params(), "parts");
  const auto names = whole.GetVariableNames();
  EST_ASSERT_OK(names);
  int num_slots = 0;
  for (const std::string& name : *names) {
    num_slots += absl::EndsWith(name, "/Momentum");
    EXPECT_EQ(Bytes(*whole.GetVariableValue(name)), Bytes(*parts.GetVariableValue(name))) << name;
  }
  EXPECT_EQ(num_slots, 21 + 21 * 2 + 2);  // kernels, gammas and betas, the dense layer
}

TEST_F(ResnetModelTest, LarsHasItsSlotsAndNoWeightDecayInTheLoss) {
  ResnetParams params = Params();
  params.enable_lars = true;
  params.weight_decay = 0.1;
  Classifier lars = MakeClassifier(params, "lars");
  EST_ASSERT_OK(lars.Train(Train, MaxSteps(2)));
  EST_EXPECT_OK(lars.GetVariableValue("conv2d/kernel/LARSOptimizer"));
  const auto without_decay = lars.Evaluate(Test);
  EST_ASSERT_OK(without_decay);
  params.enable_lars = false;
  Classifier momentum = MakeClassifier(params, "lars");  // the same checkpoint
  const auto with_decay = momentum.Evaluate(Test);
  EST_ASSERT_OK(with_decay);
  EXPECT_GT(with_decay->values.at("loss").AsDouble(),
            without_decay->values.at("loss").AsDouble() + 0.1);
}

TEST_F(ResnetModelTest, Bfloat16KeepsFloat32Variables) {
  ResnetParams params = Params();
  params.compute_dtype = DType::kBfloat16;
  Classifier classifier = MakeClassifier(params, "bf16");
  EST_ASSERT_OK(classifier.Train(Train, MaxSteps(2)));
  EXPECT_EQ(classifier.GetVariableValue("conv2d/kernel")->dtype(), DType::kFloat32);
  EST_EXPECT_OK(classifier.Evaluate(Test));
}

TEST_F(ResnetModelTest, ALabelOutOfRangeIsAnError) {
  Classifier classifier = MakeClassifier(Params(), "label");
  const absl::Status status = classifier.Train(
      [](const ResnetParams& params) {
        return Dataset::FromTensorSlices(Images(/*label_of_first=*/kClasses))
            .Batch(params.batch_size);
      },
      MaxSteps(3));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                               ::testing::AllOf(HasSubstr("the label must be in [0, 2]"),
                                                HasSubstr("num_label_classes"))));
}

// The images may be a dict, as in the original, where the name is "feature".
TEST_F(ResnetModelTest, ImagesMayHaveAName) {
  Classifier classifier = MakeClassifier(Params(), "named");
  EST_EXPECT_OK(classifier.Train(
      [](const ResnetParams& params) {
        Element element = Images();
        element.features = {{"image", element.features.at("")}};
        return Dataset::FromTensorSlices(element).Batch(params.batch_size);
      },
      MaxSteps(1)));
}

}  // namespace
}  // namespace estimator::imagenet
