#include "estimator/records/compression.h"

#include <zlib.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

constexpr size_t kChunkBytes = 1 << 20;

// zlib counts bytes in 32 bits, so large inputs are passed in pieces.
uInt Piece(size_t bytes) {
  return static_cast<uInt>(std::min<size_t>(bytes, std::numeric_limits<uInt>::max()));
}

}  // namespace

absl::string_view CompressionName(Compression compression) {
  constexpr absl::string_view kNames[] = {"", "GZIP", "ZLIB"};
  return kNames[static_cast<int>(compression)];
}

int ZlibWindowBits(Compression compression) {
  constexpr int kLargest = 15, kGzipHeader = 16;  // the latter is added for GZIP instead of ZLIB
  return compression == Compression::kGzip ? kLargest + kGzipHeader : kLargest;
}

bool LooksLikeGzip(absl::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

absl::StatusOr<std::string> Decompress(absl::string_view bytes, Compression compression,
                                       absl::string_view source, size_t max_bytes) {
  if (compression == Compression::kNone) return std::string(bytes);
  z_stream stream = {};
  if (inflateInit2(&stream, ZlibWindowBits(compression)) != Z_OK) {
    return ResourceExhausted("zlib has no memory to decompress");
  }
  std::string out;
  size_t used = 0;
  int result = Z_OK;
  // Nothing says how large the result is, so it grows by what each call returns.
  std::string chunk(kChunkBytes, '\0');
  while (out.size() < max_bytes && (result != Z_STREAM_END || used < bytes.size())) {
    // A GZIP file may consist of several members, one after another.
    if (result == Z_STREAM_END) inflateReset(&stream);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + used));
    stream.avail_in = Piece(bytes.size() - used);
    const uInt given = stream.avail_in;
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    result = inflate(&stream, Z_NO_FLUSH);
    used += given - stream.avail_in;
    out.append(chunk.data(), chunk.size() - stream.avail_out);
    const bool starved =
        result == Z_BUF_ERROR || (result == Z_OK && used == bytes.size() && stream.avail_out > 0);
    if (starved || (result != Z_OK && result != Z_STREAM_END)) {
      const std::string detail = stream.msg != nullptr ? stream.msg : "no more data";
      inflateEnd(&stream);
      return DataLoss(source, ": ", CompressionName(compression), " data is ",
                      starved ? "truncated: it ends within the compressed stream, after "
                              : "corrupt near byte ",
                      used,
                      starved ? absl::StrCat(" bytes (", out.size(), " decompressed)")
                              : absl::StrCat(": ", detail));
    }
  }
  inflateEnd(&stream);
  return out;
}

absl::StatusOr<std::string> Compress(absl::string_view bytes, Compression compression, int level) {
  if (compression == Compression::kNone) return std::string(bytes);
  if (level < -1 || level > 9) {
    return InvalidArgument("compression level is ", level, "; it must be in [-1, 9]");
  }
  constexpr int kMemoryLevel = 8;  // zlib's default
  z_stream stream = {};
  if (deflateInit2(&stream, level, Z_DEFLATED, ZlibWindowBits(compression), kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return ResourceExhausted("zlib has no memory to compress");
  }
  std::string out;
  std::string chunk(kChunkBytes, '\0');
  size_t used = 0;
  int result = Z_OK;
  while (result != Z_STREAM_END) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + used));
    stream.avail_in = Piece(bytes.size() - used);
    const uInt given = stream.avail_in;
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    result = deflate(&stream, used + given == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    used += given - stream.avail_in;
    out.append(chunk.data(), chunk.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  return out;
}

}  // namespace estimator
