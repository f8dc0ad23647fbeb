#include "tpu/pjrt/compile_options.h"

#include "gtest/gtest.h"

namespace estimator::tpu::pjrt {
namespace {

TEST(CompileOptions, EncodesOneReplica) {
  // 3: { 4: 1, 5: 1, 9: { 1: 1, 2: 1, 3: { 1: [0] } } }
  const unsigned char expected[] = {0x1a, 0x0f, 0x20, 0x01, 0x28, 0x01, 0x4a, 0x09, 0x08,
                                    0x01, 0x10, 0x01, 0x1a, 0x03, 0x0a, 0x01, 0x00};
  EXPECT_EQ(CompileOptionsFor({0}),
            std::string(reinterpret_cast<const char*>(expected), sizeof expected));
}

TEST(CompileOptions, EncodesLargeDeviceIdsInSevenBitGroups) {
  const std::string options = CompileOptionsFor({0, 300});
  // replica_device_ids: [0, 300], where 300 is ac 02.
  EXPECT_NE(options.find(std::string("\x0a\x03\x00\xac\x02", 5)), std::string::npos);
  EXPECT_EQ(static_cast<size_t>(options[1]) + 2, options.size());
}

}  // namespace
}  // namespace estimator::tpu::pjrt
