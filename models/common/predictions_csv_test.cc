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

TEST(PredictionsCsv, HasColumnsOfOnesOwn) {
  const TempDir dir;
  Prediction a = Row("", 1, {0.25f, 0.75f}), b = Row("", 0, {1.f, 0.f});
  a["image_name"] = Array::String("Test_0, first");
  b["image_name"] = Array::String("Test_1");
  const std::vector<PredictionColumns> columns = {
      {.names = {"image_id"}, .key = "image_name"},
      {.names = {"healthy", "rust"}, .key = "probabilities"},
      {.names = {"class"}, .key = "classes"},
      {.names = {"sure"}, .text = [](const Prediction& row) -> std::string {
         return row.at("probabilities").AsDouble(0) == 1 ? "yes" : "no";
       }}};
  EXPECT_EQ(WritePredictionsCsv(dir.File("p.csv"), Next({a, b}), {.columns = columns}).value(), 2);
  EXPECT_EQ(ReadFile(dir.File("p.csv")).value(),
            "image_id,healthy,rust,class,sure\n"
            "\"Test_0, first\",0.25,0.75,1,no\n"
            "Test_1,1,0,0,yes\n");
}

TEST(PredictionsCsv, ColumnsThatDoNotFitAreErrors) {
  const TempDir dir;
  const auto error = [&](const PredictionColumns& columns) {
    return WritePredictionsCsv(dir.File("p.csv"), Next({Row("", 1, {0.25f, 0.75f})}),
                               {.columns = {columns}})
        .status();
  };
  EXPECT_THAT(error({.names = {"a", "b", "c"}, .key = "probabilities"}),
              ErrorHas("prediction 'probabilities' is f32 [2], but there are 3 columns for it: a, "
                       "b, c"));
  EXPECT_THAT(error({.names = {"id"}, .key = "image_name"}),
              ErrorHas("the model has no prediction 'image_name', only classes, example_id, "
                       "probabilities"));
  EXPECT_THAT(error({.names = {"a", "b"}, .text = [](const Prediction&) { return "x"; }}),
              ErrorHas("PredictionColumns::text fills one column, not 2: a, b"));
  EXPECT_FALSE(ReadFile(dir.File("p.csv")).ok());
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
