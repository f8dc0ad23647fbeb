#include "tools/train_graph/described_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "estimator/array/npy.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/data/parsing/example_builder.h"
#include "estimator/data/sources/idx.h"
#include "estimator/records/tfrecord.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Images u8 [?,2,2] and labels i32 [?].
std::vector<TrainGraphInput> ImagesAndLabels() {
  return {{.name = "IteratorGetNext:0",
           .key = "",
           .dtype = DType::kUint8,
           .shape = {-1, 2, 2},
           .used = true},
          {.name = "IteratorGetNext:1",
           .key = "",
           .dtype = DType::kInt32,
           .shape = {-1},
           .used = true}};
}

class DescribedInput : public ::testing::Test {
 protected:
  // Images whose pixels are the number of their row, and labels 10, 11, ...
  void WriteNpy(int64_t rows) {
    Array images(DType::kUint8, {rows, 2, 2}), labels(DType::kInt32, {rows});
    for (int64_t i = 0; i < rows * 4; ++i)
      images.values<uint8_t>()[static_cast<size_t>(i)] = static_cast<uint8_t>(i / 4);
    for (int64_t i = 0; i < rows; ++i)
      labels.values<int32_t>()[static_cast<size_t>(i)] = static_cast<int32_t>(10 + i);
    EST_ASSERT_OK(SaveNpy(dir_.File("x.npy"), images));
    EST_ASSERT_OK(SaveNpy(dir_.File("y.npy"), labels));
  }
  std::string Npy() const {
    return absl::StrCat("npy:", dir_.File("x.npy"), ",", dir_.File("y.npy"));
  }
  void Save(const std::string& name, const Array& array) const {
    EST_ASSERT_OK(SaveNpy(dir_.File(name), array));
  }
  // The first batches.
  static std::vector<Element> Read(const absl::StatusOr<Dataset>& dataset, size_t count = 100) {
    EXPECT_TRUE(dataset.ok()) << dataset.status();
    if (!dataset.ok()) return {};
    const auto iterator = dataset->MakeIterator();
    EXPECT_TRUE(iterator.ok()) << iterator.status();
    std::vector<Element> batches;
    while (iterator.ok() && batches.size() < count) {
      const absl::StatusOr<std::optional<Element>> next = (*iterator)->Next();
      EXPECT_TRUE(next.ok()) << next.status();
      if (!next.ok() || !next->has_value()) break;
      batches.push_back(**next);
    }
    return batches;
  }
  static std::string Error(const absl::StatusOr<Dataset>& dataset) {
    EXPECT_FALSE(dataset.ok());
    return std::string(dataset.status().message());
  }
  TempDir dir_;
};

TEST_F(DescribedInput, NamesAreInTheOrderOfTheInputs) {
  EXPECT_EQ(InputName(3, 7), "input_3");
  EXPECT_LT(InputName(9, 12), InputName(10, 12));
}

TEST_F(DescribedInput, ReadsNpyFilesInOrderAndRepeats) {
  WriteNpy(5);
  const auto batches =
      Read(MakeDescribedInput({.input = Npy(), .batch_size = 2}, ImagesAndLabels()), 3);
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[0].ToString(), "input_0 u8 [2,2,2], input_1 i32 [2]");
  EXPECT_THAT(batches[0].features.at("input_1").values<int32_t>(), ElementsAre(10, 11));
  EXPECT_THAT(batches[2].features.at("input_1").values<int32_t>(), ElementsAre(14, 10));
  EXPECT_THAT(batches[1].features.at("input_0").Row(1).values<uint8_t>(), Each(3));
}

TEST_F(DescribedInput, ShufflesTrainingAndReadsOnePassWithoutRepeat) {
  WriteNpy(5);
  const auto shuffled = Read(
      MakeDescribedInput({.input = Npy(), .batch_size = 5, .shuffle = 5}, ImagesAndLabels()), 4);
  ASSERT_EQ(shuffled.size(), 4u);
  bool moved = false;
  for (const Element& batch : shuffled) {
    const Array& labels = batch.features.at("input_1");
    for (int64_t i = 0; i < 5; ++i) moved |= labels.AsDouble(i) != 10 + static_cast<double>(i);
  }
  EXPECT_TRUE(moved);
  const auto once = Read(
      MakeDescribedInput({.input = Npy(), .batch_size = 2, .repeat = false}, ImagesAndLabels()));
  ASSERT_EQ(once.size(), 3u);
  EXPECT_EQ(once[2].features.at("input_1").shape(), Shape({1}));
}

