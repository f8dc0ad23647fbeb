#include "models/common/evaluated_examples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_split.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/image/png/png.h"

namespace estimator {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

// An example whose picture has one gray.
Prediction ExampleRow(const Array& label, const std::vector<float>& scores, uint8_t gray = 0) {
  return {{kExampleLabel, label},
          {kExamplePicture, Array::Of<uint8_t>({1, 1}, {gray})},
          {"probabilities", Array::FromSpan<float>({static_cast<int64_t>(scores.size())}, scores)}};
}

class EvaluatedExamplesTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::vector<std::string>> Write(const std::vector<Prediction>& rows,
                                                 const ExamplesOptions& options = {}) {
    size_t i = 0;
    return WriteExampleRows(
        dir_.path(),
        [&]() -> absl::StatusOr<std::optional<Prediction>> {
          if (i == rows.size()) return std::nullopt;
          return rows[i++];
        },
        options);
  }
  std::vector<json> Lines() const {
    const std::string text = ReadFile(dir_.File(kExamplesFile)).value();
    std::vector<json> lines;
    for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty()))
      lines.push_back(json::parse(line.begin(), line.end()));
    return lines;
  }
  TempDir dir_;
};

TEST_F(EvaluatedExamplesTest, TitlesAreThoseOfTheGuide) {
  EST_ASSERT_OK_AND_ASSIGN(const auto titles,
                           Write({ExampleRow(Array::Scalar<int32_t>(1), {0.25f, 0.75f}, 7),
                                  ExampleRow(Array::Scalar<int32_t>(0), {0.125f, 0.875f})},
                                 {.classes = {"roses", "tulips"}}));
  EXPECT_THAT(titles, ElementsAre("tulips [correct]", "tulips [incorrect, should be roses]"));
  const std::vector<json> lines = Lines();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], json::parse(R"({"checkpoint":"","classes":["roses","tulips"],
                                      "multi_label":false})"));
  EXPECT_EQ(lines[1]["label"], json::parse("[1]"));
  EXPECT_EQ(lines[1]["scores"], json::parse("[0.25,0.75]"));
  EXPECT_EQ(lines[1]["sure"], 0.75);
  EXPECT_EQ(lines[2]["sure"], 0.125);
  std::string png;
  ASSERT_TRUE(absl::Base64Unescape(lines[1]["png"].get<std::string>(), &png));
  EXPECT_EQ(image::DecodePng(png)->values<uint8_t>()[0], 7);
  // The second title is red.
  const Array sheet = image::DecodePng(ReadFile(dir_.File("examples.png")).value()).value();
  int red[2] = {0, 0};
  for (int64_t i = 0; i < sheet.num_elements(); i += 3) {
    const uint8_t* const pixel = sheet.data<uint8_t>() + i;
    if (pixel[0] > pixel[1] + 50) ++red[i / 3 % sheet.shape()[1] * 2 / sheet.shape()[1]];
  }
  EXPECT_EQ(red[0], 0);
  EXPECT_GT(red[1], 100);
}

TEST_F(EvaluatedExamplesTest, AnExampleMayHaveSeveralLabels) {
  const auto labels = [](int64_t a, int64_t b) { return Array::Of<int64_t>({2}, {a, b}); };
  EST_ASSERT_OK_AND_ASSIGN(const auto titles, Write({ExampleRow(labels(1, 1), {0.75f, 0.625f}),
                                                     ExampleRow(labels(0, 0), {0.75f, 0.25f}),
                                                     ExampleRow(labels(0, 1), {0.25f, 0.25f})},
                                                    {.classes = {"rust", "scab"}}));
  EXPECT_THAT(titles, ElementsAre("rust, scab [correct]", "rust [incorrect, should be none]",
                                  "none [incorrect, should be scab]"));
  EXPECT_EQ(Lines()[0]["multi_label"], true);
  EXPECT_EQ(Lines()[1]["sure"], 0.625);
  EXPECT_EQ(Lines()[2]["sure"], 0.25);
}

TEST_F(EvaluatedExamplesTest, TheFirstTheBestAndTheWorstHavePictures) {
  std::vector<Prediction> rows;
  for (int i = 0; i < 200; ++i) {
    const float sure = static_cast<float>((i * 77) % 200) / 200;
    rows.push_back(ExampleRow(Array::Scalar<int32_t>(0), {sure, 1 - sure}));
  }
  EST_ASSERT_OK(Write(rows));
  const std::vector<json> lines = Lines();
  ASSERT_EQ(lines.size(), 201u);
  for (size_t i = 0; i < 200; ++i) {
    const size_t rank = (i * 77) % 200;
    EXPECT_EQ(lines[i + 1].contains("png"),
              i < 9 || rank < kNumShownExamples || rank >= 200 - kNumShownExamples)
        << i << " with rank " << rank;
  }
}

TEST_F(EvaluatedExamplesTest, LabelsAndPicturesPassBesideTheModel) {
  const auto with = [](const ArrayMap& labels, const ExamplesOptions& options) {
    const Element batch{.features = {{"image", Array::Of<uint8_t>({2, 1, 1}, {5, 6})}},
                        .labels = labels};
    const Dataset dataset = Dataset::FromTensors(batch);
    return (*WithExampleFeatures(dataset, options).MakeIterator())->Next();
  };
  EST_ASSERT_OK_AND_ASSIGN(const auto one, with(Array::Of<int32_t>({2}, {1, 0}), {}));
  EXPECT_THAT(one->features.at(kExampleLabel).values<int32_t>(), ElementsAre(1, 0));
  EXPECT_THAT(one->features.at(kExamplePicture).values<uint8_t>(), ElementsAre(5, 6));
  const ArrayMap named = {{"a", Array::Of<int64_t>({2}, {1, 0})},
                          {"b", Array::Of<int64_t>({2}, {0, 0})}};
  EST_ASSERT_OK_AND_ASSIGN(const auto two, with(named, {.classes = {"b", "a"}}));
  EXPECT_EQ(two->features.at(kExampleLabel).shape(), (Shape{2, 2}));
  EXPECT_THAT(two->features.at(kExampleLabel).values<int64_t>(), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(with(named, {.classes = {"b", "c"}}).status(), ErrorHas("no array is named \"c\""));
}

TEST_F(EvaluatedExamplesTest, WrongLabelsAndPicturesAreRefused) {
  EXPECT_THAT(Write({}).status(), ErrorHas("there are no examples"));
  EXPECT_THAT(Write({ExampleRow(Array::Scalar<int32_t>(2), {0.5f, 0.5f})}).status(),
              ErrorHas("2 scores, and the label 2"));
  EXPECT_THAT(Write({ExampleRow(Array::Of<int64_t>({1}, {1}), {0.5f, 0.5f})}).status(),
              ErrorHas("2 scores, and the label 1"));
  Prediction wide = ExampleRow(Array::Scalar<int32_t>(0), {1.f});
  wide[kExamplePicture] = Array(DType::kUint8, {1, 1, 7});
  EXPECT_THAT(Write({wide}).status(), ErrorHas("ExamplesOptions::picture"));
}

}  // namespace
}  // namespace estimator
