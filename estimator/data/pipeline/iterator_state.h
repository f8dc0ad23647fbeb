// The bytes of a saved iterator: what each node of a pipeline writes, outermost first.
//   integer   varint: 7 bits a byte, least significant first, the top bit set on all but the last
//   bytes     varint length, then the bytes
//   nested    bytes, in which another node's state stands
// The whole is sealed: "EITR", version (u8), description of the pipeline (bytes), nodes' state, and
// the masked crc32c of all that (u32, little-endian). On disk: do not change.
#ifndef ESTIMATOR_DATA_PIPELINE_ITERATOR_STATE_H_
#define ESTIMATOR_DATA_PIPELINE_ITERATOR_STATE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace estimator {

class StateWriter {
 public:
  void Int(uint64_t value);
  void Int(int64_t value) { Int(static_cast<uint64_t>(value)); }
  void Int(int value) { Int(static_cast<uint64_t>(value)); }
  void Bool(bool value) { Int(value ? 1 : 0); }
  void Bytes(absl::string_view value);
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Reads what a StateWriter wrote. Errors: DATA_LOSS where the bytes end too early, or where an Int
// is negative or above 2^62: it would be no position.
class StateReader {
 public:
  explicit StateReader(absl::string_view bytes) : rest_(bytes) {}
  absl::StatusOr<uint64_t> Unsigned();
  absl::StatusOr<int64_t> Int();
  absl::StatusOr<bool> Bool();
  absl::StatusOr<absl::string_view> Bytes();
  size_t remaining() const { return rest_.size(); }

 private:
  absl::string_view rest_;
};

std::string SealState(absl::string_view description, absl::string_view nodes);
// Whether the bytes are those that SealState gave, of whichever pipeline and version.
// Errors: DATA_LOSS.
absl::Status CheckSealedState(absl::string_view sealed);
// The nodes' state. Errors: DATA_LOSS if the bytes are damaged; INVALID_ARGUMENT, with both
// descriptions, if they are of another pipeline, or of a later version.
absl::StatusOr<absl::string_view> UnsealState(absl::string_view description,
                                              absl::string_view sealed);

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PIPELINE_ITERATOR_STATE_H_
