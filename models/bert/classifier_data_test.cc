#include "models/bert/classifier_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/data/parsing/example_builder.h"
#include "estimator/records/tfrecord.h"

namespace estimator::bert {
namespace {

using ::testing::ElementsAre;

class ClassifierDataTest : public ::testing::Test {
 protected:
  // Writes examples of three words. Example i has the ids i, i, i and the label i % 2.
  std::string Write(const std::string& name, int count, bool with_labels = true,
                    const std::vector<int>& padding = {}) {
    const std::string path = dir_.File(name);
    auto writer = TFRecordWriter::Open(path);
    EST_EXPECT_OK(writer);
    for (int i = 0; i < count; ++i) {
      ExampleBuilder example;
      example.Ints("input_ids", {i, i, i}).Ints("input_mask", {1, 1, 0});
      example.Ints("segment_ids", {0, 1, 1});
      if (with_labels) example.Ints("label_ids", {i % 2});
      for (const int padded : padding) {
        if (padded == i) example.Ints("is_real_example", {0});
      }
      EST_EXPECT_OK((*writer)->Write(example.Serialize()));
    }
    EST_EXPECT_OK((*writer)->Close());
    return path;
  }
  // The first ids of all examples, in their order.
  static std::vector<int> FirstIds(const Dataset& dataset, int max_batches = 100) {
    std::vector<int> ids;
    auto iterator = dataset.MakeIterator();
    EST_EXPECT_OK(iterator);
    for (int i = 0; i < max_batches; ++i) {
      const absl::StatusOr<std::optional<Element>> batch = (*iterator)->Next();
      EST_EXPECT_OK(batch);
      if (!batch.ok() || !batch->has_value()) break;
      const Array& values = (*batch)->features.at("input_ids");
      for (int64_t row = 0; row < values.shape()[0]; ++row)
        ids.push_back(values.Row(row).values<int32_t>()[0]);
    }
    return ids;
  }

  TempDir dir_;
};

TEST_F(ClassifierDataTest, EvaluationReadsEveryExampleOnceInOrder) {
  const std::string path = Write("a.tf_record", 5);
  const Dataset dataset = ClassifierDataset({path}, 3, Mode::kEval, 2);
  EXPECT_THAT(FirstIds(dataset), ElementsAre(0, 1, 2, 3, 4));
  auto iterator = dataset.MakeIterator();
  EST_ASSERT_OK(iterator);
  const absl::StatusOr<std::optional<Element>> batch = (*iterator)->Next();
  EST_ASSERT_OK(batch);
  EXPECT_EQ((*batch)->ToString(),
            "input_ids i32 [2,3], input_mask i32 [2,3], is_real_example i32 [2], label_ids "
            "i32 [2], segment_ids i32 [2,3]");
  EXPECT_THAT((*batch)->features.at("is_real_example").values<int32_t>(), ElementsAre(1, 1));
}

TEST_F(ClassifierDataTest, ExamplesThatOnlyFillUpABatchAreLeftOut) {
  const std::string path = Write("a.tf_record", 6, true, {4, 5});
  EXPECT_THAT(FirstIds(ClassifierDataset({path}, 3, Mode::kEval, 4)), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(FirstIds(ClassifierDataset({path}, 3, Mode::kPredict, 4)), ElementsAre(0, 1, 2, 3));
}

TEST_F(ClassifierDataTest, OnlyPredictionReadsExamplesWithoutLabels) {
  const std::string path = Write("a.tf_record", 3, /*with_labels=*/false);
  EXPECT_THAT(FirstIds(ClassifierDataset({path}, 3, Mode::kPredict, 2)), ElementsAre(0, 1, 2));
  auto iterator = ClassifierDataset({path}, 3, Mode::kEval, 2).MakeIterator();
  EST_ASSERT_OK(iterator);
  EXPECT_THAT((*iterator)->Next().status(), ErrorHas("label_ids"));
}

TEST_F(ClassifierDataTest, TrainingShufflesAndRepeats) {
  const std::string path = Write("a.tf_record", 64);
  const std::vector<int> ids = FirstIds(ClassifierDataset({path}, 3, Mode::kTrain, 32), 4);
  ASSERT_EQ(ids.size(), 128u);
  std::vector<int> counts(64, 0);
  for (const int id : ids) ++counts[id];
  EXPECT_THAT(counts, ::testing::Each(2));
  EXPECT_FALSE(std::is_sorted(ids.begin(), ids.begin() + 64));
}

TEST_F(ClassifierDataTest, FilesAreAListOfPatterns) {
  const std::string a = Write("a.tf_record", 1), b0 = Write("b-0.tf_record", 1),
                    b1 = Write("b-1.tf_record", 1);
  const auto files = FindExampleFiles(absl::StrCat(dir_.File("b-*"), ",", a), 3);
  EST_ASSERT_OK(files);
  EXPECT_THAT(*files, ElementsAre(b0, b1, a));
  EXPECT_THAT(FindExampleFiles(dir_.File("c-*"), 3).status(), ErrorHas("c-*"));
}

TEST_F(ClassifierDataTest, FilesWithoutSuchExamplesAreNamed) {
  const std::string path = Write("a.tf_record", 2);
  const absl::Status length = CheckExamples(path, 128);
  EXPECT_THAT(length, ErrorHas(path));
  EXPECT_THAT(length, ErrorHas("has 3 ids, but max_seq_length is 128"));
  EXPECT_THAT(CheckExamples(Write("empty.tf_record", 0), 3), ErrorHas("has no examples"));
  EST_ASSERT_OK(WriteFileAtomically(dir_.File("text"), "input_ids: 1 2 3 and some more words\n"));
  EXPECT_THAT(CheckExamples(dir_.File("text"), 3), ErrorHas(dir_.File("text")));
}

TEST_F(ClassifierDataTest, DrawnSentencesAreExamplesWhoseWordsTellTheClass) {
  const std::string path = dir_.File("drawn.tf_record");
  EST_ASSERT_OK(WriteDrawnSentences(
      path, {.count = 400, .max_seq_length = 24, .vocab_size = 105, .seed = 1}));
  auto iterator = ClassifierDataset({path}, 24, Mode::kEval, 400).MakeIterator();
  EST_ASSERT_OK(iterator);
  const absl::StatusOr<std::optional<Element>> batch = (*iterator)->Next();
  EST_ASSERT_OK(batch);
  ASSERT_TRUE(batch->has_value());
  const ArrayMap& features = (*batch)->features;
  int num_right = 0, num_of_class_1 = 0;
  for (int i = 0; i < 400; ++i) {
    const Array row = features.at("input_ids").Row(i), mask = features.at("input_mask").Row(i),
                segments = features.at("segment_ids").Row(i);
    const auto ids = row.values<int32_t>(), seen = mask.values<int32_t>(),
               sentence = segments.values<int32_t>();
    const int label = features.at("label_ids").values<int32_t>()[i];
    EXPECT_EQ(ids[0], 1);
    int votes = 0;
    for (int j = 0; j < 24; ++j) {
      EXPECT_LT(ids[j], 105);
      EXPECT_EQ(seen[j] == 1, ids[j] != 0) << i << " " << j;
      EXPECT_LE(sentence[j], seen[j]);
      if (ids[j] >= 5) votes += ids[j] < 55 ? -1 : 1;
    }
    num_right += (votes > 0) == (label == 1);
    num_of_class_1 += label;
  }
  EXPECT_GT(num_right, 320);  // of 400
  EXPECT_GT(num_of_class_1, 150);
  EXPECT_LT(num_of_class_1, 250);
}

}  // namespace
}  // namespace estimator::bert
