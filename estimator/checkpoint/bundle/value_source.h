// The bytes of a checkpoint's values, as TensorBundle stores them (bundle_format.h), whatever the
// format of the files that they come from.
#ifndef ESTIMATOR_CHECKPOINT_BUNDLE_VALUE_SOURCE_H_
#define ESTIMATOR_CHECKPOINT_BUNDLE_VALUE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/checkpoint/bundle/bundle_entry.h"

namespace estimator {

// Thread-safe. `entry` is everywhere one that holds bytes: a tensor without slices, or a slice.
class ValueSource {
 public:
  // At most so many bytes are handed out at once: the crc of a piece is taken while it is in the
  // cache.
  static constexpr size_t kPieceBytes = size_t{1} << 20;

  using Sink = std::function<absl::Status(absl::string_view piece)>;

  virtual ~ValueSource() = default;

  // Hands the bytes of an entry, of any dtype, to `sink`, in order, which may be null; they are
  // verified when the last are read. The first error of `sink` ends it.
  // Errors: DATA_LOSS naming the file, the variable and the offset.
  virtual absl::Status Read(const BundleEntry& entry, const Sink& sink) const = 0;
  // The same, straight into `bytes`, which holds entry.size of them.
  virtual absl::Status ReadInto(const BundleEntry& entry, char* bytes) const = 0;
  // n bytes from `begin` within the entry on; not verified where entry.masked_crc32c is there for
  // that. REQUIRES: they lie in it.
  virtual absl::Status ReadRange(const BundleEntry& entry, int64_t begin, size_t n,
                                 char* bytes) const = 0;

  // DATA_LOSS: "<file>: <variable> (8 bytes at offset 0): <what>"
  absl::Status Corrupt(const BundleEntry& entry, absl::string_view what) const;
  // The file that a shard is.
  virtual std::string Path(int shard) const = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_BUNDLE_VALUE_SOURCE_H_
