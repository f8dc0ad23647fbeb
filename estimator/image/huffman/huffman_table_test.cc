#include "estimator/image/huffman/huffman_table.h"

#include "gtest/gtest.h"

namespace estimator::image {
namespace {

// Two codes of 1 and 2 bits, and one of 12.
TEST(HuffmanTable, FindsCodesTogetherWithTheirValues) {
  uint8_t num_codes[17] = {}, symbols[256] = {};
  num_codes[1] = num_codes[2] = num_codes[12] = 1;
  symbols[0] = 0x00;  // 0: the end of a block
  symbols[1] = 0x23;  // 10: two zeros and a value of 3 bits
  symbols[2] = 0x01;  // 110000000000: a value of 1 bit
  HuffmanTable table;
  table.Set(num_codes, symbols, /*is_dc=*/false);
  const HuffmanTable::Entry end = table.Find(0b0111111111);
  EXPECT_EQ(end.kind(), HuffmanTable::Entry::kEndOfBlock);
  EXPECT_EQ(end.length(), 1);
  const HuffmanTable::Entry value = table.Find(0b1010110101);
  EXPECT_EQ(value.kind(), HuffmanTable::Entry::kValue);
  EXPECT_EQ(value.code_length(), 2);
  EXPECT_EQ(value.size(), 3);
  EXPECT_EQ(value.advance(), 3);
  EXPECT_EQ(table.Find(0b1100000000).kind(), HuffmanTable::Entry::kLong);
  EXPECT_EQ(table.FindLong(0b1100000000001111).length(), 13);
  EXPECT_EQ(table.FindLong(0b1100000000011111).kind(), HuffmanTable::Entry::kLong);
  // 10 101, 10 101: two values. The code that follows the next one is not known.
  const HuffmanTable::Skip two = table.FindSkip(0b1010110101);
  EXPECT_EQ(two.length(), 10);
  EXPECT_EQ(two.advance(), 6);
  EXPECT_FALSE(two.ends_block());
  const HuffmanTable::Skip value_and_end = table.FindSkip(0b1010100000);
  EXPECT_EQ(value_and_end.length(), 6);
  EXPECT_EQ(value_and_end.advance(), 4);
  EXPECT_TRUE(value_and_end.ends_block());
  EXPECT_EQ(table.FindSkip(0b1100000000).length(), 0);
}

}  // namespace
}  // namespace estimator::image
