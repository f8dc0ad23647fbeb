#include "estimator/image/huffman/huffman_table.h"

#include <algorithm>
#include <iterator>

namespace estimator::image {

void HuffmanTable::Set(const uint8_t* num_codes, const uint8_t* symbols, bool is_dc) {
  // Most files have the tables of the standard, so those of the last file are often right.
  if (is_set_ && is_dc == is_dc_ && std::equal(num_codes + 1, num_codes + 17, num_codes_ + 1) &&
      std::equal(symbols, symbols + 256, symbols_)) {
    return;
  }
  is_set_ = true;
  is_dc_ = is_dc;
  std::copy_n(num_codes, 17, num_codes_);
  std::copy_n(symbols, 256, symbols_);
  int32_t code = 0, index = 0;
  for (int length = 1; length <= 16; ++length) {
    const int32_t count = num_codes_[length];
    offset_[length] = index - code;
    last_code_[length] = count > 0 ? code + count - 1 : -1;
    code = (code + count) << 1;
    index += count;
  }
  MakeEntries();
  if (!is_dc_) MakeSkips();
}

HuffmanTable::Entry HuffmanTable::EntryOf(int code_length, uint8_t symbol) const {
  const int size = symbol & 15, run = symbol >> 4;
  if (!is_dc_ && size == 0 && run != 15) return Entry(Entry::kEndOfBlock, code_length, 0, 1);
  return Entry(Entry::kValue, code_length, size, run + 1);
}

HuffmanTable::Entry HuffmanTable::FindLong(uint32_t bits16) const {
  for (int length = kLookupBits + 1; length <= 16; ++length) {
    const auto code = static_cast<int32_t>(bits16 >> (16 - length));
    if (code > last_code_[length]) continue;
    const int32_t index = code + offset_[length];
    return index < 0 || index > 255 ? Entry() : EntryOf(length, symbols_[index]);
  }
  return Entry();
}

void HuffmanTable::MakeEntries() {
  std::fill(std::begin(entries_), std::end(entries_), Entry());
  for (int length = 1; length <= kLookupBits; ++length) {
    for (int i = 0; i < num_codes_[length]; ++i) {
      const int32_t code = last_code_[length] - num_codes_[length] + 1 + i;
      const int32_t count = 1 << (kLookupBits - length);
      std::fill_n(entries_ + code * count, count,
                  EntryOf(length, symbols_[code + offset_[length]]));
    }
  }
}

void HuffmanTable::MakeSkips() {
  constexpr uint32_t kMask = (1 << kLookupBits) - 1;
  for (uint32_t bits = 0; bits <= kMask; ++bits) {
    int length = 0, advance = 0;
    bool ends = false;
    while (length < kLookupBits && !ends) {
      const Entry entry = entries_[bits << length & kMask];
      // The zeros that are shifted in are not data, so the code must end before them.
      if (entry.kind() == Entry::kLong || length + entry.code_length() > kLookupBits) break;
      length += entry.length();
      advance += entry.advance();
      ends = entry.kind() == Entry::kEndOfBlock;
    }
    skips_[bits] = Skip(length, advance, ends);
  }
}

}  // namespace estimator::image
