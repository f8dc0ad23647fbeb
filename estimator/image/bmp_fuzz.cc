// Fuzzes the BMP decoder. The input is a byte, modulo 6 the option channels, and the file. The size
// of the result is that of the header.
#include <cstdint>
#include <cstdlib>

#include "estimator/image/bmp.h"
#include "glog/logging.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace image = estimator::image;
  if (size < 1) return 0;
  const estimator::StringArg contents(reinterpret_cast<const char*>(data) + 1, size - 1);
  const int channels = data[0] % 6;
  const absl::StatusOr<estimator::Array> decoded =
      image::DecodeBmp(contents, {.channels = channels});
  if (!decoded.ok()) {
    CHECK(absl::IsInvalidArgument(decoded.status())) << decoded.status();
    return 0;
  }
  CHECK(channels == 0 || decoded->shape()[2] == channels) << decoded->TypeString();
  const auto little_endian = [&](size_t position) {
    uint32_t value = 0;
    for (size_t i = 4; i-- > 0;) value = value << 8 | data[1 + position + i];
    return static_cast<int32_t>(value);
  };
  CHECK_EQ(decoded->shape()[1], little_endian(18));
  CHECK_EQ(decoded->shape()[0], std::abs(little_endian(22)));
  return 0;
}
