// Fuzzes the readers of Keras' files. The first byte selects how the rest becomes a file:
//   0   the rest is an .h5 file
//   1   the rest is a .keras file, a zip archive
//   2   a chunk (u16 length, bytes) with config.json, then model.weights.h5, from which a valid zip
//       archive is written
//   3   as 2, and the files are not compressed
#include <zip.h>

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/fuzz_input.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/testing/reader_fuzzing.h"
#include "glog/logging.h"

namespace estimator {
namespace {

void AddToZip(zip_t* archive, const char* name, absl::string_view contents, bool compress) {
  zip_source_t* const source = zip_source_buffer(archive, contents.data(), contents.size(), 0);
  const zip_int64_t index = zip_file_add(archive, name, source, ZIP_FL_ENC_UTF_8);
  CHECK(index >= 0);
  const zip_int32_t method = compress ? ZIP_CM_DEFLATE : ZIP_CM_STORE;
  CHECK(zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), method, 1) == 0);
}

void Fuzz(FuzzInput input) {
  static const TempDir* const directory = new TempDir;
  const int mode = input.Byte() % 4;
  const std::string path = directory->File(mode == 0 ? "m.h5" : "m.keras");
  if (mode <= 1) {
    const auto file = WritableFile::Open(path).value();
    CHECK(file->Append(input.Rest()).ok());
    CHECK(file->Close().ok());
  } else {
    zip_t* const archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
    CHECK(archive != nullptr);
    AddToZip(archive, "config.json", input.Chunk(), mode == 2);
    AddToZip(archive, "model.weights.h5", input.Rest(), mode == 2);
    CHECK(zip_close(archive) == 0);
  }
  CheckReader(path);
}

}  // namespace
}  // namespace estimator

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  estimator::Fuzz({data, size});
  return 0;
}