// The user of the program cannot add a Prefetch, so advice to add one would be useless.
TEST_F(DescribedInput, ReadsBatchesAheadAndContinuesExactly) {
  WriteNpy(10);
  for (const std::string& input : {Npy(), std::string("fixed:0..255,0..9")}) {
    SetDefaultSeed(7);
    const auto dataset =
        MakeDescribedInput({.input = input, .batch_size = 3, .shuffle = 10}, ImagesAndLabels());
    SetDefaultSeed(std::nullopt);
    ASSERT_TRUE(dataset.ok()) << dataset.status();
    EXPECT_THAT(dataset->Advice(), IsEmpty()) << input;
    const std::vector<Element> whole = Read(dataset, 8);
    ASSERT_EQ(whole.size(), 8u);
    for (size_t position = 0; position < 8; ++position) {
      const auto first = dataset->MakeIterator().value();
      for (size_t i = 0; i < position; ++i) EST_ASSERT_OK(first->Next().status());
      const std::string state = first->SaveState().value();
      const auto resumed = dataset->MakeIterator().value();
      EST_ASSERT_OK(resumed->RestoreState(state));
      for (size_t i = position; i < 8; ++i) {
        const std::optional<Element> batch = resumed->Next().value();
        ASSERT_TRUE(batch.has_value());
        EXPECT_EQ(batch->features.at("input_0").values<uint8_t>(),
                  whole[i].features.at("input_0").values<uint8_t>())
            << input << ", resumed at " << position << ", batch " << i;
        EXPECT_EQ(batch->features.at("input_1").values<int32_t>(),
                  whole[i].features.at("input_1").values<int32_t>())
            << input << ", resumed at " << position << ", batch " << i;
      }
    }
  }
}

TEST_F(DescribedInput, ConvertsIntegersThatKeepTheirValues) {
  WriteNpy(2);
  Save("y.npy", Array::Of<int64_t>({2}, {7, -1}));
  const auto batches =
      Read(MakeDescribedInput({.input = Npy(), .batch_size = 2}, ImagesAndLabels()), 1);
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_THAT(batches[0].features.at("input_1").values<int32_t>(), ElementsAre(7, -1));
  Save("y.npy", Array::Of<int64_t>({2}, {7, int64_t{1} << 40}));
  EXPECT_THAT(Error(MakeDescribedInput({.input = Npy(), .batch_size = 2}, ImagesAndLabels())),
              AllOf(HasSubstr("y.npy is int64 [2]"), HasSubstr("IteratorGetNext:1 is int32 [?]"),
                    HasSubstr("astype(\"int32\")")));
}

TEST_F(DescribedInput, DoesNotTakeAByteForASignedOne) {
  const TrainGraphInput wanted{.name = "x:0", .key = "", .dtype = DType::kInt8, .shape = {-1}};
  EXPECT_FALSE(FitRows(Array::Of<uint8_t>({1}, {200}), "x.npy", wanted).ok());
  EXPECT_FALSE(FitRows(Array::Of<int32_t>({1}, {-1}), "x.npy",
                       {.name = "x:0", .key = "", .dtype = DType::kUint8, .shape = {-1}})
                   .ok());
  EXPECT_TRUE(FitRows(Array::Of<int32_t>({1}, {-1}), "x.npy", wanted).ok());
}

// An int8 of -56 passed as a uint8 of 200.
TEST_F(DescribedInput, DoesNotTakeASignedByteForAByte) {
  const TrainGraphInput wanted{.name = "x:0", .key = "", .dtype = DType::kUint8, .shape = {-1}};
  EXPECT_FALSE(FitRows(Array::Of<int8_t>({2}, {3, -56}), "x.npy", wanted).ok());
  const auto kept = FitRows(Array::Of<int8_t>({2}, {3, 127}), "x.npy", wanted);
  EST_ASSERT_OK(kept);
  EXPECT_THAT(kept->values<uint8_t>(), ElementsAre(3, 127));
}

