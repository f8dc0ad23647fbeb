// Compresses and decompresses GZIP (RFC 1952) and ZLIB (RFC 1950) streams with zlib.
#ifndef ESTIMATOR_RECORDS_COMPRESSION_H_
#define ESTIMATOR_RECORDS_COMPRESSION_H_

#include <cstddef>
#include <limits>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace estimator {

// The names are those of compression_type in tf.io.TFRecordOptions: "", "GZIP", "ZLIB".
enum class Compression { kNone, kGzip, kZlib };
absl::string_view CompressionName(Compression compression);

// The argument windowBits of zlib's functions, with the largest window.
//   compression: not kNone.
int ZlibWindowBits(Compression compression);

// Whether the bytes begin as every GZIP file does.
bool LooksLikeGzip(absl::string_view bytes);

// Decompresses all of `bytes`, or only about max_bytes of the result: a caller that knows how many
// it needs then sees that there are more, without the memory for all of them. With kNone it returns
// a copy.
//   source: the name of the bytes in an error.
// Errors: DATA_LOSS, with `source` and the byte offset, if the bytes are corrupt or end too early.
absl::StatusOr<std::string> Decompress(absl::string_view bytes, Compression compression,
                                       absl::string_view source,
                                       size_t max_bytes = std::numeric_limits<size_t>::max());
// Compresses `bytes`. With kNone it returns a copy.
//   level: 0 (no compression) to 9 (smallest result); -1 is zlib's default, 6.
// Errors: INVALID_ARGUMENT for another level.
absl::StatusOr<std::string> Compress(absl::string_view bytes, Compression compression,
                                     int level = -1);

}  // namespace estimator

#endif  // ESTIMATOR_RECORDS_COMPRESSION_H_
