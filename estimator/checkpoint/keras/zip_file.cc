#include "estimator/checkpoint/keras/zip_file.h"

#include <zip.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "estimator/base/available_memory.h"
#include "estimator/base/file.h"
#include "estimator/base/remote/remote_file_system.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

// Deflate makes at most 1032 bytes of one; an empty block takes a few.
constexpr uint64_t kMaxZipExpansion = 1032, kZipSlackBytes = 64;

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

using Archive = std::unique_ptr<zip_t, Discard>;

absl::StatusOr<Archive> OpenArchive(const std::string& path) {
  zip_error_t error;
  zip_error_init(&error);
  if (IsRemotePath(path)) {  // the library opens local files only
    EST_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
    void* const copy = std::malloc(contents.size() + 1);
    if (copy == nullptr) return ResourceExhausted("there is no memory for ", path);
    std::memcpy(copy, contents.data(), contents.size());
    zip_source_t* const source =
        zip_source_buffer_create(copy, contents.size(), /*freep=*/1, &error);
    Archive zip(source == nullptr ? nullptr : zip_open_from_source(source, ZIP_RDONLY, &error));
    if (zip != nullptr) return zip;
    if (source != nullptr) zip_source_free(source);
  } else {
    int code = 0;
    Archive zip(zip_open(path.c_str(), ZIP_RDONLY, &code));
    if (zip != nullptr) return zip;
    zip_error_init_with_code(&error, code);
  }
  const std::string what = zip_error_strerror(&error);
  zip_error_fini(&error);
  return DataLoss(path, " is not a whole zip archive: ", what, "; copy or download it again");
}

absl::Status CheckEntry(const std::string& where, const zip_stat_t& entry, int64_t max_bytes) {
  constexpr zip_uint64_t kNeeded =
      ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  if ((entry.valid & kNeeded) != kNeeded) return DataLoss(where, ": its size is not known");
  if (entry.encryption_method != ZIP_EM_NONE)
    return Unimplemented(where, " is encrypted; unpack it and pack it again without a password");
  if (entry.comp_method != ZIP_CM_STORE && entry.comp_method != ZIP_CM_DEFLATE) {
    return Unimplemented(where, " has compression method ", entry.comp_method,
                         "; pack it again with the method deflate, or without compression");
  }
  if (entry.size / kMaxZipExpansion > entry.comp_size + kZipSlackBytes) {
    return DataLoss(where, ": ", entry.comp_size, " bytes cannot become ", entry.size,
                    " bytes, as the archive says");
  }
  const std::optional<AvailableMemory> memory = ReadAvailableMemory();
  // HDF5's library makes two copies.
  const int64_t most = memory ? std::min(max_bytes, memory->bytes / 3) : max_bytes;
  if (entry.size > static_cast<uint64_t>(most)) {
    return ResourceExhausted(
        where, " has ", entry.size, " bytes, more than ", most,
        memory && most < max_bytes
            ? absl::StrCat(", a third of the memory that is available of ", memory->bound,
                           "; unpack it with `unzip`, and give the file in it")
            : ", the limit for such a file");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ListZipFiles(const std::string& archive) {
  EST_ASSIGN_OR_RETURN(const Archive zip, OpenArchive(archive));
  std::vector<std::string> names;
  const auto count = static_cast<zip_uint64_t>(zip_get_num_entries(zip.get(), 0));
  for (zip_uint64_t i = 0; i < count; ++i) {
    const char* const name = zip_get_name(zip.get(), i, 0);
    if (name == nullptr) return DataLoss(archive, ": ", zip_strerror(zip.get()));
    names.emplace_back(name);
  }
  return names;
}

absl::StatusOr<std::string> ReadZipFile(absl::string_view archive, const std::string& name,
                                        int64_t max_bytes) {
  const std::string path(archive);
  EST_ASSIGN_OR_RETURN(const Archive zip, OpenArchive(path));
  const std::string where = absl::StrCat(path, ": ", name);
  const zip_int64_t index = zip_name_locate(zip.get(), name.c_str(), 0);
  if (index < 0) return NotFound(path, " has no ", name);
  zip_stat_t entry;
  zip_stat_init(&entry);
  if (zip_stat_index(zip.get(), static_cast<zip_uint64_t>(index), 0, &entry) != 0)
    return DataLoss(where, ": ", zip_strerror(zip.get()));
  EST_RETURN_IF_ERROR(CheckEntry(where, entry, max_bytes));
  const std::unique_ptr<zip_file_t, Discard> file(
      zip_fopen_index(zip.get(), static_cast<zip_uint64_t>(index), 0));
  if (file == nullptr) return DataLoss(where, ": ", zip_strerror(zip.get()));
  std::string contents;
  // In pieces: memory grows with the bytes that are there, not with those that are promised.
  constexpr size_t kPiece = 1 << 20;
  for (;;) {
    const size_t done = contents.size();
    // One byte more than is promised: its absence is the end, where the crc32 is verified.
    contents.resize(std::min<size_t>(done + kPiece, entry.size + 1));
    if (contents.size() == done) return DataLoss(where, " has more than ", entry.size, " bytes");
    const zip_int64_t count = zip_fread(file.get(), contents.data() + done, contents.size() - done);
    if (count < 0) {
      return DataLoss(where, ": ", zip_error_strerror(zip_file_get_error(file.get())),
                      "; copy or download it again");
    }
    contents.resize(done + static_cast<size_t>(count));
    if (count == 0) break;
  }
  if (contents.size() == entry.size) return contents;
  return DataLoss(where, " has ", contents.size(), " bytes, but the archive says ", entry.size);
}

}  // namespace estimator