TEST_F(DescribedInput, NamesAGraphWithoutInputs) {
  EXPECT_THAT(Error(MakeDescribedInput({.input = "npy:", .batch_size = 2}, {})),
              HasSubstr("the graph takes no input"));
}

TEST_F(DescribedInput, ReportsAllFilesThatDoNotFit) {
  Save("x.npy", Array(DType::kFloat32, {4, 4}));
  Save("y.npy", Array(DType::kFloat32, {4}));
  EXPECT_THAT(Error(MakeDescribedInput({.input = Npy(), .batch_size = 2}, ImagesAndLabels())),
              AllOf(HasSubstr("x.npy is float32 [4,4], but IteratorGetNext:0 is uint8 [?,2,2]"),
                    HasSubstr("numpy.reshape"),
                    HasSubstr("y.npy is float32 [4], but IteratorGetNext:1 is int32 [?]")));
  WriteNpy(4);
  Save("y.npy", Array(DType::kInt32, {3}));
  EXPECT_THAT(Error(MakeDescribedInput({.input = Npy(), .batch_size = 2}, ImagesAndLabels())),
              AllOf(HasSubstr("x.npy has 4 rows"), HasSubstr("y.npy has 3 rows")));
  Save("y.npy", Array(DType::kInt32, {}));
  EXPECT_THAT(Error(MakeDescribedInput({.input = Npy(), .batch_size = 2}, ImagesAndLabels())),
              HasSubstr("needs an axis 0"));
}

TEST_F(DescribedInput, NamesMissingFilesAndAWrongNumberOfThem) {
  const auto missing = MakeDescribedInput(
      {.input = absl::StrCat("npy:", dir_.File("a.npy"), ",", dir_.File("b.npy")), .batch_size = 2},
      ImagesAndLabels());
  EXPECT_TRUE(absl::IsNotFound(missing.status())) << missing.status();
  EXPECT_THAT(Error(missing), AllOf(HasSubstr("a.npy"), HasSubstr("b.npy")));
  EXPECT_THAT(Error(MakeDescribedInput({.input = "npy:a.npy", .batch_size = 2}, ImagesAndLabels())),
              AllOf(HasSubstr("gives 1 file, but the graph takes 2, in this order"),
                    HasSubstr("IteratorGetNext:1")));
  for (const char* const input : {"x.npy,y.npy", "numpy:x.npy,y.npy", ""}) {
    EXPECT_THAT(Error(MakeDescribedInput({.input = input, .batch_size = 2}, ImagesAndLabels())),
                AllOf(HasSubstr("--input must be npy:FILE,FILE"), HasSubstr("IteratorGetNext:1")));
  }
}

TEST_F(DescribedInput, ReadsIdxFiles) {
  EST_ASSERT_OK(WriteIdx(dir_.File("images"), Array(DType::kUint8, {3, 2, 2})));
  EST_ASSERT_OK(WriteIdx(dir_.File("labels"), Array::Of<uint8_t>({3}, {4, 5, 6})));
  const auto batches =
      Read(MakeDescribedInput(
               {.input = absl::StrCat("idx:", dir_.File("images"), ",", dir_.File("labels")),
                .batch_size = 3},
               ImagesAndLabels()),
           1);
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_THAT(batches[0].features.at("input_1").values<int32_t>(), ElementsAre(4, 5, 6));
}

TEST_F(DescribedInput, SaysThatPixelsMayHaveBeenScaled) {
  const TrainGraphInput wanted{
      .name = "x:0", .key = "", .dtype = DType::kFloat32, .shape = {-1, 2}};
  EXPECT_THAT(FitRows(Array(DType::kUint8, {3, 2}), "x.npy", wanted).status().message(),
              AllOf(HasSubstr("astype(\"float32\")"), HasSubstr("/ 255")));
}

TEST_F(DescribedInput, SaysThatIntegersDropTheFractionsOfScaledPixels) {
  const TrainGraphInput wanted{.name = "x:0", .key = "", .dtype = DType::kUint8, .shape = {-1, 2}};
  EXPECT_THAT(FitRows(Array(DType::kFloat64, {3, 2}), "x.npy", wanted).status().message(),
              AllOf(HasSubstr("astype(\"uint8\")"), HasSubstr("* 255")));
}

