#include "models/mnist/mnist_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/base/usage_error.h"

namespace estimator::mnist {
namespace {

// The bytes of an IDX file of u8 numbers: a magic word, big-endian sizes, the numbers.
std::string Idx(const std::vector<int>& sizes, const std::string& values) {
  std::string bytes = {'\0', '\0', '\x08', static_cast<char>(sizes.size())};
  for (const int size : sizes) {
    for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<char>(size >> shift));
  }
  return bytes + values;
}

// `n` images; image i is all i.
std::string Images(int n) {
  std::string values;
  for (int i = 0; i < n; ++i) values += std::string(kImagePixels, static_cast<char>(i));
  return Idx({n, 28, 28}, values);
}

std::string Labels(const std::string& values) {
  return Idx({static_cast<int>(values.size())}, values);
}

class MnistDataTest : public testing::Test {
 protected:
  void SetUp() override {
    Write("train-images-idx3-ubyte", Images(5));
    Write("train-labels-idx1-ubyte", Labels({5, 0, 4, 1, 9}));
    Write("t10k-images-idx3-ubyte", Images(3));
    Write("t10k-labels-idx1-ubyte", Labels({7, 2, 1}));
  }
  void Write(const std::string& name, const std::string& bytes) {
    EST_ASSERT_OK(WriteFileAtomically(dir_.File(name), bytes));
  }
  // Checks that the files cannot be read, and that the message has all the parts.
  void ExpectError(absl::StatusCode code, const std::vector<std::string>& parts) {
    const absl::Status status = ReadMnist(dir_.path()).status();
    EXPECT_EQ(status.code(), code) << status;
    for (const std::string& part : parts) {
      EXPECT_THAT(status, ErrorHas(part)) << "\nlacks: " << part;
    }
  }

  TempDir dir_;
};

TEST_F(MnistDataTest, ReadsTheFourFiles) {
  const absl::StatusOr<MnistData> data = ReadMnist(dir_.path());
  EST_ASSERT_OK(data);
  EXPECT_EQ(data->train.images.TypeString(), "u8 [5,28,28]");
  EXPECT_EQ(data->train.images.Row(3).AsDouble(100), 3);
  EXPECT_EQ(data->train.labels.TypeString(), "i32 [5]");
  EXPECT_EQ(data->train.labels.AsDouble(4), 9);
  EXPECT_EQ(data->test.images.TypeString(), "u8 [3,28,28]");
  EXPECT_EQ(data->test.labels.AsDouble(0), 7);
}

TEST_F(MnistDataTest, ReadsAFileThatIsCompressed) {
  // python3 -c "import gzip; print(gzip.compress(bytes([0,0,8,1,0,0,0,3,5,0,4]), 9,
  // mtime=0).hex())"
  const std::vector<unsigned char> bytes = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00,
                                            0x02, 0x03, 0x63, 0x60, 0xe0, 0x60, 0x64, 0x60,
                                            0x60, 0x60, 0x66, 0x65, 0x60, 0x01, 0x00, 0x76,
                                            0xba, 0xe6, 0x0f, 0x0b, 0x00, 0x00, 0x00};
  EST_ASSERT_OK(RemoveFile(dir_.File("t10k-labels-idx1-ubyte")));
  Write("t10k-labels-idx1-ubyte.gz", std::string(bytes.begin(), bytes.end()));
  const absl::StatusOr<MnistData> data = ReadMnist(dir_.path());
  EST_ASSERT_OK(data);
  EXPECT_EQ(data->test.labels.AsDouble(0), 5);
  EXPECT_EQ(data->test.labels.AsDouble(2), 4);
}

