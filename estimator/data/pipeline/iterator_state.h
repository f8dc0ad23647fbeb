// The format of a saved iterator state. Each node of the pipeline writes these, outermost first:
//   integer   varint: 7 bits in each byte, least significant first; the top bit is set in all bytes
//             but the last
//   bytes     varint length, then the bytes
//   nested    bytes that are the state of another node
//
// The whole state is sealed:
//   magic         "EITR"
//   version       u8
//   description   bytes: Dataset::Describe of the pipeline
//   nodes         the state of the nodes
//   crc           u32, little-endian: masked crc32c of everything before
// On disk: do not change.
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

// Reads the bytes of a StateWriter.
// Errors: DATA_LOSS if the bytes end too early, or if an Int is negative or above 2^62. Such a
// number is not a valid position.
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

// The part of a description that names the data of a source: `("MNIST")`; empty without a name.
// Quotes in the name are replaced, so that no other part of a description looks like it.
// On disk: do not change.
std::string DataName(absl::string_view name);

// Adds the description and the checksum to the state of the nodes.
std::string SealState(absl::string_view description, absl::string_view nodes);

// Checks that the bytes are an undamaged result of SealState, of any pipeline and version.
// Errors: DATA_LOSS.
absl::Status CheckSealedState(absl::string_view sealed);
// The parts of a state of any pipeline.
// Errors: DATA_LOSS if the bytes are damaged; INVALID_ARGUMENT if they are of another version.
struct SealedState {
  absl::string_view description;
  absl::string_view nodes;
};
absl::StatusOr<SealedState> ReadSealedState(absl::string_view sealed);
// The label of the last node in a description: "Batch(8)" of "Zip(Idx, Idx) > Batch(8)".
absl::string_view LastStep(absl::string_view description);
// Returns the state of the nodes. A state that was saved without names of data may be of any.
// Errors: DATA_LOSS if the bytes are damaged; FAILED_PRECONDITION if they are of data of another
// name; INVALID_ARGUMENT if they are of another pipeline (with the steps that differ and both
// descriptions) or of another version.
absl::StatusOr<absl::string_view> UnsealState(absl::string_view description,
                                              absl::string_view sealed);

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PIPELINE_ITERATOR_STATE_H_
