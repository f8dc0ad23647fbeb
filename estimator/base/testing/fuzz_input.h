// Splits the bytes of a fuzzer into fields. Fields past the end of the bytes are zero or empty.
#ifndef ESTIMATOR_BASE_TESTING_FUZZ_INPUT_H_
#define ESTIMATOR_BASE_TESTING_FUZZ_INPUT_H_

#include <absl/strings/string_view.h>

#include <cstddef>
#include <cstdint>

namespace estimator {

class FuzzInput {
 public:
  FuzzInput(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  uint8_t Byte() { return static_cast<uint8_t>(Take(1).empty() ? 0 : last_[0]); }
  // Little-endian.
  uint16_t Short() {
    const uint16_t low = Byte();
    return static_cast<uint16_t>(low | Byte() << 8);
  }
  absl::string_view Take(size_t size) {
    last_ = rest_.substr(0, size);
    rest_.remove_prefix(last_.size());
    return last_;
  }
  // Reads a u16 length and that number of bytes.
  absl::string_view Chunk() { return Take(Short()); }
  absl::string_view Rest() { return Take(rest_.size()); }
  bool empty() const { return rest_.empty(); }

 private:
  absl::string_view rest_, last_;
};

}  // namespace estimator

#endif  // ESTIMATOR_BASE_TESTING_FUZZ_INPUT_H_
