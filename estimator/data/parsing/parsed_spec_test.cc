// The element specs of pipelines that read and parse files: they are known when the pipeline is
// built, and so are its errors.
#include "estimator/data/parsing/parsed_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/data/parsing/example_builder.h"
#include "estimator/data/parsing/parse_example.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/data/sources/csv_dataset.h"
#include "estimator/data/sources/file_datasets.h"
#include "estimator/records/tfrecord.h"

namespace estimator {
namespace {

FeatureSpecs Specs() {
  return {{"image", FixedLenFeature{.dtype = DType::kString}},
          {"box", FixedLenSequenceFeature{.dtype = DType::kFloat32, .shape = {4}}},
          {"words", VarLenFeature{.dtype = DType::kInt64, .max_length = 5}},
          {"label", FixedLenFeature{.dtype = DType::kInt32, .shape = {2}}}};
}

std::string SpecText(const Dataset& dataset) {
  EST_EXPECT_OK(dataset.MakeIterator());
  const std::optional<ElementSpec> spec = dataset.element_spec();
  return spec ? spec->ToString() : "unknown";
}
absl::StatusOr<Element> Same(const Element& element) { return element; }

class ParsedSpecTest : public ::testing::Test {
 protected:
  // Two files with three Examples each.
  ParsedSpecTest() {
    for (const char* const name : {"train-0", "train-1"}) {
      const auto writer = TFRecordWriter::Open(dir_.File(name)).value();
      for (int64_t i = 0; i < 3; ++i) {
        EST_EXPECT_OK(writer->Write(ExampleBuilder()
                                        .Bytes("image", {"jpeg"})
                                        .Floats("box", std::vector<float>(4 * i, 1))
                                        .Ints("words", std::vector<int64_t>(i, 7))
                                        .Ints("label", {i, i})
                                        .Serialize()));
      }
      EST_EXPECT_OK(writer->Close());
    }
  }
  Dataset Records(TFRecordDatasetOptions options = {}) {
    return TFRecordDataset({dir_.File("train-*")}, options);
  }
  // Checks that each element has the spec of the dataset.
  static void ExpectElementsHaveTheSpec(const Dataset& dataset, int64_t count) {
    const std::optional<ElementSpec> spec = dataset.element_spec();
    ASSERT_TRUE(spec.has_value());
    const auto iterator = dataset.MakeIterator().value();
    int64_t elements = 0;
    while (true) {
      const auto element = iterator->Next();
      EST_ASSERT_OK(element);
      if (!element->has_value()) break;
      ++elements;
      EST_EXPECT_OK(
          CheckSpec(*spec, "the spec", SpecOf(**element), "the element", CompareShapes::kYes));
    }
    EXPECT_EQ(elements, count);
  }
  TempDir dir_;
};

TEST_F(ParsedSpecTest, OfFilesIsKnownWithAnyOptions) {
  EXPECT_EQ(SpecText(Records()), "features str []");
  EXPECT_EQ(SpecText(Records({.num_parallel_reads = 2})), "features str []");
  EXPECT_EQ(SpecText(Records({.indexed = true})), "features str []");
  EXPECT_EQ(SpecText(Records({.num_parallel_reads = 2}).Shuffle(4).Repeat(2).Batch(2)),
            "features str [?]");
  EXPECT_EQ(SpecText(TextLineDataset({dir_.File("train-0")}).Cache(dir_.File("cache"))),
            "features str []");
}

TEST_F(ParsedSpecTest, OfParseExampleHasTheShapesOfItsFeatures) {
  const MapFunction parse = ParseExample(Specs(), {"label"});
  for (const int reads : {1, 2}) {
    const Dataset parsed = Records({.num_parallel_reads = reads}).Map(parse);
    EXPECT_EQ(SpecText(parsed),
              "box f32 [?,4], image str [], words i64 [5], words_length i32 [], labels i32 [2]");
    ExpectElementsHaveTheSpec(parsed, 6);
    ExpectElementsHaveTheSpec(parsed.PaddedBatch(4), 2);
  }
  const Dataset batched = Records().Batch(4).Map(parse);
  EXPECT_EQ(SpecText(batched),
            "box f32 [?,?,4], image str [?], words i64 [?,5], words_length i32 [?], labels i32 "
            "[?,2]");
  ExpectElementsHaveTheSpec(batched, 2);
  EXPECT_EQ(SpecText(Records().Batch(2, {.drop_remainder = true}).Map(parse)),
            "box f32 [2,?,4], image str [2], words i64 [2,5], words_length i32 [2], labels i32 "
            "[2,2]");
  EXPECT_EQ(SpecText(Records().Map(parse).Cache(dir_.File("cache")).Prefetch(1)),
            SpecText(Records().Map(parse)));
}

// After a function without a signature, the names and the dtypes are still known.
TEST_F(ParsedSpecTest, OfParseExampleHasNoShapesIfItsInputIsNotKnown) {
  const Dataset parsed = Records().Map(Same).Map(ParseExample(Specs(), {"label"}));
  EXPECT_EQ(SpecText(parsed),
            "box f32 of unknown rank, image str of unknown rank, words i64 of unknown rank, "
            "words_length i32 of unknown rank, labels i32 of unknown rank");
  ExpectElementsHaveTheSpec(parsed, 6);
  EXPECT_THAT(Dataset::Zip({parsed, Dataset::FromTensorSlices(
                                        {.features = {{"image", Array(DType::kUint8, {6, 2})}},
                                         .labels = {}})})
                  .MakeIterator(),
              ErrorHas("Zip: features[\"image\"] is in dataset 0 (str of unknown rank) and in "
                       "dataset 1 (u8 [2])"));
}

TEST_F(ParsedSpecTest, OfParseExampleRefusesAtTheBuildWhatItCannotParse) {
  const Dataset numbers = Dataset::Range(0, 3);
  EXPECT_THAT(numbers.Map(ParseExample(Specs())).MakeIterator(),
              ErrorIs("Map: ParseExample takes a serialized Example (string []) or a batch of them "
                      "(string [n]); the elements are features i64 []"));
  EXPECT_THAT(Records().Batch(2).Batch(2).Map(ParseExample(Specs())).MakeIterator(),
              ErrorHas("the elements are features str [?,?]"));
  EXPECT_THAT(Records().Map(ParseExample(Specs(), {"lable"})).MakeIterator(),
              ErrorHas("Map: the label \"lable\" is none of the parsed features, or is given "
                       "twice; the others are \"box\", \"image\", \"label\""));
  EXPECT_THAT(
      Records().Map(ParseExample({{"x", FixedLenFeature{.dtype = DType::kUint8}}})).MakeIterator(),
      ErrorHas("Map: Key: x.  Examples hold float32, int64"));
  EXPECT_THAT(
      Records()
          .Map(ParseExample(Specs()),
               {.output_signature = ElementSpec{.features = {{"image", {DType::kUint8, Shape{}}}}}})
          .MakeIterator(),
      ErrorHas("Map: features[\"image\"] is u8 [] in output_signature, but str [] in the "
               "results of the function"));
  EXPECT_THAT(
      Records()
          .Map(ParseExample(Specs()))
          .PaddedBatch(2, {.padded_shapes = {{"boxes", {9}}}})
          .MakeIterator(),
      ErrorHas("PaddedBatch: padded_shapes names \"boxes\", but the elements are box f32 [?,4]"));
}

TEST(ParsedSpec, OfParseSequenceExampleHasAnAxisOfSteps) {
  const MapFunction parse =
      ParseSequenceExample({{"id", FixedLenFeature{.dtype = DType::kInt32}}},
                           {{"pairs", FixedLenSequenceFeature{.shape = {2}}},
                            {"padded", FixedLenSequenceFeature{.shape = {2}, .max_length = 7}},
                            {"words", VarLenFeature{.dtype = DType::kInt64}}},
                           {"id"});
  const Dataset examples = Dataset::FromTensorSlices(
      {.features = Array::Strings({ExampleBuilder().Ints("id", {1}).Serialize()}), .labels = {}});
  const Dataset parsed = examples.Map(parse);
  EXPECT_EQ(SpecText(parsed),
            "padded f32 [7,2], pairs f32 [?,2], words i64 [?,?], words_length i32 [?], labels i32 "
            "[]");
  const auto element = parsed.MakeIterator().value()->Next().value();
  EST_EXPECT_OK(CheckSpec(*parsed.element_spec(), "the spec", SpecOf(*element), "the element",
                          CompareShapes::kYes));
  EXPECT_THAT(examples.Repeat(2).Batch(2, {.drop_remainder = true}).Map(parse).MakeIterator(),
              ErrorHas("ParseSequenceExample takes one serialized SequenceExample (string []); the "
                       "elements are features str [2]; map before Batch"));
  EXPECT_THAT(examples.Map(ParseSequenceExample({}, {{"pairs", FixedLenFeature{}}})).MakeIterator(),
              ErrorHas("Map: Key: pairs.  A FixedLenFeature is no sequence"));
}

TEST_F(ParsedSpecTest, OfCsvFilesIsThatOfTheColumns) {
  const std::string path = dir_.File("train-0");  // it is not read before Next
  const std::vector<Array> defaults = {Array::Scalar(0.0f), Array::Scalar<int64_t>(0),
                                       Array::String("")};
  EXPECT_EQ(SpecText(CsvDataset({path}, defaults,
                                {.column_names = {"price", "rooms", "city"}, .labels = {"rooms"}})),
            "city str [], price f32 [], labels i64 []");
  EXPECT_EQ(SpecText(CsvDataset({path}, defaults, {.labels = {"column_0", "column_1"}}).Batch(2)),
            "column_2 str [?], column_0 f32 [?], column_1 i64 [?]");
}

}  // namespace
}  // namespace estimator
