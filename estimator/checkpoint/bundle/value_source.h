// Gives the bytes of a checkpoint's values as TensorBundle stores them (bundle_format.h). Each file
// format has an implementation.
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

// Thread-safe. In all functions `entry` must hold bytes: it is a tensor without slices, or a slice.
class ValueSource {
 public:
  // The most bytes that are passed to a sink at once. A piece of this size is still in the cache
  // when its crc is computed.
  static constexpr size_t kPieceBytes = size_t{1} << 20;

  using Sink = std::function<absl::Status(absl::string_view piece)>;

  virtual ~ValueSource() = default;

  // Passes the bytes of an entry of any dtype to `sink`, in order. They are verified after the last
  // byte is read. The first error of `sink` ends the read. A null sink only verifies.
  // Errors: DATA_LOSS with the file, the variable and the offset.
  virtual absl::Status Read(const BundleEntry& entry, const Sink& sink) const = 0;
  // The same, but directly into `bytes`, which has room for entry.size bytes.
  virtual absl::Status ReadInto(const BundleEntry& entry, char* bytes) const = 0;
  // Reads n bytes at offset `begin` of the entry. They are not verified if the entry has a
  // masked_crc32c, because that covers the whole entry. REQUIRES: the range lies in the entry.
  virtual absl::Status ReadRange(const BundleEntry& entry, int64_t begin, size_t n,
                                 char* bytes) const = 0;

  // DATA_LOSS: "<file>: <variable> (8 bytes at offset 0): <what>"
  absl::Status Corrupt(const BundleEntry& entry, absl::string_view what) const;
  // The path of the file of a shard.
  virtual std::string Path(int shard) const = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_BUNDLE_VALUE_SOURCE_H_
