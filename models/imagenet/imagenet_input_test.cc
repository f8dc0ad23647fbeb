#include "models/imagenet/imagenet_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "estimator/base/file.h"
#include "estimator/base/file_system.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/data/parsing/example_builder.h"
#include "estimator/image/jpeg/jpeg.h"
#include "estimator/records/tfrecord.h"
#include "models/imagenet/drawn_pictures.h"

namespace estimator::imagenet {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

void WriteRecords(const std::string& path, const std::vector<std::string>& records) {
  auto writer = TFRecordWriter::Open(path);
  EST_ASSERT_OK(writer);
  for (const std::string& record : records) EST_ASSERT_OK((*writer)->Write(record));
  EST_ASSERT_OK((*writer)->Close());
}

// Drawn pictures [begin, begin + count) in files of 5.
void WriteDrawn(const std::string& folder, const std::string& split, uint64_t begin, int count) {
  EST_ASSERT_OK(CreateDirectories(folder));
  const int num_files = (count + 4) / 5;
  for (int file = 0; file < num_files; ++file) {
    std::vector<std::string> records;
    for (int i = file * 5; i < std::min(count, file * 5 + 5); ++i)
      records.push_back(*DrawnExample(1, begin + static_cast<uint64_t>(i)));
    WriteRecords(absl::StrFormat("%s/%s-%05d-of-%05d", folder, split, file, num_files), records);
  }
}

class ImageNetInputTest : public ::testing::Test {
 protected:
  ImageNetInputOptions Options() const {
    return {.data_dir = dir_.path(), .image_size = 16, .num_label_classes = 10};
  }
  // The labels of all batches, each batch as a list.
  static std::vector<std::vector<int32_t>> Labels(const absl::StatusOr<Dataset>& dataset,
                                                  int max_batches = 1000) {
    EST_EXPECT_OK(dataset);
    auto iterator = dataset->MakeIterator();
    EST_EXPECT_OK(iterator);
    std::vector<std::vector<int32_t>> labels;
    while (static_cast<int>(labels.size()) < max_batches) {
      const absl::StatusOr<std::optional<Element>> element = (*iterator)->Next();
      EST_EXPECT_OK(element);
      if (!element.ok() || !element->has_value()) break;
      const auto values = (*element)->labels.at("").values<int32_t>();
      labels.emplace_back(values.begin(), values.end());
      EXPECT_EQ((*element)->features.at("").shape(),
                Shape({static_cast<int64_t>(values.size()), 16, 16, 3}));
    }
    return labels;
  }
  static absl::Status FirstError(const absl::StatusOr<Dataset>& dataset) {
    EST_EXPECT_OK(dataset);
    auto iterator = dataset->MakeIterator();
    if (!iterator.ok()) return iterator.status();
    while (true) {
      const absl::StatusOr<std::optional<Element>> element = (*iterator)->Next();
      if (!element.ok()) return element.status();
      if (!element->has_value()) return absl::OkStatus();
    }
  }