TEST_F(MnistDataTest, SkipsRecordsWithoutADigitUpToALimit) {
  Write("train-labels-idx1-ubyte", Labels({5, 77, 4, 10, 9}));
  const absl::StatusOr<MnistData> data = ReadMnist(dir_.path(), 2);
  EST_ASSERT_OK(data);
  EXPECT_EQ(data->train.images.TypeString(), "u8 [3,28,28]");
  EXPECT_EQ(data->train.images.Row(1).AsDouble(100), 2);
  EXPECT_EQ(data->train.images.Row(2).AsDouble(100), 4);
  EXPECT_EQ(data->train.labels.AsDouble(1), 4);
  EXPECT_EQ(data->train.labels.AsDouble(2), 9);
  EXPECT_EQ(data->test.labels.TypeString(), "i32 [3]");
  EXPECT_THAT(ReadMnist(dir_.path(), 1).status(),
              ErrorHas("record 3 has label 10, which is not in [0, 10); 1 bad records before it"));
  EXPECT_THAT(ReadMnist(dir_.path()).status(), ErrorHas("record 1 has label 77"));
}

TEST(MnistData, AMissingDirectoryIsNamedWithTheFilesThatItShouldHave) {
  const absl::Status status = ReadMnist("/no/such/place").status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
  for (const char* part :
       {"no such directory: '/no/such/place'", "train-images-idx3-ubyte", "train-labels-idx1-ubyte",
        "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", ".gz"}) {
    EXPECT_THAT(status, ErrorHas(part));
  }
}

TEST_F(MnistDataTest, AllMissingFilesAreNamedTogether) {
  EST_ASSERT_OK(RemoveFile(dir_.File("train-images-idx3-ubyte")));
  EST_ASSERT_OK(RemoveFile(dir_.File("t10k-labels-idx1-ubyte")));
  ExpectError(absl::StatusCode::kNotFound,
              {dir_.path(), "has no train-images-idx3-ubyte, no t10k-labels-idx1-ubyte"});
}

TEST_F(MnistDataTest, ATruncatedFileIsNamed) {
  const std::string whole = Images(5);
  Write("train-images-idx3-ubyte", whole.substr(0, whole.size() - 1));
  ExpectError(absl::StatusCode::kDataLoss, {dir_.File("train-images-idx3-ubyte")});
}

TEST_F(MnistDataTest, AFileThatIsNotIdxIsNamed) {
  Write("t10k-labels-idx1-ubyte", "<html>404 Not Found</html>");
  ExpectError(absl::StatusCode::kDataLoss, {dir_.File("t10k-labels-idx1-ubyte")});
}

TEST_F(MnistDataTest, ImagesWithoutALabelAreAnErrorThatGivesBothCounts) {
  Write("train-labels-idx1-ubyte", Labels({1, 2, 3, 4}));
  ExpectError(absl::StatusCode::kInvalidArgument,
              {"train-images-idx3-ubyte has 5 images", "train-labels-idx1-ubyte has 4 labels"});
}

TEST_F(MnistDataTest, ALabelOutOfRangeIsNamedWithItsFileAndRecord) {
  Write("train-labels-idx1-ubyte", Labels({1, 2, 3, 10, 11}));
  ExpectError(absl::StatusCode::kInvalidArgument,
              {dir_.File("train-labels-idx1-ubyte"), "record 3 has label 10"});
}

TEST_F(MnistDataTest, ImagesOfAnotherSizeAreAnError) {
  Write("t10k-images-idx3-ubyte", Idx({3, 8, 8}, std::string(192, '\0')));
  ExpectError(absl::StatusCode::kInvalidArgument,
              {"t10k-images-idx3-ubyte", "u8 [N,28,28]", "u8 [3,8,8]"});
}

TEST_F(MnistDataTest, FilesWithNothingInThemAreAnError) {
  Write("t10k-images-idx3-ubyte", Images(0));
  Write("t10k-labels-idx1-ubyte", Labels(""));
  ExpectError(absl::StatusCode::kInvalidArgument, {"t10k-images-idx3-ubyte", "has no images"});
}

TEST(MnistData, IsDrawnWhereThereIsNoDirectory) {
  const absl::StatusOr<MnistData> data =
      LoadMnist("", 20, {.draw = {.num_train = 20, .num_test = 7}});
  EST_ASSERT_OK(data);
  EXPECT_EQ(data->train.images.TypeString(), "u8 [20,28,28]");
  EXPECT_EQ(data->test.labels.TypeString(), "i32 [7]");
}

