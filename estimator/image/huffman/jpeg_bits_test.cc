#include "estimator/image/huffman/jpeg_bits.h"

#include <vector>

#include "gtest/gtest.h"

namespace estimator::image {
namespace {

TEST(JpegBits, LeaveOutStuffedBytesAndEndAtAMarker) {
  const uint8_t bytes[] = {0x12, 0xff, 0x00, 0x34, 0xff, 0xd0, 0x56, 0xff, 0xd9};
  JpegBits bits(bytes, bytes + sizeof(bytes));
  ASSERT_TRUE(bits.Refill());
  EXPECT_EQ(bits.Peek(24), 0x12ff34u);
  EXPECT_FALSE(bits.TakeMarker(0xd0)) << "24 bits precede it";
  bits.Drop(20);
  EXPECT_FALSE(bits.TakeMarker(0xd1));
  EXPECT_TRUE(bits.TakeMarker(0xd0));
  ASSERT_TRUE(bits.Refill());
  EXPECT_EQ(bits.Peek(16), 0x5600u);
  bits.Drop(9);
  EXPECT_FALSE(bits.ok());
  EXPECT_FALSE(bits.Refill());
}

TEST(JpegBits, DoNotReadBehindTheData) {
  const std::vector<uint8_t> bytes(11, 0xab);
  JpegBits bits(bytes.data(), bytes.data() + bytes.size());
  ASSERT_TRUE(bits.Refill());
  bits.Drop(40);
  EXPECT_FALSE(bits.Refill()) << "the data end without a marker";
}

}  // namespace
}  // namespace estimator::image
