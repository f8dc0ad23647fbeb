// Fuzzes the reader of checkpoints. The first byte selects how the rest becomes a checkpoint:
//   even    a chunk (u16 length, bytes), which is the index file; the rest is the data file
//   odd     a chunk, which is the data file; then chunks of keys and values in turn, from which a
//           valid index table is written
//   bit 2   with odd: the crcs of the entries are corrected if possible
//   bit 4   with odd: the header is replaced by a valid one
#include <cstdint>
#include <map>
#include <string>

#include "estimator/base/crc32c.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/fuzz_input.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/table/index_table.h"
#include "estimator/checkpoint/testing/reader_fuzzing.h"
#include "estimator/proto/tensor_bundle.pb.h"
#include "glog/logging.h"

namespace estimator {
namespace {

void Write(const std::string& path, absl::string_view contents) {
  const auto file = WritableFile::Open(path).value();
  CHECK(file->Append(contents).ok());
}

void MendCrc(absl::string_view data, std::string* value) {
  proto::BundleEntryProto entry;
  if (!entry.ParseFromString(*value) || entry.offset() < 0 || entry.size() < 0 ||
      static_cast<uint64_t>(entry.offset()) > data.size()) {
    return;
  }
  entry.set_crc32c(MaskCrc32c(
      Crc32c(data.substr(static_cast<size_t>(entry.offset()), static_cast<size_t>(entry.size())))));
  value->clear();
  entry.SerializeToString(value);
}

void Fuzz(FuzzInput input) {
  static const TempDir* const directory = new TempDir;
  const std::string prefix = directory->File("m");
  const uint8_t mode = input.Byte();
  const absl::string_view first = input.Chunk();
  if (mode % 2 == 0) {
    Write(IndexPath(prefix), first);
    Write(DataPath(prefix, 0, 1), input.Rest());
  } else {
    Write(DataPath(prefix, 0, 1), first);
    std::map<std::string, std::string> table;
    while (!input.empty()) {
      const std::string key(input.Chunk());
      std::string value(input.Chunk());
      if ((mode & 2) != 0 && !key.empty()) MendCrc(first, &value);
      table.emplace(key, std::move(value));
    }
    if ((mode & 4) != 0) table[""] = "\x08\x01\x1a\x02\x08\x01";  // one shard, version 1
    CHECK(WriteIndexTable(IndexPath(prefix), table).ok());
  }
  CheckReader(prefix);
}

}  // namespace
}  // namespace estimator

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  estimator::Fuzz({data, size});
  return 0;
}
