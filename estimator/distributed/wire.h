// The messages between the processes of a group and the chief's server.
//
// A frame is a u32 length (little-endian), a byte with its type, and `length` bytes: a list of
// strings, each a u32 length and its bytes.
#ifndef ESTIMATOR_DISTRIBUTED_WIRE_H_
#define ESTIMATOR_DISTRIBUTED_WIRE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace estimator {

enum class FrameType : uint8_t {
  kHello,      // to the server: protocol, token, rank, size, host, process
  kWelcome,    // from the server: nothing
  kRefused,    // from the server: why
  kHeartbeat,  // both ways: nothing
  kCall,       // to the server: name of the call, bytes
  kResult,     // from the server: bytes of each rank
  kLeaving,    // to the server: nothing
  kLeft,       // from the server: the message for calls that wait for the rank that left
  kFailed,     // both ways: code and message of an error that ends the group
};

using Fields = std::vector<std::string>;

struct Frame {
  FrameType type = FrameType::kHeartbeat;
  Fields fields = {};
};

std::string EncodeFrame(FrameType type, const Fields& fields = {});

// Takes bytes as they arrive, and returns whole frames.
class FrameReader {
 public:
  // max_bytes: a longer frame is an error, so that a stranger cannot make us allocate memory.
  explicit FrameReader(uint32_t max_bytes) : max_bytes_(max_bytes) {}
  void set_max_bytes(uint32_t max_bytes) { max_bytes_ = max_bytes; }

  void Append(absl::string_view bytes) { bytes_.append(bytes.data(), bytes.size()); }
  // The next frame; nullopt if it is not whole yet.
  // Errors: DATA_LOSS if the bytes are no frame.
  absl::StatusOr<std::optional<Frame>> Next();

 private:
  uint32_t max_bytes_;
  std::string bytes_;
  size_t begin_ = 0;  // bytes before it were returned
};

}  // namespace estimator

#endif  // ESTIMATOR_DISTRIBUTED_WIRE_H_
