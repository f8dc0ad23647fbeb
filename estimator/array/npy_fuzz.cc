// Fuzzes the reader of .npy files. The input is the file. An array that is read is also written and
// read again.
#include <cstdint>

#include "estimator/array/compare.h"
#include "estimator/array/npy.h"
#include "glog/logging.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::StatusOr<estimator::Array> array =
      estimator::ParseNpy({reinterpret_cast<const char*>(data), size});
  if (!array.ok()) return 0;
  const absl::StatusOr<estimator::Array> again = estimator::ParseNpy(estimator::NpyBytes(*array));
  CHECK(again.ok()) << again.status();
  CHECK(estimator::SameBits(*again, *array));
  return 0;
}
