// Continues the training of testdata/train_graph/lengths, a folder of TensorFlow 2.15.1 whose graph
// does not know the length of its sentences: each batch has the length of its longest one.
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
#include "tools/train_graph/model_folder.h"
#include "tpu/tpu_estimator.h"

namespace estimator {
namespace {

std::string File(const std::string& name) {
  return absl::StrCat("testdata/train_graph/lengths/", name);
}

// Cuts the sentences, which end in zeros, after the longest one.
absl::StatusOr<Element> Trim(const Element& batch) {
  const Array tokens = *batch.features.Only();
  const int64_t rows = tokens.shape()[0], columns = tokens.shape()[1];
  int64_t longest = 0;
  for (int64_t i = 0; i < tokens.num_elements(); ++i) {
    if (tokens.data<int32_t>()[i] != 0) longest = std::max(longest, i % columns + 1);
  }
  Array trimmed(DType::kInt32, {rows, longest});
  for (int64_t row = 0; row < rows; ++row) {
    std::copy_n(tokens.data<int32_t>() + row * columns, longest,
                trimmed.data<int32_t>() + row * longest);
  }
  return Element{.features = trimmed, .labels = batch.labels};
}

Dataset Sentences(const tpu::Params&) {
  return Dataset::FromTensorSlices(
             {.features = LoadNpy(File("x.npy")).value(), .labels = LoadNpy(File("y.npy")).value()})
      .Batch(8, {.drop_remainder = true})
      .Map(Trim);
}

TEST(Lengths, ContinueAsTensorFlowDid) {
  const TempDir dir;
  EST_ASSERT_OK(PrepareFolder(dir.path(), File("model.ckpt-5.meta")));
  const auto model_fn = ImportModelFn(dir.File("model.ckpt-5.meta"));
  EST_ASSERT_OK(model_fn);
  tpu::RunConfig config;
  config.model_dir = dir.path();
  tpu::TPUEstimator<> estimator(
      {.model_fn = *model_fn, .config = config, .use_tpu = false, .train_batch_size = 8});
  const auto losses = std::make_shared<LossRecorder>(model_fn->info().loss);
  // Two calls: the second one continues with the next length.
  for (const int64_t steps : {7, 13})
    EST_ASSERT_OK(estimator.Train(Sentences, Steps(steps), {.hooks = {losses}}));

  const Array golden = LoadNpy(File("losses.npy")).value();
  ASSERT_EQ(losses->losses.size(), static_cast<size_t>(golden.num_elements()));
  for (int64_t i = 0; i < golden.num_elements(); ++i) {
    EXPECT_NEAR(losses->losses[static_cast<size_t>(i)], golden.AsDouble(i), 1e-5)
        << "step " << 6 + i;
  }
  const auto expected = ListVariables(File("final"));
  EST_ASSERT_OK(expected);
  for (const auto& [name, spec] : *expected) {
    const Array ours = LoadVariable(dir.path(), name).value();
    const Array theirs = LoadVariable(File("final"), name).value();
    ASSERT_EQ(ours.shape(), theirs.shape()) << name;
    for (int64_t j = 0; j < ours.num_elements(); ++j)
      ASSERT_NEAR(ours.AsDouble(j), theirs.AsDouble(j), 1e-4) << name << ", element " << j;
  }
}

}  // namespace
}  // namespace estimator
