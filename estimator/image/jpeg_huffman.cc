#include "estimator/image/jpeg_huffman.h"

#include <algorithm>
#include <cstddef>
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

bool HuffmanTable::FindLong(uint32_t bits16, int* length, uint8_t* symbol) const {
  for (int n = kLookupBits + 1; n <= 16; ++n) {
    const auto code = static_cast<int32_t>(bits16 >> (16 - n));
    if (code > last_code_[n]) continue;
    const int32_t index = code + offset_[n];
    if (index < 0 || index > 255) return false;
    *length = n;
    *symbol = symbols_[index];
    return true;
  }
  return false;
}

void HuffmanTable::MakeEntries() {
  std::fill(std::begin(entries_), std::end(entries_),
            Entry{.value = 0, .length = 0, .step = kLong});
  for (int length = 1; length <= kLookupBits; ++length) {
    for (int i = 0; i < num_codes_[length]; ++i) {
      const int32_t code = last_code_[length] - num_codes_[length] + 1 + i;
      const uint8_t symbol = symbols_[code + offset_[length]];
      const int size = symbol & 15, run = symbol >> 4, rest = kLookupBits - length;
      const Kind kind = !is_dc_ && size == 0 && run != 15 ? kEndOfBlock
                        : size > rest                     ? kCode
                                                          : kValue;
      Entry entry = {.value = static_cast<int16_t>(size),
                     .length = static_cast<uint8_t>(kind == kCode ? length : length + size),
                     .step = static_cast<uint8_t>(kind + (kind == kEndOfBlock ? 1 : run + 1))};
      for (int32_t suffix = 0; suffix < 1 << rest; ++suffix) {
        if (kind == kValue) {
          const auto bits = static_cast<uint32_t>(suffix >> (rest - size));
          entry.value = static_cast<int16_t>(ExtendValue(bits, size));
        }
        entries_[static_cast<size_t>(code << rest | suffix)] = entry;
      }
    }
  }
}

void HuffmanTable::MakeSkips() {
  constexpr uint32_t kMask = (1 << kLookupBits) - 1;
  for (uint32_t bits = 0; bits <= kMask; ++bits) {
    Skip skip = {.length = 0, .advance = 0, .ends_block = false};
    while (skip.length < kLookupBits && !skip.ends_block) {
      const Entry& entry = entries_[bits << skip.length & kMask];
      if (entry.kind() == kLong) break;
      const int end = skip.length + entry.length;
      if (end > kLookupBits) break;  // what follows the bits is not known
      skip.length = static_cast<uint8_t>(entry.kind() == kCode ? end + entry.value : end);
      skip.advance = static_cast<uint8_t>(skip.advance + entry.advance());
      skip.ends_block = entry.kind() == kEndOfBlock;
    }
    skips_[bits] = skip;
  }
}

}  // namespace estimator::image
