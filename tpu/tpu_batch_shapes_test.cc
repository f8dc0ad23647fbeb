// Batches of several shapes on replicas: a loop ends before a batch of another shape.
#include <memory>
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/testing/tiny_tpu_model.h"

namespace estimator::tpu {
namespace {

using ::testing::ElementsAre;

// Batches of one example repeated along a new axis 1: 1 time in batches 0 to 2, then 2, 2, 3, 3, 3.
Dataset Widths(const Params& params) {
  static constexpr int64_t kWidths[] = {1, 1, 1, 2, 2, 3, 3, 3};
  return Dataset::FromTensorSlices(TinyExamples(64))
      .Batch(params.batch_size, {.drop_remainder = true})
      .Enumerate()
      .Map([](const Element& batch) -> absl::StatusOr<Element> {
        const Array& x = batch.features.at("x");
        const int64_t rows = x.shape()[0];
        const int64_t width = kWidths[batch.features.at("index").scalar<int64_t>() % 8];
        Array wide(DType::kFloat32, {rows, width, 2});
        for (int64_t i = 0; i < wide.num_elements(); ++i)
          wide.data<float>()[i] = x.data<float>()[i / (2 * width) * 2 + i % 2];
        return Element{.features = {{"x", wide}}, .labels = batch.labels};
      })
      .Repeat();
}

// TinyTPUModel of the mean over axis 1.
TPUEstimatorSpec MeanModel(const Features& features, const Labels& labels, Mode mode,
                           const Params& params) {
  std::map<std::string, Tensor> means = {{"x", ReduceMean(features["x"], 1)}};
  return TinyTPUModel(Features(&Graph::Current(), "features", means), labels, mode, params);
}

TinyTPUEstimator::Options WidthOptions(const std::string& dir, int iterations) {
  auto options = TinyTPUOptions(dir, 2, iterations);
  options.model_fn = MeanModel;
  return options;
}

TEST(TPUBatchShapes, ALoopEndsBeforeABatchOfAnotherShape) {
  const TempDir dir;
  std::string single;
  for (const int iterations : {1, 4}) {
    TinyTPUEstimator estimator(WidthOptions(dir.File(std::to_string(iterations)), iterations));
    const auto recorder = std::make_shared<RunRecorder>();
    EST_ASSERT_OK(estimator.Train(Widths, MaxSteps(16), {.hooks = {recorder}}));
    if (iterations == 4) {
      EXPECT_THAT(recorder->steps, ElementsAre(3, 5, 8, 11, 13, 16));
    }
    const std::string bits = *CheckpointBits(**estimator.LatestCheckpoint());
    if (single.empty()) single = bits;
    EXPECT_EQ(bits, single);
  }
}

TEST(TPUBatchShapes, AResumedRunHasTheSameBits) {
  const TempDir dir;
  TinyTPUEstimator whole(WidthOptions(dir.File("whole"), 4));
  EST_ASSERT_OK(whole.Train(Widths, MaxSteps(16)));
  for (const int64_t steps : {4, 9, 16})
    EST_ASSERT_OK(
        TinyTPUEstimator(WidthOptions(dir.File("parts"), 4)).Train(Widths, MaxSteps(steps)));
  EXPECT_EQ(*CheckpointBits(dir.File("parts/model.ckpt-16")),
            *CheckpointBits(**whole.LatestCheckpoint()));
}

// With PER_HOST_V2, each replica takes a batch of its own.
TEST(TPUBatchShapes, ReplicasOfAStepMustHaveOneShape) {
  const TempDir dir;
  auto options = WidthOptions(dir.File("m"), 1);
  options.config.tpu_config.per_host_input_for_training = InputPipelineConfig::PER_HOST_V2;
  EXPECT_THAT(TinyTPUEstimator(options).Train(Widths, Steps(4)),
              ErrorHas("the parts of a step (of its replicas, and of the batches of "
                       "accumulate_steps) must have one shape"));
}

}  // namespace
}  // namespace estimator::tpu
