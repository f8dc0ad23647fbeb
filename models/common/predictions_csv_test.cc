#include "models/common/predictions_csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator {
namespace {

Prediction Row(const std::string& id, int64_t label, const std::vector<float>& probabilities) {
  return {{"example_id", ExampleId(id).value()},
          {"classes", Array::Scalar(label)},
          {"probabilities",
           Array::FromSpan<float>({static_cast<int64_t>(probabilities.size())}, probabilities)}};
}

// Gives the rows in turn.
auto Next(std::vector<Prediction> rows) {
  return [rows = std::move(rows),
          i = size_t{0}]() mutable -> absl::StatusOr<std::optional<Prediction>> {
    if (i == rows.size()) return std::nullopt;
    return rows[i++];
  };
}

TEST(PredictionsCsv, HasIdsAndLabels) {
  const TempDir dir;
  const std::string path = dir.File("p.csv");
  const std::vector<Prediction> rows = {Row("a.jpg", 3, {}), Row("", 0, {}),
                                        Row("with, \"quotes\"\n", 1, {})};
  EXPECT_EQ(WritePredictionsCsv(path, Next(rows), {.first_label = 1}).value(), 3);
  EXPECT_EQ(ReadFile(path).value(), "id,class\na.jpg,4\n1,1\n\"with, \"\"quotes\"\"\n\",2\n");
  EXPECT_EQ(WritePredictionsCsv(path, Next({}), {}).value(), 0);
  EXPECT_EQ(ReadFile(path).value(), "id,class\n");
}

TEST(PredictionsCsv, HasProbabilitiesOnRequest) {
  const TempDir dir;
  const std::vector<Prediction> rows = {Row("a", 1, {0.25f, 0.75f}), Row("b", 0, {1.f, 0.f})};
  EST_EXPECT_OK(
      WritePredictionsCsv(dir.File("p.csv"), Next(rows), {.probabilities_key = "probabilities"}));
  EXPECT_EQ(ReadFile(dir.File("p.csv")).value(),
            "id,class,probability_0,probability_1\na,1,0.25,0.75\nb,0,1,0\n");
}

TEST(PredictionsCsv, AnErrorKeepsTheOldFile) {
  const TempDir dir;
  const std::string path = dir.File("p.csv");
  EST_ASSERT_OK(WriteFileAtomically(path, "old"));
  int calls = 0;
  const auto failing = [&]() -> absl::StatusOr<std::optional<Prediction>> {
    if (++calls == 2) return absl::DataLossError("record 1 is damaged");
    return Row("a", 1, {});
  };
  EXPECT_THAT(WritePredictionsCsv(path, failing), ErrorHas("record 1 is damaged"));
  const std::vector<Prediction> rows = {Row("a", 1, {})};
  EXPECT_THAT(WritePredictionsCsv(path, Next(rows), {.class_key = "class_ids"}),
              ErrorHas("the model has no prediction 'class_ids'"));
  EXPECT_EQ(ReadFile(path).value(), "old");
}

TEST(PredictionsCsv, IdsThatDoNotFitAreErrors) {
  EST_EXPECT_OK(ExampleId(std::string(kExampleIdBytes, 'x')));
  EXPECT_THAT(ExampleId(std::string(kExampleIdBytes + 1, 'x')),
              ErrorHas("has 257 bytes, but at most 256 are possible"));
  EXPECT_THAT(ExampleId(std::string("a\0b", 3)), ErrorHas("zero byte"));
}

}  // namespace
}  // namespace estimator
