// The test fixture for training on replicas.
#ifndef TPU_TESTING_TRAIN_FIXTURE_H_
#define TPU_TESTING_TRAIN_FIXTURE_H_

#include <memory>
#include <string>
#include <vector>

#include "estimator/base/interrupt.h"
#include "estimator/base/testing/temp_dir.h"
#include "gtest/gtest.h"
#include "tpu/testing/tiny_tpu_model.h"

namespace estimator::tpu {

class TPUTrainFixture : public ::testing::Test {
 protected:
  void TearDown() override { ClearInterrupt(); }
  // Returns a new model_dir at each call.
  std::string Dir() { return dir_.File("m" + std::to_string(num_dirs_++)); }
  // Trains `steps` steps and returns the loss of each.
  std::vector<double> Losses(const TinyTPUEstimator::Options& options, int64_t steps,
                             const TinyTPUEstimator::InputFnType& input_fn = TinyTrainInput) {
    TinyTPUEstimator estimator(options);
    const auto recorder = std::make_shared<RunRecorder>();
    const absl::Status trained = estimator.Train(input_fn, Steps(steps), {.hooks = {recorder}});
    EXPECT_TRUE(trained.ok()) << trained;
    return recorder->losses;
  }
  static void ExpectSameLosses(const std::vector<double>& a, const std::vector<double>& b,
                               double relative) {
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i)
      EXPECT_NEAR(a[i], b[i], relative * b[i]) << "step " << i + 1;
  }
  std::string TrainError(const TinyTPUEstimator::Options& options,
                         const TinyTPUEstimator::InputFnType& input_fn = TinyTrainInput) {
    TinyTPUEstimator estimator(options);
    const absl::Status first = estimator.Train(input_fn, Steps(2)),
                       second = estimator.Train(input_fn, Steps(2));
    EXPECT_FALSE(first.ok());
    EXPECT_EQ(first, second) << "the second call fails as the first does";
    return std::string(first.message());
  }

  TempDir dir_;
  int num_dirs_ = 0;
};

}  // namespace estimator::tpu

#endif  // TPU_TESTING_TRAIN_FIXTURE_H_
