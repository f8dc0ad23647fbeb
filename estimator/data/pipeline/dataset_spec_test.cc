// The element specs of pipelines: what is known when they are built, and which errors that gives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/data/pipeline/dataset.h"

namespace estimator {
namespace {

Dataset Images(DType dtype = DType::kUint8, const Shape& shape = {10, 28, 28}) {
  return Dataset::FromTensorSlices({.features = {{"image", Array(dtype, shape)}}, .labels = {}});
}
Dataset Labels() {
  return Dataset::FromTensorSlices({.features = Array(DType::kInt32, {10}), .labels = {}});
}
std::string SpecText(const Dataset& dataset) {
  EST_EXPECT_OK(dataset.MakeIterator());
  const std::optional<ElementSpec> spec = dataset.element_spec();
  return spec ? spec->ToString() : "unknown";
}
absl::StatusOr<Element> Same(const Element& element) { return element; }
absl::StatusOr<bool> All(const Element&) { return true; }
absl::Status FirstError(const Dataset& dataset) {
  const auto iterator = dataset.MakeIterator();
  if (!iterator.ok()) return absl::InternalError("an error when built");
  while (true) {
    const auto element = (*iterator)->Next();
    if (!element.ok()) return element.status();
    if (!element->has_value()) return absl::OkStatus();
  }
}

TEST(DatasetSpec, IsKnownWhenThePipelineIsBuilt) {
  EXPECT_EQ(SpecText(Dataset::Range(0, 3)), "features i64 []");
  EXPECT_EQ(SpecText(Dataset::FromTensors({.features = Array(DType::kFloat32, {2}), .labels = {}})),
            "features f32 [2]");
  const Dataset both = Dataset::Zip(Images(), Labels());
  EXPECT_EQ(SpecText(both), "image u8 [28,28], labels i32 []");
  EXPECT_EQ(SpecText(both.Filter(All).Shuffle(3).Repeat().Cache().Take(3).Skip(1).Shard(2, 0)),
            "image u8 [28,28], labels i32 []");
  EXPECT_EQ(SpecText(both.TakeWhile(All).Prefetch(2)), "image u8 [28,28], labels i32 []");
  EXPECT_EQ(SpecText(both.Batch(4)), "image u8 [?,28,28], labels i32 [?]");
  EXPECT_EQ(SpecText(both.Batch(4, {.drop_remainder = true})),
            "image u8 [4,28,28], labels i32 [4]");
  EXPECT_EQ(SpecText(both.Batch(4).Unbatch()), "image u8 [28,28], labels i32 []");
  EXPECT_EQ(SpecText(both.Batch(4).Rebatch(3)), "image u8 [?,28,28], labels i32 [?]");
  EXPECT_EQ(SpecText(both.Enumerate()), "image u8 [28,28], index i64 [], labels i32 []");
  EXPECT_EQ(SpecText(Images().PaddedBatch(
                2, {.padded_shapes = {{"image", {32, -1}}}, .drop_remainder = true})),
            "image u8 [2,32,28]");
  const Dataset small = Images(DType::kUint8, {10, 14, 28});
  for (const Dataset& joined :
       {Dataset::Concatenate({Images(), small}), Dataset::SampleFromDatasets({Images(), small}),
        Dataset::ChooseFromDatasets({Images(), small}, Dataset::Range(0, 2))}) {
    EXPECT_EQ(SpecText(joined), "image u8 [?,28]");
  }
}

TEST(DatasetSpec, OfAFunctionIsKnownIfItIsDeclared) {
  const ElementSpec spec = {.features = {{"image", {DType::kUint8, Shape{-1, 28}}}}};
  EXPECT_EQ(SpecText(Images().Map(Same)), "unknown");
  EXPECT_EQ(SpecText(Images().Map(Same, {.output_signature = spec}).Batch(2)), "image u8 [?,?,28]");
  const auto generate = [](int64_t) -> absl::StatusOr<std::optional<Element>> {
    return Element{.features = {{"image", Array(DType::kUint8, {3, 28})}}, .labels = {}};
  };
  for (const std::optional<int64_t> size : {std::optional<int64_t>(3), std::optional<int64_t>()}) {
    EXPECT_EQ(SpecText(Dataset::FromGenerator(generate, size, spec)), "image u8 [?,28]");
    EXPECT_EQ(SpecText(Dataset::FromGenerator(generate, size)), "unknown");
  }
}

TEST(DatasetSpec, OfZipRefusesNamesThatClash) {
  EXPECT_THAT(Dataset::Zip({Images(), Labels(), Images(DType::kFloat32, {10, 784})}).MakeIterator(),
              ErrorIs("Zip: features[\"image\"] is in dataset 0 (u8 [28,28]) and in dataset 2 (f32 "
                      "[784]); rename one of them in Map"));
  EXPECT_THAT(Dataset::Zip(Dataset::Zip(Images(), Labels()), Labels()).MakeIterator(),
              ErrorHas("Zip(features, labels): the dataset of features has labels of its own"));
  EXPECT_THAT(FirstError(Dataset::Zip({Images().Map(Same), Images()})),
              ErrorIs("Zip: features[\"image\"] is in dataset 1 (u8 [28,28]) and in one before it "
                      "(u8 [28,28]); rename one of them in Map"))
      << "with a function, when an element is read";
}

TEST(DatasetSpec, OfJoinedDatasetsMustHaveTheSameNamesAndDTypes) {
  const Dataset floats = Images(DType::kFloat32);
  const auto joined = [](const std::vector<Dataset>& parts) {
    return std::vector<std::pair<std::string, Dataset>>{
        {"Concatenate", Dataset::Concatenate(parts)},
        {"SampleFromDatasets", Dataset::SampleFromDatasets(parts)},
        {"ChooseFromDatasets", Dataset::ChooseFromDatasets(
                                   parts, Dataset::Range(0, static_cast<int64_t>(parts.size())))}};
  };
  for (const auto& [name, dataset] : joined({Images(), floats})) {
    EXPECT_THAT(dataset.MakeIterator(),
                ErrorIs(name + ": features[\"image\"] is u8 [28,28] in dataset 0 (Slices), but f32 "
                               "[28,28] in dataset 1 (Slices); make them equal in Map"));
  }
  for (const auto& [name, dataset] : joined({Images(), Labels()})) {
    EXPECT_THAT(dataset.MakeIterator(), ErrorHas("but dataset 1 (Slices) does not have it"))
        << name;
  }
  for (const Dataset& unknown : {floats.Map(Same), floats.Filter(All).Map(Same)}) {
    for (const auto& [name, dataset] : joined({Images().Take(2), unknown})) {
      const absl::Status error = FirstError(dataset);
      // A draw decides which dataset is read first.
      EXPECT_THAT(error, ErrorHas(name + ": element "));
      EXPECT_THAT(error, ErrorHas(" of FromTensorSlices: features[\"image\"] is "));
      EXPECT_THAT(error, ErrorHas("[28,28] in the first element, but "));
      EXPECT_THAT(error, ErrorHas("[28,28] in this element"));
    }
  }
}

TEST(DatasetSpec, OfPaddedBatchIsCheckedAgainstItsOptions) {
  const auto error = [](const PaddedBatchOptions& options) {
    return Images().PaddedBatch(2, options).MakeIterator().status();
  };
  EXPECT_THAT(error({.padded_shapes = {{"imag", {3}}}}),
              ErrorIs("PaddedBatch: padded_shapes names \"imag\", but the elements are image u8 "
                      "[28,28]"));
  EXPECT_THAT(error({.padding_values = {{"imag", 3}}}),
              ErrorHas("padding_values names \"imag\", but the elements are"));
  EXPECT_THAT(error({.padded_shapes = {{"image", {28}}}}),
              ErrorIs("PaddedBatch: features[\"image\"] is u8 [28,28] of rank 2, but its padded "
                      "shape [28] has rank 1"));
  EXPECT_THAT(error({.padded_shapes = {{"image", {28, 20}}}}),
              ErrorHas("features[\"image\"] is u8 [28,28], larger than the padded shape [28,20] in "
                       "axis 1"));
  EXPECT_THAT(error({.padding_values = {{"image", -1}}}),
              ErrorHas("features[\"image\"]: the padding -1 cannot be represented in uint8"));
}

TEST(DatasetSpec, OfUnbatchNeedsOneRowForEachElement) {
  EXPECT_THAT(Dataset::Zip({Images(), Labels()}).Unbatch().MakeIterator(),
              ErrorIs("Unbatch: features is i32 [], a scalar; every array needs one row for each "
                      "element, on axis 0"));
  const Dataset other = Dataset::FromTensorSlices(
      {.features = {{"x", Array(DType::kFloat32, {10, 3})}}, .labels = {}});
  EXPECT_THAT(Dataset::Zip({Images(), other}).Unbatch().MakeIterator(),
              ErrorIs("Unbatch: features[\"x\"] is f32 [3], but features[\"image\"] is u8 [28,28]; "
                      "all arrays need the same number of rows on axis 0"));
  EXPECT_THAT(FirstError(Dataset::Zip({Images(), other}).Map(Same).Unbatch()),
              ErrorIs("Unbatch: element 0 of FromTensorSlices: features[\"x\"] is f32 [3], but "
                      "features[\"image\"] is u8 [28,28]; all arrays need the same number of rows "
                      "on axis 0"));
  EXPECT_THAT(FirstError(Labels().Map(Same).Unbatch()), ErrorHas("features is i32 [], a scalar"));
}

TEST(DatasetSpec, OfAMapIsCheckedForEveryElement) {
  const auto changes = [](const Element& element) -> absl::StatusOr<Element> {
    const int64_t i = element.features.Only()->scalar<int64_t>();
    return i < 2 ? Element{.features = Array(DType::kFloat32, {i + 1}), .labels = {}} : element;
  };
  const auto draws = [changes](const Element& element, RandomStream&) { return changes(element); };
  const Dataset range = Dataset::Range(0, 4);
  for (const Dataset& dataset : {range.Map(changes), range.Filter(All).Map(changes)}) {
    EXPECT_THAT(FirstError(dataset),
                ErrorIs("Map: element 2 of Range(0, 4): features is f32 [1] in the first element, "
                        "but i64 [] in this element"));
  }
  EXPECT_THAT(FirstError(range.Map(draws)), ErrorHas("features is f32 [1] in the first element"));
  const MapOptions declared = {.output_signature =
                                   ElementSpec{.features = {{DType::kFloat32, Shape{1}}}}};
  for (const Dataset& dataset : {range.Map(changes, declared), range.Map(draws, declared)}) {
    EXPECT_THAT(FirstError(dataset),
                ErrorIs("Map: element 1 of Range(0, 4): features is f32 [1] in output_signature, "
                        "but f32 [2] in this element"));
  }
  EXPECT_THAT(
      FirstError(Dataset::FromGenerator([&](int64_t i) -> absl::StatusOr<std::optional<Element>> {
        return changes({.features = Array::Scalar<int64_t>(i), .labels = {}});
      })),
      ErrorIs("element 2 of FromGenerator: features is f32 [1] in the first element, but i64 [] in "
              "this element"));
}

TEST(DatasetSpec, OfEnumerateRefusesAFeatureOfThatName) {
  EXPECT_THAT(Images().Enumerate(0, "image").MakeIterator(),
              ErrorIs("Enumerate: features[\"image\"] is u8 [28,28] in the elements; give the "
                      "numbers another name"));
}

}  // namespace
}  // namespace estimator