TEST_F(DescribedInput, SaysThatFilesMayBeInAnotherOrder) {
  Save("x.npy", Array(DType::kInt32, {4}));
  Save("y.npy", Array(DType::kUint8, {4, 2, 2}));
  EXPECT_THAT(Error(MakeDescribedInput({.input = Npy(), .batch_size = 2}, ImagesAndLabels())),
              AllOf(HasSubstr("it fits input 1, IteratorGetNext:1"),
                    HasSubstr("it fits input 0, IteratorGetNext:0"), HasSubstr("another order")));
}

TEST_F(DescribedInput, ParsesRecordsByAFeatureFile) {
  const auto writer = TFRecordWriter::Open(dir_.File("train-0")).value();
  for (int64_t i = 0; i < 4; ++i) {
    EST_ASSERT_OK(writer->Write(ExampleBuilder()
                                    .Bytes("pixels", {std::string(4, static_cast<char>(i))})
                                    .Ints("label", {20 + i})
                                    .Serialize()));
  }
  EST_ASSERT_OK(writer->Close());
  const auto features = [&](const std::string& text) {
    EST_EXPECT_OK(WriteFileAtomically(dir_.File("features"), text));
    return DescribedInputOptions{.input = absl::StrCat("tfrecord:", dir_.File("train-*")),
                                 .features = dir_.File("features"),
                                 .batch_size = 3};
  };
  const auto batches = Read(
      MakeDescribedInput(features("pixels raw:uint8 [2,2]\nlabel int32 []\n"), ImagesAndLabels()),
      2);
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_EQ(batches[0].ToString(), "input_0 u8 [3,2,2], input_1 i32 [3]");
  EXPECT_THAT(batches[0].features.at("input_0").Row(2).values<uint8_t>(), Each(2));
  EXPECT_THAT(batches[1].features.at("input_1").values<int32_t>(), ElementsAre(23, 20, 21));

  EXPECT_THAT(Error(MakeDescribedInput(features("pixels raw:uint8 [4]\nlabel int64 []\n"),
                                       ImagesAndLabels())),
              AllOf(HasSubstr("pixels is uint8 [4] for each example, but IteratorGetNext:0"),
                    HasSubstr("label is int64 []")));
  EXPECT_THAT(Error(MakeDescribedInput(features("label int32 []\n"), ImagesAndLabels())),
              HasSubstr("gives 1 feature, but the graph takes 2"));
  DescribedInputOptions none = features("pixels raw:uint8 [2,2]\nlabel int32 []\n");
  none.input = absl::StrCat("tfrecord:", dir_.File("test-*"));
  EXPECT_TRUE(absl::IsNotFound(MakeDescribedInput(none, ImagesAndLabels()).status()));
  none.features = "";
  EXPECT_THAT(Error(MakeDescribedInput(none, ImagesAndLabels())), HasSubstr("--features=FILE"));
}

TEST_F(DescribedInput, AStringOfAnotherLengthIsAnErrorOfTheRecord) {
  const auto writer = TFRecordWriter::Open(dir_.File("r")).value();
  EST_ASSERT_OK(
      writer->Write(ExampleBuilder().Bytes("pixels", {"abc"}).Ints("label", {1}).Serialize()));
  EST_ASSERT_OK(writer->Close());
  EST_ASSERT_OK(WriteFileAtomically(dir_.File("f"), "pixels raw:uint8 [2,2]\nlabel int32 []\n"));
  const auto dataset = MakeDescribedInput({.input = absl::StrCat("tfrecord:", dir_.File("r")),
                                           .features = dir_.File("f"),
                                           .batch_size = 1},
                                          ImagesAndLabels());
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_THAT(dataset->MakeIterator().value()->Next().status().message(),
              AllOf(HasSubstr("3 numbers of type uint8"), HasSubstr("[2,2]")));
}

