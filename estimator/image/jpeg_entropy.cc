#include "estimator/image/jpeg_entropy.h"

#include <cstring>
#include <memory>

#include "estimator/image/jpeg_huffman.h"

extern "C" {
#include <jpegint.h>
}

namespace estimator::image {
namespace {

constexpr int kLast = DCTSIZE2 - 1;  // the position of the last coefficient of a block

// Where the coefficients of a file are in a block. The last 16 are for damaged files, which have
// coefficients behind the end of a block.
constexpr uint8_t kNaturalOrder[DCTSIZE2 + 16] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33,
    40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36,
    29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54,
    47, 55, 62, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63};

// The tables of the last file that this thread decoded.
struct Tables {
  HuffmanTable dc[NUM_HUFF_TBLS];
  HuffmanTable ac[NUM_HUFF_TBLS];
};

Tables& TablesOfThread() {
  thread_local const auto tables = std::make_unique<Tables>();
  return *tables;
}

// A symbol whose code and value are not in an entry together. REQUIRES: 31 bits can be taken.
// Returns false if there is no such code.
inline bool TakeSymbol(const HuffmanTable& table, const HuffmanTable::Entry& entry, JpegBits& bits,
                       int* advance, int* size) {
  if (entry.kind() == HuffmanTable::kCode) {
    bits.Drop(entry.length);
    *advance = entry.advance();
    *size = entry.value;
    return true;
  }
  int length = 0;
  uint8_t symbol = 0;
  if (!table.FindLong(bits.Peek(16), &length, &symbol)) return false;
  bits.Drop(length);
  *advance = (symbol >> 4) + 1;
  *size = symbol & 15;
  return true;
}

inline int32_t TakeValue(JpegBits& bits, int size) {
  if (size == 0) return 0;
  const int32_t value = ExtendValue(bits.Peek(size), size);
  bits.Drop(size);
  return value;
}

// Takes a difference of DC coefficients.
inline bool TakeDifference(const HuffmanTable& table, JpegBits& bits, int32_t* difference) {
  const HuffmanTable::Entry& entry = table.Find(bits.Peek(HuffmanTable::kLookupBits));
  if (entry.kind() == HuffmanTable::kValue) {
    bits.Drop(entry.length);
    *difference = entry.value;
    return true;
  }
  int advance = 0, size = 0;
  if (!TakeSymbol(table, entry, bits, &advance, &size)) return false;
  *difference = TakeValue(bits, size);
  return true;
}

// Takes one symbol of a block and advances `position`, that of the last coefficient. Sets `ended`
// at the end of the block. Writes the coefficient unless `block` is null.
// REQUIRES: 31 bits can be taken.
inline bool TakeCoefficient(const HuffmanTable& table, const HuffmanTable::Entry& entry,
                            JpegBits& bits, JCOEF* block, int* position, bool* ended) {
  if (entry.kind() == HuffmanTable::kEndOfBlock) {
    bits.Drop(entry.length);
    *ended = true;
    return true;
  }
  int advance = 0, size = 0;
  if (!TakeSymbol(table, entry, bits, &advance, &size)) return false;
  if (size == 0 && advance != 16) {  // an end of the block with a long code
    *ended = true;
    return true;
  }
  *position += advance;
  const int32_t value = TakeValue(bits, size);
  if (block != nullptr) block[kNaturalOrder[*position]] = static_cast<JCOEF>(value);
  *ended = *position >= kLast;
  return *position <= kLast;
}

// Takes the AC coefficients of a block. False at a fault of the data.
inline bool TakeBlock(const HuffmanTable& table, JpegBits& bits, JCOEF* block) {
  int position = 0;
  while (true) {
    if (!bits.Refill()) return false;
    // The first two symbols take 10 bits each, or the loop is left. So the third one may take 31.
    for (int i = 0; i < 3; ++i) {
      const HuffmanTable::Entry entry = table.Find(bits.Peek(HuffmanTable::kLookupBits));
      if (entry.kind() != HuffmanTable::kValue) {
        bool ended = false;
        if (!TakeCoefficient(table, entry, bits, block, &position, &ended)) return false;
        if (ended) return true;
        break;
      }
      bits.Drop(entry.length);
      position += entry.advance();
      block[kNaturalOrder[position]] = entry.value;
      if (position >= kLast) return position == kLast;
    }
  }
}

// The same without writing.
inline bool SkipBlock(const HuffmanTable& table, JpegBits& bits) {
  static_assert(HuffmanTable::kMaxSkipLength + 31 <= 56);
  int position = 0;
  while (true) {
    if (!bits.Refill()) return false;
    for (int i = 0; i < 2; ++i) {
      const uint32_t next = bits.Peek(HuffmanTable::kLookupBits);
      const HuffmanTable::Skip skip = table.FindSkip(next);
      if (skip.length > 0 && position + skip.advance <= kLast) {
        bits.Drop(skip.length);
        position += skip.advance;
        if (skip.ends_block || position == kLast) return true;
        continue;
      }
      // A long code, or the last symbols of a block and the first ones of the next block.
      const HuffmanTable::Entry& entry = table.Find(next);
      bool ended = false;
      if (entry.kind() == HuffmanTable::kValue) {
        bits.Drop(entry.length);
        position += entry.advance();
        if (position > kLast) return false;
        ended = position == kLast;
      } else if (!TakeCoefficient(table, entry, bits, nullptr, &position, &ended)) {
        return false;
      }
      if (ended) return true;
      break;
    }
  }
}

// Whether the scan that has begun is the only one, sequential and with Huffman codes.
bool CanDecode(const jpeg_decompress_struct& cinfo) {
  if (cinfo.progressive_mode || cinfo.arith_code || cinfo.data_precision != 8) return false;
  if (cinfo.comps_in_scan != cinfo.num_components) return false;
  return cinfo.Ss == 0 && cinfo.Se == kLast && cinfo.Ah == 0 && cinfo.Al == 0;
}

}  // namespace

