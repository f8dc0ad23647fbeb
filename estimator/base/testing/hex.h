// The bytes that hexadecimal digits stand for. Abseil's HexStringToBytes returns a string in one
// release and a bool in the next.
#ifndef ESTIMATOR_BASE_TESTING_HEX_H_
#define ESTIMATOR_BASE_TESTING_HEX_H_

#include <charconv>
#include <cstddef>
#include <string>
#include <system_error>

#include "absl/strings/string_view.h"

namespace estimator {

// A pair that is not two digits ends the result.
inline std::string HexToBytes(absl::string_view digits) {
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    unsigned char byte = 0;
    const char* const end = digits.data() + i + 2;
    const std::from_chars_result result = std::from_chars(end - 2, end, byte, 16);
    if (result.ec != std::errc() || result.ptr != end) break;
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

}  // namespace estimator

#endif  // ESTIMATOR_BASE_TESTING_HEX_H_