TEST_F(DescribedInput, DrawsOneBatchBySeed) {
  const auto draw = [](int64_t seed) {
    return Read(MakeDescribedInput({.input = "fixed:0..255,3", .batch_size = 64, .seed = seed},
                                   ImagesAndLabels()),
                2);
  };
  const auto batches = draw(1);
  ASSERT_EQ(batches.size(), 2u);
  const Array first = batches[0].features.at("input_0");
  EXPECT_EQ(first.shape(), Shape({64, 2, 2}));
  EXPECT_EQ(first.values<uint8_t>(), batches[1].features.at("input_0").values<uint8_t>());
  EXPECT_EQ(first.values<uint8_t>(), draw(1)[0].features.at("input_0").values<uint8_t>());
  EXPECT_NE(first.values<uint8_t>(), draw(2)[0].features.at("input_0").values<uint8_t>());
  EXPECT_THAT(batches[0].features.at("input_1").values<int32_t>(), Each(3));
}

TEST_F(DescribedInput, GivesScalarsOnlyInAFixedBatch) {
  const std::vector<TrainGraphInput> wanted = {
      {.name = "x:0", .key = "", .dtype = DType::kFloat32, .shape = {-1, 3}},
      {.name = "keep_prob:0", .key = "", .dtype = DType::kFloat32, .shape = {}}};
  const auto batches =
      Read(MakeDescribedInput({.input = "fixed:-1..1,0.5", .batch_size = 2}, wanted), 1);
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_EQ(batches[0].features.at("input_1").scalar<float>(), 0.5f);
  for (const float value : batches[0].features.at("input_0").values<float>()) {
    EXPECT_GE(value, -1);
    EXPECT_LT(value, 1);
  }
  Save("x.npy", Array(DType::kFloat32, {4, 3}));
  Save("y.npy", Array(DType::kFloat32, {4}));
  EXPECT_THAT(Error(MakeDescribedInput({.input = Npy(), .batch_size = 2}, wanted)),
              HasSubstr("keep_prob:0 is a scalar"));
}

TEST_F(DescribedInput, RefusesRangesThatDoNotFit) {
  const auto error = [](const std::string& input) {
    return Error(MakeDescribedInput({.input = input, .batch_size = 2}, ImagesAndLabels()));
  };
  EXPECT_THAT(error("fixed:0..256,0"), HasSubstr("0..256 for IteratorGetNext:0, uint8"));
  EXPECT_THAT(error("fixed:0..1,0.5"), HasSubstr("whole numbers"));
  EXPECT_THAT(error("fixed:0..1"), HasSubstr("gives 1 range, but the graph takes 2"));
  EXPECT_THAT(error("fixed:9..1,0"), HasSubstr("'9..1' is neither"));
  EXPECT_THAT(error("fixed:a,0"), HasSubstr("'a' is neither"));
  EXPECT_THAT(Error(MakeDescribedInput(
                  {.input = "fixed:", .batch_size = 2},
                  {{.name = "words:0", .key = "", .dtype = DType::kInt32, .shape = {-1, -1}}})),
              HasSubstr("does not say the shape of words:0"));
}

TEST_F(DescribedInput, TakesTheBatchSizeOfTheGraph) {
  const std::vector<TrainGraphInput> fixed = {
      {.name = "x:0", .key = "", .dtype = DType::kFloat32, .shape = {16, 3}}};
  EXPECT_EQ(*ResolveBatchSize(0, 1, fixed), 16);
  EXPECT_EQ(*ResolveBatchSize(0, 4, fixed), 64);
  EXPECT_EQ(*ResolveBatchSize(16, 1, fixed), 16);
  EXPECT_THAT(ResolveBatchSize(8, 1, fixed).status().message(),
              AllOf(HasSubstr("built for batches of 16"), HasSubstr("--batch_size=16")));
  EXPECT_THAT(ResolveBatchSize(0, 1, ImagesAndLabels()).status().message(),
              HasSubstr("--batch_size must be positive"));
  EXPECT_EQ(*ResolveBatchSize(12, 4, ImagesAndLabels()), 12);
  EXPECT_THAT(ResolveBatchSize(10, 4, ImagesAndLabels()).status().message(),
              HasSubstr("4 replicas"));
}

}  // namespace
}  // namespace estimator