TEST(MnistData, ABatchLargerThanTheSetIsRefusedBeforeAnyDigitIsDrawn) {
  const absl::Status status = LoadMnist("", 70000).status();
  EXPECT_TRUE(IsUsageError(status));
  EXPECT_THAT(status,
              ErrorIs("--batch_size must be at most the 60000 training images, given 70000"));
}

TEST(MnistData, DrawnTestDigitsStayTheSameHoweverManyAreTrainedOn) {
  const MnistData few = DrawMnist({.num_train = 1, .num_test = 4});
  const MnistData many = DrawMnist({.num_train = 50, .num_test = 4});
  EXPECT_EQ(few.test.images.ToString(28), many.test.images.ToString(28));
  EXPECT_NE(many.train.images.Slice(0, 4).ToString(28), many.test.images.ToString(28));
}

// `num_batches` batches, or all; the labels in each.
std::vector<std::vector<int>> LabelsOf(const Dataset& dataset, int num_batches = 1000) {
  std::vector<std::vector<int>> batches;
  absl::StatusOr<std::unique_ptr<Iterator>> iterator = dataset.MakeIterator();
  EST_EXPECT_OK(iterator);
  for (int i = 0; i < num_batches; ++i) {
    const absl::StatusOr<std::optional<Element>> batch = (*iterator)->Next();
    EST_EXPECT_OK(batch);
    if (!batch.ok() || !batch->has_value()) break;
    const Array images = (*batch)->features.at("image"), labels = (*(*batch)->labels.Only());
    batches.emplace_back();
    for (int64_t row = 0; row < labels.num_elements(); ++row) {
      batches.back().push_back(static_cast<int>(labels.AsDouble(row)));
      EXPECT_EQ(images.Row(row).AsDouble(0), labels.AsDouble(row)) << "not the label of its image";
    }
  }
  return batches;
}

// Ten examples: image i is all i, and has label i.
DigitSet Ten() {
  DigitSet set = {.images = Array(DType::kUint8, {10, 28, 28}),
                  .labels = Array(DType::kInt32, {10})};
  for (int i = 0; i < 10; ++i) {
    set.labels.data<int32_t>()[i] = i;
    std::fill_n(set.images.data<uint8_t>() + i * kImagePixels, kImagePixels,
                static_cast<uint8_t>(i));
  }
  return set;
}

TEST(MnistDataset, EvaluationSeesEveryExampleOnceInOrder) {
  for (const Mode mode : {Mode::kEval, Mode::kPredict}) {
    EXPECT_EQ(LabelsOf(MnistDataset(Ten(), mode, 4)),
              (std::vector<std::vector<int>>{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}}));
  }
}

TEST(MnistDataset, TrainingNeverEndsAndShufflesEachEpochAnew) {
  const std::vector<std::vector<int>> batches =
      LabelsOf(MnistDataset(Ten(), Mode::kTrain, 5), /*num_batches=*/20);
  ASSERT_EQ(batches.size(), 20u);
  std::set<std::vector<int>> orders;
  for (size_t epoch = 0; epoch < 10; ++epoch) {
    std::vector<int> order = batches[2 * epoch];
    order.insert(order.end(), batches[2 * epoch + 1].begin(), batches[2 * epoch + 1].end());
    EXPECT_EQ(std::set<int>(order.begin(), order.end()).size(), 10u) << "epoch " << epoch;
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 8u);
}

TEST(MnistDataset, TrainingBatchesAreFullAlsoAcrossEpochs) {
  for (const std::vector<int>& batch : LabelsOf(MnistDataset(Ten(), Mode::kTrain, 16), 5)) {
    EXPECT_EQ(batch.size(), 16u);
  }
}

TEST(FirstExamples, AreAtMostAllOfThem) {
  EXPECT_EQ(FirstExamples(Ten(), 3).images.TypeString(), "u8 [3,28,28]");
  EXPECT_EQ(FirstExamples(Ten(), 30).labels.TypeString(), "i32 [10]");
}

}  // namespace
}  // namespace estimator::mnist
