#include "tools/saved_model/npz.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "estimator/array/npy.h"
#include "estimator/base/file.h"
#include "estimator/base/little_endian.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/records/compression.h"

namespace estimator {
namespace {

constexpr size_t kEndBytes = 22, kEntryBytes = 46, kMemberBytes = 30;
constexpr uint64_t kZip64 = 0xffffffff;  // a size that needs ZIP64
constexpr uint64_t kStored = 0, kDeflated = 8;
// A deflated file can be a thousand times as large as the archive.
constexpr uint64_t kMostInflatedBytes = uint64_t{1} << 30;

struct Member {
  std::string name;  // without ".npy"
  uint64_t flags = 0, method = 0, crc32 = 0, packed_bytes = 0, bytes = 0, at = 0;
};

uint64_t Number(absl::string_view bytes, size_t at, size_t size) {
  return LoadLittleEndian(bytes.substr(at, size));
}

absl::Status Damaged(absl::string_view what) {
  return DataLoss("the .npz file is damaged or cut short: ", what);
}

// The members that are arrays.
absl::StatusOr<std::vector<Member>> Directory(absl::string_view file) {
  if (!absl::StartsWith(file, "PK")) {
    return InvalidArgument("it is no .npz file, which begins with PK");
  }
  const size_t end = file.rfind("PK\5\6");
  if (end == absl::string_view::npos || file.size() - end < kEndBytes)
    return Damaged("it has no directory");
  const uint64_t size = Number(file, end + 12, 4), begin = Number(file, end + 16, 4);
  if (size == kZip64 || begin == kZip64)
    return Unimplemented("it has 4 GiB or more; save each array in a .npy file of its own");
  if (begin > end || size > end - begin) return Damaged("its directory is not in the file");
  absl::string_view rest = file.substr(begin, size);
  std::vector<Member> members;
  while (!rest.empty()) {
    if (rest.size() < kEntryBytes || !absl::StartsWith(rest, "PK\1\2"))
      return Damaged("an entry of its directory is unreadable");
    const uint64_t name_bytes = Number(rest, 28, 2),
                   entry_bytes =
                       kEntryBytes + name_bytes + Number(rest, 30, 2) + Number(rest, 32, 2);
    if (entry_bytes > rest.size()) return Damaged("its directory ends in an entry");
    absl::string_view name = rest.substr(kEntryBytes, name_bytes);
    if (absl::ConsumeSuffix(&name, ".npy")) {
      members.push_back({.name = std::string(name),
                         .flags = Number(rest, 8, 2),
                         .method = Number(rest, 10, 2),
                         .crc32 = Number(rest, 16, 4),
                         .packed_bytes = Number(rest, 20, 4),
                         .bytes = Number(rest, 24, 4),
                         .at = Number(rest, 42, 4)});
    }
    rest.remove_prefix(entry_bytes);
  }
  return members;
}

// The bytes of a member as a GZIP stream, which has the same kind of data and of checksum.
std::string AsGzip(const Member& member, absl::string_view packed) {
  std::string gzip("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  absl::StrAppend(&gzip, packed);
  AppendLittleEndian(member.crc32, 4, &gzip);
  AppendLittleEndian(member.bytes, 4, &gzip);
  return gzip;
}

absl::StatusOr<std::string> Contents(absl::string_view file, const Member& member) {
  if (member.at > file.size() || file.size() - member.at < kMemberBytes)
    return Damaged("a member is not in the file");
  absl::string_view rest = file.substr(member.at);
  const uint64_t head_bytes = kMemberBytes + Number(rest, 26, 2) + Number(rest, 28, 2);
  if (!absl::StartsWith(rest, "PK\3\4") || head_bytes > rest.size() ||
      member.packed_bytes > rest.size() - head_bytes)
    return Damaged("a member is not in the file");
  const absl::string_view packed = rest.substr(head_bytes, member.packed_bytes);
  if ((member.flags & 1) != 0) return Unimplemented("it is encrypted");
  if (member.method == kDeflated) {
    if (member.bytes > kMostInflatedBytes) {
      return Unimplemented("it is compressed and has ",
                           HumanBytes(static_cast<int64_t>(member.bytes)),
                           "; save it with numpy.savez or numpy.save");
    }
    EST_ASSIGN_OR_RETURN(std::string bytes, Decompress(AsGzip(member, packed), Compression::kGzip,
                                                       "the .npz file", member.bytes + 1));
    if (bytes.size() != member.bytes) return Damaged("a member has another size than it says");
    return bytes;
  }
  if (member.method != kStored) {
    return Unimplemented("its compression has the number ", member.method,
                         "; save it with numpy.savez or numpy.savez_compressed");
  }
  // GZIP's checksum is ZIP's, so that of the bytes is at the end of a stream of them.
  EST_ASSIGN_OR_RETURN(const std::string gzip, Compress(packed, Compression::kGzip, 0));
  if (Number(gzip, gzip.size() - 8, 4) != member.crc32) return Damaged("a checksum is wrong");
  return std::string(packed);
}

absl::StatusOr<Array> Read(absl::string_view file, absl::string_view wanted) {
  EST_ASSIGN_OR_RETURN(const std::vector<Member> members, Directory(file));
  std::vector<std::string> names;
  const Member* found = nullptr;
  for (const Member& member : members) {
    names.push_back(member.name);
    if (wanted.empty() || member.name == wanted) found = &member;
  }
  const std::string there = names.empty() ? "no array" : JoinSome(names, kShownNames);
  if (wanted.empty() && names.size() > 1) {
    return InvalidArgument("it has several arrays, ", there, "; choose one, as in FILE.npz[",
                           names[0], "]");
  }
  if (found == nullptr) return NotFound("it has no array '", wanted, "'; it has ", there);
  if (found->bytes == kZip64 || found->packed_bytes == kZip64 || found->at == kZip64)
    return Unimplemented("'", found->name, "' has 4 GiB or more; save it in a .npy file");
  const absl::StatusOr<std::string> contents = Contents(file, *found);
  if (!contents.ok()) return Annotate(contents.status(), absl::StrCat("'", found->name, "'"));
  return ParseNpy(*contents);
}

}  // namespace

absl::StatusOr<Array> LoadNpz(const std::string& path, absl::string_view name) {
  EST_ASSIGN_OR_RETURN(const std::string file, ReadFile(path));
  absl::StatusOr<Array> array = Read(file, name);
  if (!array.ok()) return Annotate(array.status(), path);
  return array;
}

}  // namespace estimator
