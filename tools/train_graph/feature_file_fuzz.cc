// Fuzzes the parser of feature files. The input is the text.
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/data/parsing/feature_spec.h"
#include "glog/logging.h"
#include "tools/train_graph/feature_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace estimator;
  // A default for each of 2^24 elements takes longer than the fuzzer waits.
  if (size > 4096) return 0;
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto features = ParseFeatureFile(text, "fuzz");
  if (!features.ok()) {
    CHECK(absl::IsInvalidArgument(features.status())) << features.status();
    return 0;
  }
  for (const FileFeature& feature : *features) {
    const absl::Status status = CheckFeatureSpec(feature.name, feature.spec);
    CHECK(status.ok() || absl::IsInvalidArgument(status)) << status;
    CHECK(feature.shape.fully_known());
  }
  return 0;
}
