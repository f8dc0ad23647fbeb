// Expected elements are those of TF 2.15's tf.data.Dataset.bucket_by_sequence_length.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/data/pipeline/dataset.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kLengths[] = {3, 1, 7, 2, 5, 4, 1, 6, 2, 9, 3, 0, 5};

// Element i has kLengths[i] tokens of value i + 1, and the label i.
absl::StatusOr<Element> Tokens(const Element& number) {
  const int64_t i = number.features.Only()->scalar<int64_t>();
  Array tokens(DType::kInt64, {kLengths[i]});
  std::fill_n(tokens.data<int64_t>(), tokens.num_elements(), i + 1);
  return Element{.features = {{"t", tokens}}, .labels = Array::Scalar(i)};
}
Dataset Sentences() {
  return Dataset::Range(0, 13).Map(
      Tokens, {.output_signature =
                   ElementSpec{.features = {{"t", {DType::kInt64, Shape{Shape::kUnknownDim}}}},
                               .labels = ArraySpec{DType::kInt64, Shape{}}}});
}
absl::StatusOr<int64_t> Length(const Element& element) {
  return element.features.at("t").shape()[0];
}

// The tokens and labels of each batch; an error ends the list.
std::vector<std::string> Texts(const Dataset& dataset) {
  std::vector<std::string> texts;
  const auto iterator = dataset.MakeIterator();
  if (!iterator.ok()) return {std::string(iterator.status().message())};
  while (true) {
    const auto batch = (*iterator)->Next();
    if (!batch.ok()) texts.emplace_back(batch.status().message());
    if (!batch.ok() || !batch->has_value()) return texts;
    texts.push_back(absl::StrReplaceAll(absl::StrCat((*batch)->features.at("t").ToString(100), " ",
                                                     (*batch)->labels.Only()->ToString(100)),
                                        {{",\n ", ", "}}));
  }
}

TEST(BucketBySequenceLength, PadsEachBatchToItsLongestElement) {
  EXPECT_THAT(
      Texts(Sentences().BucketBySequenceLength(Length, {3, 6}, {3, 2, 2})),
      ElementsAre("[[1, 1, 1, 0, 0], [5, 5, 5, 5, 5]] [0, 4]", "[[2, 0], [4, 4], [7, 0]] [1, 3, 6]",
                  "[[3, 3, 3, 3, 3, 3, 3], [8, 8, 8, 8, 8, 8, 0]] [2, 7]",
                  "[[6, 6, 6, 6], [11, 11, 11, 0]] [5, 10]", "[[9, 9], [0, 0]] [8, 11]",
                  "[[13, 13, 13, 13, 13]] [12]", "[[10, 10, 10, 10, 10, 10, 10, 10, 10]] [9]"));
}

TEST(BucketBySequenceLength, DropsWhatFillsNoBatch) {
  EXPECT_THAT(Texts(Sentences().BucketBySequenceLength(Length, {3, 6}, {3, 2, 2},
                                                       {.drop_remainder = true})),
              ElementsAre(HasSubstr("[0, 4]"), HasSubstr("[1, 3, 6]"), HasSubstr("[2, 7]"),
                          HasSubstr("[5, 10]")));
}

TEST(BucketBySequenceLength, PadsToTheBoundaryMinusOne) {
  const std::vector<std::string> batches = Texts(Sentences().BucketBySequenceLength(
      Length, {3, 6, 10}, {3, 2, 2, 1}, {.pad_to_bucket_boundary = true}));
  ASSERT_EQ(batches.size(), 7u);
  EXPECT_EQ(batches[2], "[[3, 3, 3, 3, 3, 3, 3, 0, 0], [8, 8, 8, 8, 8, 8, 0, 0, 0]] [2, 7]");
  EXPECT_EQ(batches[3], "[[6, 6, 6, 6, 0], [11, 11, 11, 0, 0]] [5, 10]");
  EXPECT_EQ(batches[4], "[[9, 9], [0, 0]] [8, 11]");
}

TEST(BucketBySequenceLength, PadsWithTheGivenValueToTheGivenShape) {
  const std::vector<std::string> batches = Texts(Sentences().BucketBySequenceLength(
      Length, {3, 6}, {3, 2, 2}, {.padded_shapes = {{"t", {10}}}, .padding_values = {{"t", -1}}}));
  ASSERT_EQ(batches.size(), 7u);
  EXPECT_EQ(batches[4],
            "[[9, 9, -1, -1, -1, -1, -1, -1, -1, -1], "
            "[-1, -1, -1, -1, -1, -1, -1, -1, -1, -1]] [8, 11]");
}

TEST(BucketBySequenceLength, StacksElementsOfOneShapeWithoutPadding) {
  const Dataset dataset = Sentences().BucketBySequenceLength(
      Length, {1, 2, 3, 4, 5, 6, 7, 8, 9}, std::vector<int64_t>(10, 2), {.no_padding = true});
  EXPECT_THAT(Texts(dataset),
              ElementsAre("[[2], [7]] [1, 6]", "[[4, 4], [9, 9]] [3, 8]",
                          "[[1, 1, 1], [11, 11, 11]] [0, 10]",
                          "[[5, 5, 5, 5, 5], [13, 13, 13, 13, 13]] [4, 12]", HasSubstr("[11]"),
                          HasSubstr("[5]"), HasSubstr("[7]"), HasSubstr("[2]"), HasSubstr("[9]")));
  EXPECT_THAT(
      Texts(Sentences().BucketBySequenceLength(Length, {3}, {2, 2}, {.no_padding = true})),
      ElementsAre(HasSubstr("BucketBySequenceLength: Batch: features[\"t\"] differs within a "
                            "batch")));
}

