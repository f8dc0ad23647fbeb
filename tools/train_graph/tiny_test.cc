// Continues the training of a folder that TensorFlow 2.15.1 wrote, testdata/train_graph/tiny, and
// compares losses, variables and slots with those of TensorFlow.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/array/npy.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/load.h"
#include "estimator/training/import_model_fn.h"
#include "estimator/training/testing/loss_recorder.h"
#include "tools/train_graph/described_input.h"
#include "tools/train_graph/model_folder.h"
#include "tpu/tpu_estimator.h"

namespace estimator {
namespace {

constexpr char kTiny[] = "testdata/train_graph/tiny/";
constexpr int64_t kSteps = 20;

std::string Tiny(const std::string& name) { return absl::StrCat(kTiny, name); }

// Trains in `model_dir`, from its newest checkpoint on, and returns the loss of each step. The
// input continues at the position of the checkpoint; TensorFlow's checkpoint has none.
std::vector<double> Train(const std::string& model_dir, int64_t steps) {
  constexpr int64_t kBatch = 8;
  const auto meta = FindGraph(model_dir, "");
  EST_EXPECT_OK(meta.status());
  const auto model_fn = ImportModelFn(meta.value_or(""));
  EXPECT_TRUE(model_fn.ok()) << model_fn.status();
  if (!model_fn.ok()) return {};
  const auto dataset = MakeDescribedInput(
      {.input = absl::StrCat("npy:", Tiny("x.npy"), ",", Tiny("y.npy")), .batch_size = kBatch},
      model_fn->info().inputs);
  EXPECT_TRUE(dataset.ok()) << dataset.status();
  if (!dataset.ok()) return {};
  tpu::RunConfig config;
  config.model_dir = model_dir;
  tpu::TPUEstimator<> estimator(
      {.model_fn = *model_fn, .config = config, .use_tpu = false, .train_batch_size = kBatch});
  const auto losses = std::make_shared<LossRecorder>(model_fn->info().loss);
  EST_EXPECT_OK(estimator.Train([&](const tpu::Params&) { return *dataset; }, Steps(steps),
                                {.hooks = {losses}}));
  return losses->losses;
}

void ExpectLosses(const std::vector<double>& losses) {
  const auto golden = LoadNpy(Tiny("losses.npy"));
  ASSERT_TRUE(golden.ok()) << golden.status();
  ASSERT_EQ(golden->num_elements(), kSteps);
  ASSERT_EQ(losses.size(), static_cast<size_t>(kSteps));
  for (int64_t i = 0; i < kSteps; ++i) {
    const double expected = golden->AsDouble(i);
    EXPECT_NEAR(losses[static_cast<size_t>(i)], expected, 1e-5 * std::max(1.0, expected))
        << "step " << 6 + i;
  }
}

TEST(Tiny, ContinuesAsTensorFlowDid) {
  const TempDir dir;
  EST_ASSERT_OK(PrepareFolder(dir.path(), Tiny("model.ckpt-5.meta")));
  ExpectLosses(Train(dir.path(), kSteps));

  const auto expected = ListVariables(Tiny("final"));
  const auto actual = ListVariables(dir.path());
  ASSERT_TRUE(expected.ok()) << expected.status();
  ASSERT_TRUE(actual.ok()) << actual.status();
  ASSERT_EQ(expected->size(), actual->size());
  for (size_t i = 0; i < expected->size(); ++i) {
    const auto& [name, spec] = (*expected)[i];
    EXPECT_EQ(name, (*actual)[i].first);
    EXPECT_EQ(spec, (*actual)[i].second) << name;
    const Array ours = LoadVariable(dir.path(), name).value();
    const Array theirs = LoadVariable(Tiny("final"), name).value();
    ASSERT_EQ(ours.num_elements(), theirs.num_elements()) << name;
    for (int64_t j = 0; j < ours.num_elements(); ++j)
      ASSERT_NEAR(ours.AsDouble(j), theirs.AsDouble(j), 1e-4) << name << ", element " << j;
  }
}

// Dropout and the input continue where the first call stopped.
TEST(Tiny, ResumesExactly) {
  const TempDir dir;
  EST_ASSERT_OK(PrepareFolder(dir.path(), Tiny("model.ckpt-5.meta")));
  std::vector<double> losses = Train(dir.path(), 7);
  const std::vector<double> rest = Train(dir.path(), kSteps - 7);
  losses.insert(losses.end(), rest.begin(), rest.end());
  ExpectLosses(losses);
}

}  // namespace
}  // namespace estimator
