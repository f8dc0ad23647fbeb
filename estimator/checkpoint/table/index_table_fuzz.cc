// Fuzzes the reader of index tables. The first byte, modulo 5, selects how the rest becomes a file:
//   0   the rest is the file
//   1   the rest is the contents of a data block; the other parts of the table are valid
//   2   the rest is the contents of the index block; the other parts of the table are valid
//   3   as 1, with the block compressed with snappy
//   4   as 2, with the block compressed with snappy
// Checksums are always valid, except with 0.
#include <cstdint>
#include <cstring>
#include <string>

#include "estimator/base/crc32c.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/fuzz_input.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/table/index_table.h"
#include "estimator/checkpoint/table/varint.h"
#include "glog/logging.h"

namespace estimator {
namespace {

constexpr uint64_t kMagic = 0xdb4775248b80fb57u;
constexpr size_t kHandleBytes = 40;
const std::string& EmptyBlock() {
  static const std::string* const block =
      new std::string("\0\0\0\0\1\0\0\0", 8);  // one restart, at 0
  return *block;
}

void AppendU32(uint32_t value, std::string* out) {
  for (int i = 0; i < 4; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

// Returns its handle.
std::string AppendBlock(absl::string_view contents, char type, std::string* file) {
  std::string handle;
  AppendVarint(file->size(), &handle);
  AppendVarint(contents.size(), &handle);
  std::string block(contents);
  block.push_back(type);
  AppendU32(MaskCrc32c(Crc32c(block)), &block);
  *file += block;
  return handle;
}

// A block of one entry.
std::string OneEntry(absl::string_view key, absl::string_view value) {
  std::string block;
  AppendVarint(0, &block);
  AppendVarint(key.size(), &block);
  AppendVarint(value.size(), &block);
  block.append(key.data(), key.size());
  block.append(value.data(), value.size());
  AppendU32(0, &block);
  AppendU32(1, &block);
  return block;
}

std::string MakeFile(uint8_t mode, absl::string_view rest) {
  if (mode == 0) return std::string(rest);
  const char type = mode > 2 ? '\1' : '\0';
  const bool is_data = mode % 2 == 1;
  std::string file;
  const std::string data =
      is_data ? AppendBlock(rest, type, &file) : AppendBlock(OneEntry("a", "value"), '\0', &file);
  std::string footer = AppendBlock(EmptyBlock(), '\0', &file);
  footer +=
      is_data ? AppendBlock(OneEntry("zzz", data), '\0', &file) : AppendBlock(rest, type, &file);
  footer.resize(kHandleBytes);
  for (int i = 0; i < 8; ++i) footer.push_back(static_cast<char>(kMagic >> (8 * i)));
  return file + footer;
}

void Fuzz(FuzzInput input) {
  static const TempDir* const directory = new TempDir;
  const std::string path = directory->File("table");
  const uint8_t mode = input.Byte() % 5;
  {
    const auto file = WritableFile::Open(path).value();
    CHECK(file->Append(MakeFile(mode, input.Rest())).ok());
  }
  const auto entries = ReadIndexTable(path);
  if (!entries.ok()) {
    CHECK(absl::IsDataLoss(entries.status())) << entries.status();
    CHECK(entries.status().message().find(path) != absl::string_view::npos);
    return;
  }
  for (size_t i = 1; i < entries->size(); ++i) CHECK((*entries)[i - 1].first < (*entries)[i].first);
}

}  // namespace
}  // namespace estimator

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  estimator::Fuzz({data, size});
  return 0;
}
