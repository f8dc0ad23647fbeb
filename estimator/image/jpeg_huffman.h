// Look-up tables for the Huffman codes of a JPEG file. Internal to estimator/image.
#ifndef ESTIMATOR_IMAGE_JPEG_HUFFMAN_H_
#define ESTIMATOR_IMAGE_JPEG_HUFFMAN_H_

#include <cstdint>

namespace estimator::image {

// The codes of one table. A symbol is followed by the bits of a value: the symbol's lower four bits
// are their number, and its upper four bits the number of zeros before the value.
class HuffmanTable {
 public:
  static constexpr int kLookupBits = 10;

  // What the next kLookupBits bits of the data begin with. For kValue, the code and the bits of its
  // value are all in them; for kCode, only the code is. kLong: the code is longer, or there is none.
  enum Kind : uint8_t { kValue = 0, kCode = 64, kEndOfBlock = 128, kLong = 192 };
  struct Entry {     // 4 bytes, so that the tables of a file stay in the L1 cache
    int16_t value;   // of kValue; for kCode the number of bits of the value
    uint8_t length;  // in bits: of the code, for kValue also of the value
    uint8_t step;    // the kind, plus what is added to the position in a block: 1 to 16

    Kind kind() const { return static_cast<Kind>(step & kLong); }
    int advance() const { return step & 63; }
  };
  // Whole symbols that the next bits begin with, for blocks that are skipped. The last symbol's value
  // may end behind kLookupBits bits.
  struct Skip {
    uint8_t length;   // in bits, at most kMaxSkipLength; 0: the first code is longer
    uint8_t advance;  // of all symbols together; the end of a block counts as one
    bool ends_block;
  };
  static constexpr int kMaxSkipLength = kLookupBits + 15;

  // As in a file (DHT): num_codes[n] codes of n bits for n in [1, 16], and their symbols in order.
  // `is_dc`: the symbols are numbers of bits only, and none ends a block.
  // REQUIRES: libjpeg has accepted the table.
  void Set(const uint8_t* num_codes, const uint8_t* symbols, bool is_dc);

  const Entry& Find(uint32_t bits) const { return entries_[bits]; }
  const Skip& FindSkip(uint32_t bits) const { return skips_[bits]; }
  // For kLong: the code at the beginning of 16 bits. False if there is none.
  bool FindLong(uint32_t bits16, int* length, uint8_t* symbol) const;

 private:
  void MakeEntries();
  void MakeSkips();

  uint8_t num_codes_[17] = {};
  uint8_t symbols_[256] = {};
  bool is_set_ = false;
  bool is_dc_ = false;
  int32_t last_code_[17] = {};  // of each length; -1 if there is none
  int32_t offset_[17] = {};     // symbols_[code + offset_[length]]
  Entry entries_[1 << kLookupBits] = {};
  Skip skips_[1 << kLookupBits] = {};
};

// The value that `size` bits stand for (HUFF_EXTEND in ITU-T T.81, F.2.2.1).
inline int32_t ExtendValue(uint32_t bits, int size) {
  const auto value = static_cast<int32_t>(bits);
  return size > 0 && value < (1 << (size - 1)) ? value - (1 << size) + 1 : value;
}

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_JPEG_HUFFMAN_H_
