// A model_dir that is of something else: a checkpoint's name, another model, other data.
#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "estimator/training/testing/tiny_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

Dataset Endless(const TinyParams&) { return TinyDataset(5).Repeat(); }
Dataset Once(const TinyParams&) { return TinyDataset(8); }

class ForeignModelDirTest : public ::testing::Test {
 protected:
  // Trained to step 10.
  void SetUp() override {
    Estimator<TinyParams> estimator(TinyOptions(dir_.path()));
    EST_ASSERT_OK(estimator.Train(Endless, MaxSteps(10)));
  }
  Estimator<TinyParams> OtherModel() const {
    auto options = TinyOptions(dir_.path());
    options.params.hidden_units = 7;
    return Estimator<TinyParams>(options);
  }
  std::string Prefix(int64_t step) const { return dir_.File(absl::StrCat("model.ckpt-", step)); }

  TempDir dir_;
};

// Fixed bug: a new run began in a new directory of that name.
TEST_F(ForeignModelDirTest, ACheckpointIsNoModelDir) {
  Estimator<TinyParams> estimator(TinyOptions(Prefix(10)));
  for (const absl::Status& status :
       {estimator.Train(Endless, MaxSteps(20)), estimator.Evaluate(Once).status()}) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                                 HasSubstr("Give its directory " + dir_.path())));
  }
  EXPECT_FALSE(IsDirectory(Prefix(10)));
}

// Fixed bug: there was nothing to train, so nobody looked whose variables these are.
TEST_F(ForeignModelDirTest, AModelDirOfAnotherModelIsRefusedAtMaxStepsToo) {
  for (const int max_steps : {5, 10, 20}) {
    EXPECT_THAT(OtherModel().Train(Endless, MaxSteps(max_steps)),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr(Prefix(10) + " does not fit"), HasSubstr("f32 [2,7]"),
                               HasSubstr("f32 [2,4]"))))
        << max_steps;
  }
  Estimator<TinyParams> own(TinyOptions(dir_.path()));
  EST_EXPECT_OK(own.Train(Endless, MaxSteps(5)));
  EST_EXPECT_OK(own.Train(Endless, MaxSteps(12))) << "the input was not moved by the check";
}

TEST_F(ForeignModelDirTest, AtMaxStepsSlotsMayBeMissing) {
  const auto reader = BundleReader::Open(Prefix(10)).value();
  EST_ASSERT_OK(CreateDirectories(dir_.File("weights")));
  const auto weights = BundleWriter::Open(dir_.File("weights/model.ckpt-10")).value();
  for (const std::string& name : reader->names()) {
    if (name.find("/Momentum") != std::string::npos) continue;
    EST_ASSERT_OK(weights->Add(name, reader->Read(name).value()));
  }
  EST_ASSERT_OK(weights->Finish());
  Estimator<TinyParams> estimator(TinyOptions(dir_.File("weights")));
  EST_EXPECT_OK(estimator.Train(Endless, MaxSteps(10)));
  EXPECT_EQ(estimator.Evaluate(Once)->global_step(), 10);
  EXPECT_THAT(estimator.Train(Endless, MaxSteps(11)), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ForeignModelDirTest, AtMaxStepsAnInputThatFailsGivesAWarningOnly) {
  const testing::CapturedLog log;
  Estimator<TinyParams> estimator(TinyOptions(dir_.path()));
  const auto gone = [](const TinyParams&) -> absl::StatusOr<Dataset> {
    return absl::NotFoundError("no such file");
  };
  EST_EXPECT_OK(estimator.Train(gone, MaxSteps(10)));
  EXPECT_THAT(log.warnings, Contains(AllOf(HasSubstr("it is not known whether " + Prefix(10)),
                                           HasSubstr("no such file"))));
}

Dataset Named(const std::string& name) {
  return Dataset::FromTensorSlices(TinyExamples(), name).Repeat().Batch(5);
}

// Fixed bug: a run on MNIST continued on digits that the program drew.
TEST_F(ForeignModelDirTest, ARunDoesNotContinueOnDataOfAnotherName) {
  const auto on = [](const std::string& name) {
    return [name](const TinyParams&) { return Named(name); };
  };
  const std::string dir = dir_.File("named");
  Estimator<TinyParams> estimator(TinyOptions(dir));
  EST_ASSERT_OK(estimator.Train(on("MNIST"), MaxSteps(5)));
  Estimator<TinyParams> other(TinyOptions(dir));
  const std::string path = InputStatePath(JoinPath(dir, "model.ckpt-5"));
  EXPECT_THAT(other.Train(on("drawn digits"), MaxSteps(8)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr(path), HasSubstr("on MNIST, now on drawn digits"),
                             HasSubstr("on purpose, set on_input_change to restart"))));
  EST_EXPECT_OK(other.Train(on("MNIST"), MaxSteps(6))) << "nothing was changed";
  auto options = TinyOptions(dir);
  options.config.on_input_change = RunConfig::OnInputChange::kRestart;
  Estimator<TinyParams> restarts(options);
  EST_EXPECT_OK(restarts.Train(on("drawn digits"), MaxSteps(8))) << "the cure of the message";
}

}  // namespace
}  // namespace estimator
