// Summaries that a model_fn asks for, on replicas: written as those of a local run are.
#include <map>
#include <set>
#include <string>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/proto/summary.pb.h"
#include "estimator/summary/event_file_writer.h"
#include "estimator/summary/event_reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/testing/tiny_tpu_model.h"

namespace estimator::tpu {
namespace {

using ::testing::ElementsAre;

TPUEstimatorSpec SummarizedModel(const Features& features, const Labels& labels, Mode mode,
                                 const Params& params) {
  const Tensor& x = features["x"];  // f32 [n, 2]
  summary::Scalar("x_mean", ReduceMean(x));
  summary::Scalar("step", GetOrCreateGlobalStep());
  summary::Histogram("x", x);
  summary::Image("pictures", Reshape(x, {-1, 1, 2, 1}), 2);
  return TinyTPUModel(features, labels, mode, params);
}

class TPUSummaryTest : public ::testing::Test {
 protected:
  // What `steps` steps wrote, by tag and step.
  std::map<std::string, std::map<int64_t, SummaryRecord>> Written(const std::string& name,
                                                                  int replicas, int loop,
                                                                  int steps) {
    auto options = TinyTPUOptions(dir_.File(name), replicas, loop);
    options.model_fn = SummarizedModel;
    options.config.save_summary_steps = 2;
    TinyTPUEstimator estimator(options);
    const absl::Status trained = estimator.Train(TinyTrainInput, Steps(steps));
    EST_EXPECT_OK(trained);
    EST_EXPECT_OK(CloseAllEventFileWriters());
    std::map<std::string, std::map<int64_t, SummaryRecord>> written;
    const std::vector<std::string> paths = *Glob(dir_.File(name) + "/events.*");
    for (const std::string& path : paths) {
      const std::vector<SummaryRecord> records = *ReadEventFile(path);
      for (const SummaryRecord& record : records) written[record.tag][record.step] = record;
    }
    return written;
  }
  TempDir dir_;
};

std::set<int64_t> StepsOf(const std::map<int64_t, SummaryRecord>& by_step) {
  std::set<int64_t> steps;
  for (const auto& [step, record] : by_step) steps.insert(step);
  return steps;
}

proto::Summary::Value Parsed(const SummaryRecord& record) {
  proto::Summary::Value value;
  EXPECT_TRUE(value.ParseFromString(record.bytes));
  return value;
}

// A scalar is the mean over replicas, which is that of the whole batch; a histogram counts all of
// their rows; images are the first of the batch.
TEST_F(TPUSummaryTest, ScalarsHistogramsAndImagesAreThoseOfALocalRun) {
  auto local = Written("local", 0, 1, 5), replicas = Written("replicas", 4, 1, 5);
  EXPECT_EQ(replicas.size(), local.size());
  for (const char* tag : {"loss", "x_mean", "step", "x", "pictures/image/0", "pictures/image/1"}) {
    SCOPED_TRACE(tag);
    EXPECT_THAT(StepsOf(local[tag]), ElementsAre(1, 3, 5));
    EXPECT_THAT(StepsOf(replicas[tag]), ElementsAre(1, 3, 5));
  }
  for (const int64_t step : {1, 3, 5}) {
    for (const char* tag : {"loss", "x_mean", "step"}) {
      const double expected = local[tag][step].scalar;
      EXPECT_NEAR(replicas[tag][step].scalar, expected, 1e-5) << tag << " at " << step;
    }
    const proto::HistogramProto here = Parsed(local["x"][step]).histo(),
                                there = Parsed(replicas["x"][step]).histo();
    EXPECT_EQ(here.num(), 16) << "8 rows of 2";
    EXPECT_EQ(there.num(), 16);
    EXPECT_EQ(there.min(), here.min());
    EXPECT_EQ(there.max(), here.max());
    EXPECT_NEAR(there.sum(), here.sum(), 1e-5);
    for (const char* tag : {"pictures/image/0", "pictures/image/1"}) {
      const std::string picture = Parsed(replicas[tag][step]).image().encoded_image_string();
      EXPECT_FALSE(picture.empty());
      EXPECT_EQ(picture, Parsed(local[tag][step]).image().encoded_image_string()) << tag;
    }
  }
}

// With several steps a loop: the values of each loop's last step.
TEST_F(TPUSummaryTest, ALoopWritesTheValuesOfItsLastStep) {
  auto each = Written("each", 4, 1, 6), loops = Written("loops", 4, 3, 6);
  EXPECT_THAT(StepsOf(loops["loss"]), ElementsAre(3, 6));
  EXPECT_EQ(loops["loss"][3].scalar, each["loss"][3].scalar);
  EXPECT_EQ(loops["x_mean"][3].scalar, each["x_mean"][3].scalar);
  EXPECT_EQ(loops["step"][3].scalar, 2) << "variables are read as they stood before the step";
}

}  // namespace
}  // namespace estimator::tpu
