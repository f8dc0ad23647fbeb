// Models that TensorFlow wrote give what TensorFlow computed: testdata/saved_models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "estimator/array/compare.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/export/saved_model/saved_model_reader.h"
#include "estimator/export/serving/load_predictor.h"

namespace estimator {
namespace {

using Arrays = ArrayMap;

std::string Dir(const std::string& name) { return absl::StrCat("testdata/saved_models/", name); }

struct Golden {
  Arrays inputs, outputs;
};

Golden ReadGolden(const std::string& name, const std::string& signature) {
  Golden golden;
  const auto reader = BundleReader::Open(JoinPath(Dir(name), "golden"));
  EST_EXPECT_OK(reader);
  if (!reader.ok()) return golden;
  for (const std::string& full : (*reader)->names()) {
    absl::string_view key = full;
    if (!absl::ConsumePrefix(&key, signature + "/")) continue;
    const bool input = absl::ConsumePrefix(&key, "input/");
    if (!input) absl::ConsumePrefix(&key, "output/");
    const auto value = (*reader)->Read(full);
    EST_EXPECT_OK(value);
    if (value.ok()) (input ? golden.inputs : golden.outputs)[std::string(key)] = *value;
  }
  EXPECT_FALSE(golden.outputs.empty());
  return golden;
}

void ExpectSame(const Arrays& actual, const Arrays& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (const auto& [name, value] : expected) {
    ASSERT_EQ(actual.count(name), 1u) << name;
    const Difference difference =
        Compare(actual.at(name), value, {.relative = 1e-5, .absolute = 1e-6});
    EXPECT_TRUE(difference.equal) << name << ": " << difference.report;
  }
}

// The first `n` rows of every array.
Arrays Rows(const Arrays& arrays, int64_t n) {
  Arrays rows;
  for (const auto& [name, array] : arrays) rows[name] = array.Slice(0, n);
  return rows;
}

class SavedModelGoldenTest : public ::testing::TestWithParam<std::string> {};

TEST_P(SavedModelGoldenTest, GivesWhatTensorFlowComputed) {
  const auto model = SavedModelReader::Open(JoinPath(Dir(GetParam()), "model"));
  EST_ASSERT_OK(model);
  ASSERT_FALSE((*model)->signatures().empty());
  for (const auto& [name, signature] : (*model)->signatures()) {
    SCOPED_TRACE(name);
    const auto predictor =
        LoadPredictor(JoinPath(Dir(GetParam()), "model"), {.signature_key = name});
    EST_ASSERT_OK(predictor);
    const Golden golden = ReadGolden(GetParam(), name);
    const auto outputs = (*predictor)->Predict(golden.inputs);
    EST_ASSERT_OK(outputs);
    ExpectSame(*outputs, golden.outputs);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, SavedModelGoldenTest,
                         ::testing::Values("mnist", "batch_norm", "attention", "parsing",
                                           "classifier", "estimator", "tf2_module", "keras",
                                           "loops", "loop_gradients"),
                         [](const auto& info) { return info.param; });

TEST(SavedModelGolden, OnePredictorServesBatchesOfAnySize) {
  const auto predictor = LoadPredictor(JoinPath(Dir("mnist"), "model"));
  EST_ASSERT_OK(predictor);
  const Golden golden = ReadGolden("mnist", "serving_default");
  for (const int64_t n : {5, 1, 3, 5}) {
    const auto outputs = (*predictor)->Predict(Rows(golden.inputs, n));
    EST_ASSERT_OK(outputs);
    ExpectSame(*outputs, Rows(golden.outputs, n));
  }
}

TEST(SavedModelGolden, ATrainingGraphsMetaFileRunsByTensorNames) {
  auto model = SavedModelReader::Open(JoinPath(Dir("meta_graph"), "model.ckpt.meta"));
  EST_ASSERT_OK(model);
  EXPECT_TRUE((*model)->signatures().empty());
  const auto predictor = LoadPredictor(
      *std::move(model),
      SavedSignature{.method_name = "",
                     .inputs = {{"x", {"x:0", DType::kFloat32, std::nullopt}},
                                {"labels", {"labels:0", DType::kInt32, std::nullopt}}},
                     .outputs = {{"logits", {"logits:0", DType::kFloat32, std::nullopt}},
                                 {"loss", {"the_loss:0", DType::kFloat32, std::nullopt}}}});
  EST_ASSERT_OK(predictor);
  const Golden golden = ReadGolden("meta_graph", "train");
  const auto outputs = (*predictor)->Predict(golden.inputs);
  EST_ASSERT_OK(outputs);
  ExpectSame(*outputs, golden.outputs);
}

}  // namespace
}  // namespace estimator
