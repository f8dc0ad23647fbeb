// Fuzzes the reader of IDX files. The input is the contents of a file, plain or GZIP. What is read
// is written and read again.
#include <cstdint>
#include <cstring>

#include "estimator/base/testing/temp_dir.h"
#include "estimator/data/sources/idx.h"
#include "glog/logging.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace estimator;
  static const TempDir* const dir = new TempDir;
  const StringArg contents(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<Array> array = ParseIdx(contents, "fuzz");
  if (!array.ok()) {
    CHECK(absl::IsDataLoss(array.status()) || absl::IsInvalidArgument(array.status()) ||
          absl::IsResourceExhausted(array.status()))
        << array.status();
    return 0;
  }
  const std::string path = dir->File("again");
  const absl::Status written = WriteIdx(path, *array);
  CHECK(written.ok()) << written;
  const absl::StatusOr<Array> again = ReadIdx(path);
  CHECK(again.ok()) << again.status();
  CHECK(again->shape() == array->shape() && again->dtype() == array->dtype());
  if (array->num_bytes() > 0)
    CHECK_EQ(std::memcmp(again->raw(), array->raw(), array->num_bytes()), 0);
  return 0;
}
