// Fuzzes ElementFromBytes, which reads the elements of a cache file. An element that is read is
// also written and read again.
#include <cstdint>

#include "estimator/data/pipeline/element_bytes.h"
#include "glog/logging.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace estimator;
  const absl::StatusOr<Element> element =
      ElementFromBytes({reinterpret_cast<const char*>(data), size});
  if (!element.ok()) {
    CHECK(absl::IsDataLoss(element.status())) << element.status();
    return 0;
  }
  const std::string bytes = ElementToBytes(*element);
  const absl::StatusOr<Element> again = ElementFromBytes(bytes);
  CHECK(again.ok()) << again.status();
  CHECK(ElementToBytes(*again) == bytes);
  return 0;
}
