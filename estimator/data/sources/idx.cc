#include "estimator/data/sources/idx.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "estimator/array/element_limit.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/nodes.h"
#include "estimator/records/compression.h"

namespace estimator {
namespace {

struct IdxType {
  unsigned char code;
  DType dtype;
};
constexpr IdxType kTypes[] = {{0x08, DType::kUint8},   {0x09, DType::kInt8},
                              {0x0b, DType::kInt16},   {0x0c, DType::kInt32},
                              {0x0d, DType::kFloat32}, {0x0e, DType::kFloat64}};
constexpr size_t kMagicBytes = 4, kSizeBytes = 4;
constexpr size_t kMostHeaderBytes = kMagicBytes + 255 * kSizeBytes;  // the rank is one byte

std::string TypesForMessage() {
  return absl::StrJoin(kTypes, ", ", [](std::string* out, const IdxType& type) {
    absl::StrAppendFormat(out, "0x%02x %s", type.code, DTypeShortName(type.dtype));
  });
}

uint32_t BigEndian(const unsigned char* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

// Swaps the bytes of elements: the file is big-endian, this machine is little-endian.
void SwapBytes(DType dtype, size_t num_bytes, char* bytes) {
  const size_t size = DTypeSize(dtype);
  for (size_t i = 0; size > 1 && i < num_bytes; i += size) {
    std::reverse(bytes + i, bytes + i + size);
  }
}

// What the header of a file says.
struct Header {
  DType dtype = DType::kInvalid;
  Shape shape;
  size_t bytes = 0;       // of the header
  size_t data_bytes = 0;  // that follow it
};

// Parses the header, of which `bytes` has at least all that the file has.
absl::StatusOr<Header> ParseHeader(absl::string_view bytes, absl::string_view path) {
  const auto* const raw = reinterpret_cast<const unsigned char*>(bytes.data());
  if (bytes.size() < kMagicBytes) {
    return DataLoss(path, ": expected the ", kMagicBytes, " bytes of an IDX magic, found ",
                    bytes.size());
  }
  if (raw[0] != 0 || raw[1] != 0) {
    return DataLoss(absl::StrFormat(
        "%s: not an IDX file: expected the magic 00 00 <type> <rank>, found %02x %02x %02x %02x",
        path, raw[0], raw[1], raw[2], raw[3]));
  }
  const auto* const type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                        [&](const IdxType& t) { return t.code == raw[2]; });
  if (type == std::end(kTypes)) {
    return DataLoss(absl::StrFormat("%s: not an IDX file: type 0x%02x; expected one of %s", path,
                                    raw[2], TypesForMessage()));
  }
  const size_t rank = raw[3];
  const size_t header_bytes = kMagicBytes + rank * kSizeBytes;
  if (bytes.size() < header_bytes) {
    return DataLoss(path, ": truncated: expected ", header_bytes, " bytes of header (rank ", rank,
                    "), found ", bytes.size());
  }
  Shape shape;
  // The product of the sizes is capped, so that a damaged header cannot overflow it.
  __extension__ using Wide = unsigned __int128;
  Wide data_bytes = DTypeSize(type->dtype);
  constexpr auto kMostBytes = static_cast<Wide>(std::numeric_limits<int64_t>::max());
  for (size_t axis = 0; axis < rank; ++axis) {
    const uint32_t size = BigEndian(raw + kMagicBytes + axis * kSizeBytes);
    shape.push_back(size);
    data_bytes = std::min(data_bytes * size, kMostBytes);
  }
  if (data_bytes == 0 && !HasElementsAtMost(shape, std::numeric_limits<int64_t>::max())) {
    return DataLoss(path, ": its header says ", DTypeShortName(type->dtype), " ", shape.ToString(),
                    ", which is too large");
  }
  return Header{.dtype = type->dtype,
                .shape = std::move(shape),
                .bytes = header_bytes,
                .data_bytes = static_cast<size_t>(data_bytes)};
}

// Checks the size of the whole file.
//   more: whether it has more bytes than file_bytes.
absl::Status CheckSize(const Header& header, size_t file_bytes, absl::string_view path,
                       bool more = false) {
  const size_t expected = header.data_bytes, found = file_bytes - header.bytes;
  if (found == expected && !more) return absl::OkStatus();
  return DataLoss(path, ": ", found < expected ? "truncated" : "too long", ": its header says ",
                  DTypeShortName(header.dtype), " ", header.shape.ToString(), ": expected ",
                  expected, " bytes of data, found ", found, more ? " or more" : "");
}

// bytes: not compressed.
absl::StatusOr<Array> ParsePlain(absl::string_view bytes, absl::string_view path) {
  EST_ASSIGN_OR_RETURN(Header header, ParseHeader(bytes, path));
  EST_RETURN_IF_ERROR(CheckSize(header, bytes.size(), path));
  Array array(header.dtype, std::move(header.shape));
  char* const to = static_cast<char*>(array.raw());
  if (array.num_bytes() > 0) std::memcpy(to, bytes.data() + header.bytes, array.num_bytes());
  SwapBytes(array.dtype(), array.num_bytes(), to);
  return array;
}

// Reads the elements straight into the array. `head` is the beginning of the file.
absl::StatusOr<Array> ReadElements(const RandomAccessFile& file, absl::string_view head) {
  const auto file_bytes = static_cast<size_t>(file.size());
  EST_ASSIGN_OR_RETURN(Header header, ParseHeader(head, file.path()));
  EST_RETURN_IF_ERROR(CheckSize(header, file_bytes, file.path()));
  Array array(header.dtype, std::move(header.shape));
  const size_t wanted = array.num_bytes();
  EST_ASSIGN_OR_RETURN(const size_t count, file.Read(static_cast<int64_t>(header.bytes), wanted,
                                                     static_cast<char*>(array.raw())));
  if (count < wanted) {
    return DataLoss(file.path(), ": truncated while it was read: expected ", wanted,
                    " bytes of data, found ", count);
  }
  SwapBytes(array.dtype(), wanted, static_cast<char*>(array.raw()));
  return array;
}

}  // namespace

absl::StatusOr<Array> ReadIdx(StringArg path) {
  EST_ASSIGN_OR_RETURN(const auto file, RandomAccessFile::Open(path));
  std::string head(kMostHeaderBytes, '\0');
  EST_ASSIGN_OR_RETURN(const size_t count, file->Read(0, head.size(), head.data()));
  head.resize(count);
  // The files of /proc report a size of 0.
  const bool sized = static_cast<int64_t>(count) <= file->size();
  if (sized && !LooksLikeGzip(head)) return ReadElements(*file, head);
  EST_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  return ParseIdx(bytes, path);
}

absl::StatusOr<Array> ParseIdx(StringArg contents, StringArg name) {
  if (!LooksLikeGzip(contents)) return ParsePlain(contents, name);
  // A small file can be gigabytes of zeros, so the header says first how many bytes are read.
  const auto decompress = [&](size_t most) {
    return Decompress(contents, Compression::kGzip, name, most);
  };
  EST_ASSIGN_OR_RETURN(const std::string head, decompress(kMostHeaderBytes));
  EST_ASSIGN_OR_RETURN(const Header header, ParseHeader(head, name));
  const size_t file_bytes = header.bytes + header.data_bytes;
  constexpr size_t kMostRatio = 1032;  // of deflate
  if (header.data_bytes / kMostRatio > contents.size()) {
    return DataLoss(name, ": truncated: its header says ", DTypeShortName(header.dtype), " ",
                    header.shape.ToString(), ": expected ", header.data_bytes,
                    " bytes of data, which ", contents.size(), " compressed bytes cannot hold");
  }
  EST_ASSIGN_OR_RETURN(const std::string bytes, decompress(file_bytes + 1));
  if (bytes.size() > file_bytes) return CheckSize(header, bytes.size(), name, /*more=*/true);
  return ParsePlain(bytes, name);
}

Dataset IdxDataset(StringArg path) {
  absl::StatusOr<Array> array = ReadIdx(path);
  if (!array.ok()) return Dataset(ErrorNode(array.status()));
  return Dataset(
      SlicesNode({.features = *std::move(array), .labels = {}}, "Idx", std::string(path)));
}

absl::Status WriteIdx(StringArg path, const Array& array) {
  const auto* const type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                        [&](const IdxType& t) { return t.dtype == array.dtype(); });
  if (type == std::end(kTypes) || array.shape().rank() > 255) {
    return InvalidArgument(path, ": IDX cannot hold ", array.TypeString(), "; its types are ",
                           TypesForMessage());
  }
  std::string bytes = {0, 0, static_cast<char>(type->code),
                       static_cast<char>(array.shape().rank())};
  for (const int64_t size : array.shape().dims()) {
    if (size > std::numeric_limits<uint32_t>::max()) {
      return InvalidArgument(path, ": IDX holds sizes below 2^32, not ", array.TypeString());
    }
    for (int shift = 24; shift >= 0; shift -= 8) {
      bytes.push_back(static_cast<char>(static_cast<uint64_t>(size) >> shift));
    }
  }
  const size_t header_bytes = bytes.size();
  bytes.append(static_cast<const char*>(array.raw()), array.num_bytes());
  SwapBytes(array.dtype(), array.num_bytes(), bytes.data() + header_bytes);
  return WriteFileAtomically(path, bytes);
}

}  // namespace estimator
