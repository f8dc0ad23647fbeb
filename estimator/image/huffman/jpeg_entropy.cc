#include "estimator/image/huffman/jpeg_entropy.h"

#include <cstring>
#include <memory>

#include "absl/base/attributes.h"
#include "estimator/image/huffman/huffman_table.h"

extern "C" {
#include <jerror.h>
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

using Entry = HuffmanTable::Entry;
static_assert(HuffmanTable::kMaxLength + 31 <= 56,
              "a Refill is enough for a short and a long code");

// Takes the symbol of `entry` and the bits of its value, which it returns (HUFF_EXTEND in ITU-T
// T.81, F.2.2.1). It has no branches, because they would be mispredicted often.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline int32_t TakeValue(Entry entry, JpegBits& bits) {
  const uint64_t from_value = bits.PeekAll() << entry.code_length();
  const int size = entry.size();
  const auto value = static_cast<int32_t>((from_value >> 1) >> (63 - size));
  const auto is_positive = static_cast<int32_t>(from_value >> 63);
  bits.Drop(entry.length());
  return value + ((is_positive - 1) & (1 - (1 << size)));
}

// The entry of the next symbol. kLong if there is no such code.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline Entry FindEntry(const HuffmanTable& table,
                                                    const JpegBits& bits) {
  const Entry entry = table.Find(bits.Peek(HuffmanTable::kLookupBits));
  return entry.kind() == Entry::kLong ? table.FindLong(bits.Peek(16)) : entry;
}

// Takes the AC coefficients of a block. False at a fault of the data.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline bool TakeBlock(const HuffmanTable& table, JpegBits& bits,
                                                   JCOEF* block) {
  int position = 0;  // of the last coefficient
  while (true) {
    if (!bits.Refill()) return false;
    Entry entry = table.Find(bits.Peek(HuffmanTable::kLookupBits));
    if (entry.kind() == Entry::kValue) {
      position += entry.advance();
      block[kNaturalOrder[position]] = static_cast<JCOEF>(TakeValue(entry, bits));
      if (position >= kLast) return position == kLast;
      entry = table.Find(bits.Peek(HuffmanTable::kLookupBits));
    }
    if (entry.kind() != Entry::kValue) {
      if (entry.kind() == Entry::kLong) entry = table.FindLong(bits.Peek(16));
      if (entry.kind() == Entry::kEndOfBlock) {
        bits.Drop(entry.length());
        return true;
      }
      if (entry.kind() == Entry::kLong) return false;
    }
    position += entry.advance();
    block[kNaturalOrder[position]] = static_cast<JCOEF>(TakeValue(entry, bits));
    if (position >= kLast) return position == kLast;
  }
}

// The same without values.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline bool SkipBlock(const HuffmanTable& table, JpegBits& bits) {
  int position = 0;
  while (true) {
    if (!bits.Refill()) return false;
    HuffmanTable::Skip skip = table.FindSkip(bits.Peek(HuffmanTable::kLookupBits));
    if (skip.length() > 0 && position + skip.advance() <= kLast) {
      bits.Drop(skip.length());
      position += skip.advance();
      if (skip.ends_block() || position == kLast) return true;
      skip = table.FindSkip(bits.Peek(HuffmanTable::kLookupBits));
      if (skip.length() > 0 && position + skip.advance() <= kLast) {
        bits.Drop(skip.length());
        position += skip.advance();
        if (skip.ends_block() || position == kLast) return true;
        continue;
      }
    }
    // A long code, or the last symbols of a block and the first ones of the next block.
    const Entry entry = FindEntry(table, bits);
    if (entry.kind() == Entry::kLong) return false;
    bits.Drop(entry.length());
    if (entry.kind() == Entry::kEndOfBlock) return true;
    position += entry.advance();
    if (position >= kLast) return position == kLast;
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
    if (!bits.Refill()) return false;
    const Entry difference = FindEntry(*block.dc, bits);
    if (difference.kind() == Entry::kLong) return false;
    dc_[block.component] += static_cast<uint32_t>(TakeValue(difference, bits));
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