  TempDir dir_;
};

TEST_F(ImageNetInputTest, EvaluationReadsEveryRecordOnceAndInOrder) {
  WriteDrawn(dir_.path(), "validation", 0, 12);
  using Batches = std::vector<std::vector<int32_t>>;
  EXPECT_EQ(Labels(ImageNetDataset(Options(), Mode::kEval, 5)),
            (Batches{{0, 1, 2, 3, 4}, {5, 6, 7, 8, 9}, {0, 1}}));
  ImageNetInputOptions options = Options();
  options.num_eval_images = 7;
  EXPECT_EQ(Labels(ImageNetDataset(options, Mode::kEval, 5)), (Batches{{0, 1, 2, 3, 4}, {5, 6}}));
}

TEST_F(ImageNetInputTest, TrainingShufflesEveryEpochAndRepeats) {
  WriteDrawn(dir_.path(), "train", 0, 20);
  for (const bool use_cache : {false, true}) {
    ImageNetInputOptions options = Options();
    options.use_cache = use_cache;
    std::vector<int32_t> labels;
    for (const auto& batch : Labels(ImageNetDataset(options, Mode::kTrain, 4), 25))
      labels.insert(labels.end(), batch.begin(), batch.end());
    ASSERT_EQ(labels.size(), 100u);  // five epochs
    // With a cache, each epoch has every record once. Without, the buffer mixes epochs.
    const auto count = std::count(labels.begin(), labels.end(), 3);
    if (use_cache) {
      EXPECT_EQ(count, 10);
    } else {
      EXPECT_GT(count, 0);
    }
    const std::vector<int32_t> first(labels.begin(), labels.begin() + 20);
    const std::vector<int32_t> second(labels.begin() + 20, labels.begin() + 40);
    EXPECT_NE(first, second) << use_cache;
  }
}

TEST_F(ImageNetInputTest, AResumedRunSeesTheSameImages) {
  WriteDrawn(dir_.path(), "train", 0, 20);
  const absl::StatusOr<Dataset> dataset = ImageNetDataset(Options(), Mode::kTrain, 4);
  EST_ASSERT_OK(dataset);
  auto iterator = *dataset->MakeIterator();
  for (int i = 0; i < 7; ++i) EST_ASSERT_OK(iterator->Next());
  const absl::StatusOr<std::string> state = iterator->SaveState();
  EST_ASSERT_OK(state);
  auto resumed = *dataset->MakeIterator();
  EST_ASSERT_OK(resumed->RestoreState(*state));
  for (int i = 0; i < 5; ++i) {
    const auto expected = iterator->Next(), actual = resumed->Next();
    EST_ASSERT_OK(expected);
    EST_ASSERT_OK(actual);
    EXPECT_EQ((*actual)->labels.at("").values<int32_t>(),
              (*expected)->labels.at("").values<int32_t>());
    EXPECT_EQ((*actual)->features.at("").values<float>(),
              (*expected)->features.at("").values<float>());
  }
}

TEST_F(ImageNetInputTest, DrawnPicturesForTrainingAndTestingDiffer) {
  ImageNetInputOptions options = Options();
  options.data_dir = "";
  options.num_train_images = 40;
  options.num_eval_images = 25;
  int num_images = 0;
  for (const auto& batch : Labels(ImageNetDataset(options, Mode::kEval, 10)))
    num_images += static_cast<int>(batch.size());
  EXPECT_EQ(num_images, 25);
  std::vector<int32_t> labels;
  for (const auto& batch : Labels(ImageNetDataset(options, Mode::kTrain, 10), 4))
    labels.insert(labels.end(), batch.begin(), batch.end());
  for (int32_t label = 0; label < 10; ++label)
    EXPECT_EQ(std::count(labels.begin(), labels.end(), label), 4) << label;
}

TEST_F(ImageNetInputTest, FindsTheFilesInTheFolderOfTheSplitToo) {
  EXPECT_THAT(FindImageNetFiles(dir_.File("none"), Mode::kTrain).status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no such directory")));
  EXPECT_THAT(FindImageNetFiles(dir_.path(), Mode::kEval).status(),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr("/validation-* or "), HasSubstr("/validation/validation-*"),
                             HasSubstr("to_tfrecord"))));
  WriteDrawn(dir_.File("train"), "train", 0, 7);
  const auto files = FindImageNetFiles(dir_.path(), Mode::kTrain);
  EST_ASSERT_OK(files);
  EXPECT_EQ(*files, (std::vector<std::string>{dir_.File("train/train-00000-of-00002"),
                                              dir_.File("train/train-00001-of-00002")}));
}

TEST_F(ImageNetInputTest, ALabelOutOfRangeNamesItsFeature) {
  WriteDrawn(dir_.path(), "validation", 0, 10);
  ImageNetInputOptions options = Options();
  options.num_label_classes = 9;
  EXPECT_THAT(FirstError(ImageNetDataset(options, Mode::kEval, 2)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("image/class/label"),
                             HasSubstr("the label is 10, but must be in [1, 10)"))));
  options.num_label_classes = 10;
  options.first_label = 2;
  EXPECT_THAT(FirstError(ImageNetDataset(options, Mode::kEval, 2)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("the label is 1, but")));
}

