// GZIP (RFC 1952) and ZLIB (RFC 1950) streams, by zlib.
#ifndef ESTIMATOR_RECORDS_COMPRESSION_H_
#define ESTIMATOR_RECORDS_COMPRESSION_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace estimator {

// As tf.io.TFRecordOptions' compression_type: "", "GZIP", "ZLIB".
enum class Compression { kNone, kGzip, kZlib };
absl::string_view CompressionName(Compression compression);

// The first bytes of every GZIP file.
bool LooksLikeGzip(absl::string_view bytes);

// Both copy with kNone.
// Errors: DATA_LOSS, naming `source` and the byte offset, if the bytes are corrupt or end too
// early.
absl::StatusOr<std::string> Decompress(absl::string_view bytes, Compression compression,
                                       absl::string_view source);
// level: 0 (none) to 9 (smallest); -1: zlib's default, 6.
absl::StatusOr<std::string> Compress(absl::string_view bytes, Compression compression,
                                     int level = -1);

}  // namespace estimator

#endif  // ESTIMATOR_RECORDS_COMPRESSION_H_
