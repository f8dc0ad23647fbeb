// Fuzzes the reader of TFRecord files. The first byte selects what the rest is:
//   byte % 3   the compression to read with
//   bit 4      set: the rest is chunks (u16 length, bytes), which are written as valid records
//              not set: the rest is the file
//   bit 8      with bit 4: the records are written compressed
#include <cstdint>
#include <string>
#include <vector>

#include "estimator/base/file.h"
#include "estimator/base/testing/fuzz_input.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/records/tfrecord.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// The limit keeps a decompression bomb from using up the fuzzer's time.
constexpr int kMaxRecords = 1000;

void WriteFuzzedFile(const std::string& path, uint8_t mode, Compression compression,
                     FuzzInput input) {
  if ((mode & 4) != 0) {
    const auto writer =
        TFRecordWriter::Open(path,
                             {.compression = (mode & 8) != 0 ? compression : Compression::kNone,
                              .compression_level = 1})
            .value();
    while (!input.empty()) CHECK(writer->Write(input.Chunk()).ok());
    CHECK(writer->Close().ok());
    return;
  }
  const auto file = WritableFile::Open(path).value();
  CHECK(file->Append(input.Rest()).ok());
}

void Fuzz(FuzzInput input) {
  static const TempDir* const directory = new TempDir;
  const std::string path = directory->File("records");
  const uint8_t mode = input.Byte();
  const auto compression = static_cast<Compression>(mode % 3);
  WriteFuzzedFile(path, mode, compression, input);

  const auto reader = TFRecordReader::Open(path, {.compression = compression}).value();
  std::vector<TFRecordPosition> positions;
  std::vector<std::string> records;
  absl::Status end;
  while (records.size() < kMaxRecords) {
    positions.push_back(reader->position());
    const auto record = reader->Next();
    end = record.status();
    if (!record.ok() || !record->has_value()) break;
    records.push_back(**record);
  }
  CHECK(end.ok() || absl::IsDataLoss(end)) << end;
  CHECK(end.ok() || end.message().find(path) != absl::string_view::npos) << end;
  // After Seek, Next returns the same records; Skip reaches the same positions.
  for (size_t i = records.size(); i-- > records.size() / 2;) {
    CHECK(reader->Seek(positions[i]).ok());
    CHECK(**reader->Next() == records[i]);
  }
  CHECK(reader->Seek({}).ok());
  for (size_t i = 0; i < records.size(); ++i) {
    CHECK_EQ(reader->position().offset, positions[i].offset);
    CHECK(*reader->Skip());
  }
}

}  // namespace
}  // namespace estimator

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  estimator::Fuzz({data, size});
  return 0;
}