void JpegEntropyDecoder::Attach(j_decompress_ptr cinfo, Columns columns) {
  if (!CanDecode(*cinfo)) return;
  Tables& tables = TablesOfThread();
  for (int i = 0; i < cinfo->comps_in_scan; ++i) {
    const jpeg_component_info& component = *cinfo->cur_comp_info[i];
    const JHUFF_TBL* const dc = cinfo->dc_huff_tbl_ptrs[component.dc_tbl_no];
    const JHUFF_TBL* const ac = cinfo->ac_huff_tbl_ptrs[component.ac_tbl_no];
    tables.dc[component.dc_tbl_no].Set(dc->bits, dc->huffval, /*is_dc=*/true);
    tables.ac[component.ac_tbl_no].Set(ac->bits, ac->huffval, /*is_dc=*/false);
  }
  num_blocks_ = cinfo->blocks_in_MCU;
  for (int i = 0; i < num_blocks_; ++i) {
    const int number = cinfo->MCU_membership[i];
    const jpeg_component_info& component = *cinfo->cur_comp_info[number];
    blocks_[i] = {.dc = &tables.dc[component.dc_tbl_no],
                  .ac = &tables.ac[component.ac_tbl_no],
                  .component = number,
                  .needed = component.component_needed != FALSE};
  }
  const uint8_t* const next = cinfo->src->next_input_byte;
  bits_ = JpegBits(next, next + cinfo->src->bytes_in_buffer);
  columns_ = columns;
  restart_interval_ = mcus_to_restart_ = cinfo->restart_interval;
  cinfo->client_data = this;
  cinfo->entropy->decode_mcu = DecodeMcu;
}

boolean JpegEntropyDecoder::DecodeMcu(j_decompress_ptr cinfo, JBLOCKROW* mcu) {
  JpegEntropyDecoder& decoder = *static_cast<JpegEntropyDecoder*>(cinfo->client_data);
  if (decoder.Decode(cinfo, mcu)) return TRUE;
  decoder.gave_up_ = true;
  ERREXIT(cinfo, JERR_INPUT_EOF);
  return FALSE;
}

bool JpegEntropyDecoder::TakeRestart() {
  constexpr int kFirstRestart = 0xd0;
  if (!bits_.TakeMarker(kFirstRestart + num_restarts_ % 8)) return false;
  ++num_restarts_;
  mcus_to_restart_ = restart_interval_;
  std::memset(dc_, 0, sizeof(dc_));
  return true;
}

bool JpegEntropyDecoder::Decode(j_decompress_ptr cinfo, JBLOCKROW* mcu) {
  if (restart_interval_ > 0 && mcus_to_restart_-- == 0) {
    if (!TakeRestart()) return false;
    --mcus_to_restart_;
  }
  JpegBits bits = bits_;  // in registers
  const bool store = mcu != nullptr && columns_.first <= column_ && column_ <= columns_.last;
  for (int i = 0; i < num_blocks_; ++i) {
    const Block& block = blocks_[i];
    int32_t difference = 0;
    if (!bits.Refill() || !TakeDifference(*block.dc, bits, &difference)) return false;
    dc_[block.component] += static_cast<uint32_t>(difference);
    if (store && block.needed) {
      JCOEF* const coefficients = mcu[i][0];
      coefficients[0] = static_cast<JCOEF>(dc_[block.component]);
      if (!TakeBlock(*block.ac, bits, coefficients)) return false;
    } else if (!SkipBlock(*block.ac, bits)) {
      return false;
    }
  }
  if (!bits.ok()) return false;
  bits_ = bits;
  if (++column_ < cinfo->MCUs_per_row) return true;
  column_ = 0;
  if (++row_ < cinfo->MCU_rows_in_scan) return true;
  // libjpeg reads the markers behind the scan.
  cinfo->src->bytes_in_buffer -= static_cast<size_t>(bits_.next() - cinfo->src->next_input_byte);
  cinfo->src->next_input_byte = bits_.next();
  return true;
}

}  // namespace estimator::image