TEST(BucketBySequenceLength, HasOneBucketWithoutBoundaries) {
  const std::vector<std::string> batches =
      Texts(Sentences().BucketBySequenceLength(Length, {}, {4}));
  ASSERT_EQ(batches.size(), 4u);
  EXPECT_EQ(batches[3], "[[13, 13, 13, 13, 13]] [12]");
  EXPECT_TRUE(Texts(Sentences().Take(0).BucketBySequenceLength(Length, {}, {4})).empty());
}

TEST(BucketBySequenceLength, KnowsTheSpecOfItsBatches) {
  const Dataset dataset = Sentences().BucketBySequenceLength(Length, {3}, {2, 2});
  ASSERT_TRUE(dataset.element_spec().has_value());
  EXPECT_EQ(dataset.element_spec()->ToString(), "t i64 [?,?], labels i64 [?]");
  EXPECT_EQ(dataset.Cardinality(), -1);
  EXPECT_EQ(dataset.ExamplesPerEpoch(), -1) << "the rest of each bucket is a smaller batch";
  const Dataset repeated = Sentences().Repeat().BucketBySequenceLength(Length, {3}, {2, 2});
  EXPECT_EQ(repeated.Cardinality(), Dataset::kInfinite);
  EXPECT_EQ(repeated.ExamplesPerEpoch(), 13);
  EXPECT_EQ(Sentences().Repeat().BucketBySequenceLength(Length, {3}, {3, 2}).ExamplesPerEpoch(),
            -1);
}

TEST(BucketBySequenceLength, RefusesBucketsThatDoNotFit) {
  const auto error = [](std::vector<int64_t> boundaries, std::vector<int64_t> sizes) {
    return Sentences().BucketBySequenceLength(Length, boundaries, sizes).MakeIterator().status();
  };
  EXPECT_THAT(error({3, 6}, {1, 2}), ErrorIs("BucketBySequenceLength: there are 2 "
                                             "bucket_batch_sizes and 2 bucket_boundaries; there "
                                             "must be one batch size more than boundaries"));
  EXPECT_THAT(error({6, 6}, {1, 2, 3}), ErrorHas("bucket_boundaries are 6, 6; each must be "
                                                 "greater"));
  EXPECT_THAT(error({3}, {0, 2}), ErrorHas("bucket_batch_sizes are 0, 2; each must be at least 1"));
  EXPECT_THAT(Texts(Sentences().BucketBySequenceLength(Length, {3}, {1, 2},
                                                       {.padded_shapes = {{"u", {3}}}})),
              ElementsAre(HasSubstr("BucketBySequenceLength: padded_shapes names \"u\"")));
}

TEST(BucketBySequenceLength, NamesAnElementThatNoBoundaryPads) {
  EXPECT_THAT(Texts(Sentences().BucketBySequenceLength(Length, {3, 6}, {3, 2, 2},
                                                       {.pad_to_bucket_boundary = true})),
              ElementsAre(HasSubstr("has length 7, but with pad_to_bucket_boundary every length "
                                    "must be less than the last of bucket_boundaries (3, 6)")));
  const Dataset unknown = Dataset::Range(0, 13).Map(Tokens);
  EXPECT_THAT(
      Texts(unknown.BucketBySequenceLength(Length, {10}, {2, 1}, {.pad_to_bucket_boundary = true})),
      ElementsAre(HasSubstr("element 0 of Range(0, 13): which axes of features[\"t\"] (i64 "
                            "[3]) to pad to the bucket's boundary is not known")));
  EXPECT_EQ(Texts(unknown.BucketBySequenceLength(Length, {10}, {13, 1},
                                                 {.padded_shapes = {{"t", {Shape::kUnknownDim}}},
                                                  .pad_to_bucket_boundary = true}))
                .size(),
            1u);
}

TEST(BucketBySequenceLength, NamesTheElementWhoseLengthFails) {
  const auto fails = [](const Element& e) -> absl::StatusOr<int64_t> {
    if (*Length(e) == 7) return absl::InvalidArgumentError("no length");
    return Length(e);
  };
  EXPECT_THAT(Texts(Sentences().BucketBySequenceLength(fails, {100}, {9, 9})),
              ElementsAre("BucketBySequenceLength: element 2 of Range(0, 13): no length"));
}

// A rare length waits while many others pass. The state must not grow with them.
TEST(BucketBySequenceLength, HasASmallPositionHoweverLongAnElementWaits) {
  const auto length = [](const Element& e) -> absl::StatusOr<int64_t> {
    return e.features.Only()->scalar<int64_t>() == 0 ? 9 : 1;
  };
  const Dataset dataset = Dataset::Range(0, 100000).BucketBySequenceLength(length, {5}, {10, 2});
  const auto iterator = dataset.MakeIterator().value();
  for (int i = 0; i < 5000; ++i) EST_ASSERT_OK(iterator->Next());
  const std::string state = iterator->SaveState().value();
  EXPECT_LT(state.size(), 200u);
  const auto resumed = dataset.MakeIterator().value();
  EST_ASSERT_OK(resumed->RestoreState(state));
  EXPECT_EQ((*resumed->Next())->features.Only()->data<int64_t>()[0], 50001);
}

}  // namespace
}  // namespace estimator
