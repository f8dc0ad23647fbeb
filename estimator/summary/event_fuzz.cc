// Fuzzes the reader of event files. If the first byte is even, the rest is the file. Else the rest
// is chunks (u16 length, bytes), which are written as valid records.
#include <cstdint>
#include <string>

#include "estimator/base/file.h"
#include "estimator/base/testing/fuzz_input.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/records/tfrecord.h"
#include "estimator/summary/event_reader.h"
#include "glog/logging.h"

namespace estimator {
namespace {

void Fuzz(FuzzInput input) {
  FLAGS_minloglevel = google::GLOG_FATAL;  // the reader would log a warning for each damaged file
  static const TempDir* const directory = new TempDir;
  const std::string path = directory->File("events.out.tfevents.1");
  if (input.Byte() % 2 == 0) {
    const auto file = WritableFile::Open(path).value();
    CHECK(file->Append(input.Rest()).ok());
  } else {
    const auto writer = TFRecordWriter::Open(path).value();
    while (!input.empty()) CHECK(writer->Write(input.Chunk()).ok());
    CHECK(writer->Close().ok());
  }
  const auto records = ReadEventFile(path);
  CHECK(records.ok()) << records.status();  // damaged records are no error
  CHECK(ReadScalars(directory->path()).ok());
}

}  // namespace
}  // namespace estimator

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  estimator::Fuzz({data, size});
  return 0;
}