TEST_F(ImageNetInputTest, ADamagedImageNamesItsFeature) {
  WriteRecords(dir_.File("validation-00000-of-00001"),
               {*DrawnExample(1, 0), ExampleBuilder()
                                         .Bytes("image/encoded", {"no image"})
                                         .Ints("image/class/label", {1})
                                         .Serialize()});
  EXPECT_THAT(FirstError(ImageNetDataset(Options(), Mode::kEval, 2)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("feature 'image/encoded'")));
}

TEST_F(ImageNetInputTest, SkipsDamagedRecordsAndImagesUpToALimit) {
  const auto example = [](const std::string& image, int64_t label) {
    return ExampleBuilder().Bytes("image/encoded", {image}).Ints("image/class/label", {label});
  };
  const std::string path = dir_.File("validation-00000-of-00001");
  WriteRecords(path, {*DrawnExample(1, 0), "no Example", *DrawnExample(1, 1),
                      example("no image", 1).Serialize(),
                      example(*image::EncodeJpeg(DrawPicture(1, 3).pixels), 11).Serialize(),
                      *DrawnExample(1, 4), *DrawnExample(1, 5)});
  std::string bytes = ReadFile(path).value();
  bytes[bytes.size() - 10] ^= 1;  // of the last record
  EST_ASSERT_OK(WriteFileAtomically(path, bytes));
  ImageNetInputOptions options = Options();
  options.num_parallel_calls = 1;  // with more, the source skips records ahead of the parser
  options.skip_bad_records = 4;
  EXPECT_EQ(Labels(ImageNetDataset(options, Mode::kEval, 4)),
            (std::vector<std::vector<int32_t>>{{0, 1, 4}}));
  options.skip_bad_records = 3;
  EXPECT_THAT(FirstError(ImageNetDataset(options, Mode::kEval, 4)),
              StatusIs(absl::StatusCode::kDataLoss, AllOf(HasSubstr(path), HasSubstr("record 6"),
                                                          HasSubstr("IgnoreErrors(3)"))));
  options.skip_bad_records = 1;
  EXPECT_THAT(FirstError(ImageNetDataset(options, Mode::kEval, 4)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("record 3"), HasSubstr("feature 'image/encoded'"))));
}

TEST_F(ImageNetInputTest, PredictionsHaveTheIdsOfTheirExamples) {
  const std::string jpeg = *image::EncodeJpeg(DrawPicture(1, 3).pixels);
  WriteRecords(dir_.File("test-0"),
               {ExampleBuilder().Bytes("image/encoded", {jpeg}).Bytes("name", {"b"}).Serialize(),
                ExampleBuilder().Bytes("image/encoded", {jpeg}).Serialize()});
  ImageNetInputOptions options = Options();
  WriteDrawn(dir_.path(), "validation", 0, 1);
  options.id_key = "name";
  options.predict_files = dir_.File("test-*");
  const absl::StatusOr<Dataset> dataset = ImageNetDataset(options, Mode::kPredict, 4);
  EST_ASSERT_OK(dataset);
  const auto iterator = dataset->MakeIterator();
  EST_ASSERT_OK(iterator);
  const auto batch = (*iterator)->Next();
  EST_ASSERT_OK(batch);
  ASSERT_TRUE(batch->has_value());
  EXPECT_EQ((*batch)->features.at("image").shape(), Shape({2, 16, 16, 3}));
  const Array& ids = (*batch)->features.at("example_id");
  EXPECT_EQ(ids.Row(0).values<uint8_t>()[0], 'b');
  EXPECT_EQ(ids.Row(0).values<uint8_t>()[1], 0);
  EXPECT_EQ(ids.Row(1).values<uint8_t>()[0], 0);
}

TEST_F(ImageNetInputTest, OtherNamesOfFeaturesCanBeGiven) {
  const std::string jpeg = *image::EncodeJpeg(DrawPicture(1, 3).pixels);
  WriteRecords(dir_.File("validation-00000-of-00001"),
               {ExampleBuilder().Bytes("image", {jpeg}).Ints("class", {0}).Serialize()});
  ImageNetInputOptions options = Options();
  options.image_key = "image";
  options.label_key = "class";
  options.first_label = 0;
  EXPECT_EQ(Labels(ImageNetDataset(options, Mode::kEval, 4)),
            (std::vector<std::vector<int32_t>>{{0}}));
}

}  // namespace
}  // namespace estimator::imagenet
