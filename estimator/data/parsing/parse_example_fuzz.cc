// Fuzzes the parsers of tf.train.Examples and SequenceExamples. The bytes are the Example. The
// specs have every kind of feature.
#include <cstdint>

#include "estimator/base/testing/fuzz_input.h"
#include "estimator/data/parsing/parse_example.h"
#include "glog/logging.h"

namespace estimator {
namespace {

const FeatureSpecs& Specs() {
  static const FeatureSpecs* const specs = new FeatureSpecs{
      {"image", FixedLenFeature{.dtype = DType::kString, .default_value = Array::String("")}},
      {"label",
       FixedLenFeature{.dtype = DType::kInt32, .default_value = Array::Scalar<int32_t>(0)}},
      {"floats", FixedLenFeature{.shape = {2, 1}, .default_value = Array(DType::kFloat32, {2, 1})}},
      {"rows", FixedLenSequenceFeature{.dtype = DType::kInt64, .shape = {2}, .max_length = 3}},
      {"any", FixedLenSequenceFeature{.dtype = DType::kString}},
      {"var", VarLenFeature{.dtype = DType::kFloat32, .max_length = 5}},
      {"var_any", VarLenFeature{.dtype = DType::kInt64}}};
  return *specs;
}

}  // namespace
}  // namespace estimator

// The same bytes as a SequenceExample.
static void FuzzSequence(absl::string_view bytes) {
  using namespace estimator;
  const auto parsed = ParseSingleSequenceExample(
      bytes, {{"label", VarLenFeature{.dtype = DType::kInt64}}},
      {{"rows", FixedLenSequenceFeature{.dtype = DType::kInt64, .shape = {2}}},
       {"padded", FixedLenSequenceFeature{.max_length = 3, .default_value = 1}},
       {"var", VarLenFeature{.dtype = DType::kString}}});
  if (!parsed.ok()) {
    CHECK(absl::IsInvalidArgument(parsed.status())) << parsed.status();
    return;
  }
  CHECK(parsed->at("rows").shape()[1] == 2);
  CHECK(parsed->at("padded").shape() == Shape({3}));
  CHECK(parsed->at("var").shape()[0] == parsed->at("var_length").shape()[0]);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace estimator;
  const absl::string_view bytes = FuzzInput(data, size).Rest();
  FuzzSequence(bytes);
  const auto parsed = ParseSingleExample(bytes, Specs());
  if (!parsed.ok()) {
    CHECK(absl::IsInvalidArgument(parsed.status())) << parsed.status();
    return 0;
  }
  CHECK(parsed->at("floats").shape() == Shape({2, 1}));
  CHECK(parsed->at("rows").shape() == Shape({3, 2}));
  CHECK(parsed->at("var").shape() == Shape({5}));
  const auto raw = DecodeRaw(parsed->at("image"), DType::kInt16);
  CHECK(raw.ok() || absl::IsInvalidArgument(raw.status())) << raw.status();
  return 0;
}
