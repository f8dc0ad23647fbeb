// Look-up tables for the Huffman codes of a JPEG file. Internal to estimator/image.
#ifndef ESTIMATOR_IMAGE_HUFFMAN_HUFFMAN_TABLE_H_
#define ESTIMATOR_IMAGE_HUFFMAN_HUFFMAN_TABLE_H_

#include <cstdint>

namespace estimator::image {

// The codes of one table. A symbol is followed by the bits of a value: the symbol's lower four bits
// are their number, and its upper four bits the number of zeros before the value.
class HuffmanTable {
 public:
  static constexpr int kLookupBits = 10;

  // The symbol whose code the next kLookupBits bits of the data begin with, in one word: its length
  // in bits (0 to 7) with that of its value, the length of its value (8 to 15), what it adds to the
  // position in a block (16 to 23), and its kind (24 to 31). A word is 4 bytes, so that the tables
  // of a file stay in the L1 cache, and the bits to drop are its lowest ones.
  class Entry {
   public:
    enum Kind : uint8_t {
      kValue,       // a value, or 16 zeros
      kEndOfBlock,  // all other coefficients of the block are 0
      kLong,        // the code is longer than the bits, or there is none
    };
    constexpr Entry() : Entry(kLong, 0, 0, 0) {}
    constexpr Entry(Kind kind, int code_length, int size, int advance)
        : word_(static_cast<uint32_t>(kind << 24 | advance << 16 | size << 8 |
                                      (code_length + size))) {}
    Kind kind() const { return static_cast<Kind>(word_ >> 24); }
    int length() const { return static_cast<int>(word_ & 255); }
    int size() const { return static_cast<int>(word_ >> 8 & 255); }
    int code_length() const { return length() - size(); }
    int advance() const { return static_cast<int>(word_ >> 16 & 255); }

   private:
    uint32_t word_;
  };

  // The whole symbols that the next bits begin with, for blocks that are skipped: their length in
  // bits (0 to 7), what they add to the position in a block (8 to 15), and whether the last one
  // ends the block (16). The end of a block counts as one position. The last value may end behind
  // kLookupBits bits.
  class Skip {
   public:
    constexpr Skip() = default;
    constexpr Skip(int length, int advance, bool ends_block)
        : word_(static_cast<uint32_t>((ends_block ? 1 : 0) << 16 | advance << 8 | length)) {}
    int length() const { return static_cast<int>(word_ & 255); }  // 0: the first code is longer
    int advance() const { return static_cast<int>(word_ >> 8 & 255); }
    bool ends_block() const { return word_ >> 16 != 0; }

   private:
    uint32_t word_ = 0;
  };
  static constexpr int kMaxLength = kLookupBits + 15;  // of an Entry or a Skip

  // As in a file (DHT): num_codes[n] codes of n bits for n in [1, 16], and their symbols in order.
  // `is_dc`: the symbols are numbers of bits only, and none ends a block.
  // REQUIRES: libjpeg has accepted the table.
  void Set(const uint8_t* num_codes, const uint8_t* symbols, bool is_dc);

  Entry Find(uint32_t bits) const { return entries_[bits]; }
  Skip FindSkip(uint32_t bits) const { return skips_[bits]; }
  // For kLong: the entry of the code that 16 bits begin with. kLong if there is none.
  Entry FindLong(uint32_t bits16) const;

 private:
  Entry EntryOf(int code_length, uint8_t symbol) const;
  void MakeEntries();
  void MakeSkips();

  uint8_t num_codes_[17] = {};
  uint8_t symbols_[256] = {};
  bool is_set_ = false;
  bool is_dc_ = false;
  int32_t last_code_[17] = {};  // of each length; -1 if there is none
  int32_t offset_[17] = {};     // symbols_[code + offset_[length]]
  Entry entries_[1 << kLookupBits];
  Skip skips_[1 << kLookupBits];
};

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_HUFFMAN_HUFFMAN_TABLE_H_
