// Fuzzes the reader of V1 checkpoints. The first byte selects how the rest becomes a checkpoint:
//   even    the rest is the file
//   odd     chunks (u16 length, bytes) of keys and values in turn, from which a valid table is
//           written
//   bit 2   with odd: the first chunk is the list of tensors; the next chunks are the values of the
//           slices that it lists, in order
#include <cstdint>
#include <map>
#include <string>

#include "estimator/base/file.h"
#include "estimator/base/testing/fuzz_input.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle/bundle_entry.h"
#include "estimator/checkpoint/table/index_table.h"
#include "estimator/checkpoint/testing/reader_fuzzing.h"
#include "estimator/proto/saved_tensor_slice.pb.h"
#include "glog/logging.h"

namespace estimator {
namespace {

void PutUnderListedKeys(FuzzInput& input, std::map<std::string, std::string>* table) {
  const std::string list(input.Chunk());
  (*table)[""] = list;
  proto::SavedTensorSlices message;
  if (!message.ParseFromString(list)) return;
  for (const auto& tensor : message.meta().tensor()) {
    for (const auto& slice : tensor.slice()) {
      (*table)[SliceKey(tensor.name(), ParseExtents(slice))] = std::string(input.Chunk());
    }
  }
}

void Fuzz(FuzzInput input) {
  static const TempDir* const directory = new TempDir;
  const std::string path = directory->File("m");
  const uint8_t mode = input.Byte();
  if (mode % 2 == 0) {
    const auto file = WritableFile::Open(path).value();
    CHECK(file->Append(input.Rest()).ok());
  } else {
    std::map<std::string, std::string> table;
    if ((mode & 2) != 0) PutUnderListedKeys(input, &table);
    while (!input.empty()) {
      const std::string key(input.Chunk());
      table.emplace(key, input.Chunk());
    }
    CHECK(WriteIndexTable(path, table).ok());
  }
  CheckReader(path);
}

}  // namespace
}  // namespace estimator

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  estimator::Fuzz({data, size});
  return 0;
}
