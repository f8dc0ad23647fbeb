// A tensor of strings as bytes, in the data file of a checkpoint.
//
//   varint64 length            one an element
//   u32      masked crc32c of the lengths, each taken as a u32 (as a u64 if it is 2^32 or more)
//   bytes    of the strings, one after another
// The crc32c of the whole, which the index holds, is over: the lengths as u32 or u64, then the four
// bytes of the masked crc above, then the bytes of the strings. So it is not that of the stored
// bytes. Source: TF 2.15 tensorflow/core/util/tensor_bundle (WriteStringTensor, ReadStringTensor).
#ifndef ESTIMATOR_CHECKPOINT_BUNDLE_STRING_TENSOR_H_
#define ESTIMATOR_CHECKPOINT_BUNDLE_STRING_TENSOR_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace estimator {

// The crc32c, not masked, of the lengths so far and one more.
uint32_t ExtendCrc32cByLength(uint32_t crc, uint64_t length);

struct EncodedStrings {
  std::string bytes;
  uint32_t crc32c = 0;  // of the whole, not masked
};

EncodedStrings EncodeStrings(absl::Span<const std::string> values);

// Fills `values`, whose size is the number of elements.
//   crc32c: of the whole, not masked, as the index has it; nullopt where there is none.
// Errors: DATA_LOSS, with the offset in `bytes`, for whatever does not fit.
absl::Status DecodeStrings(absl::string_view bytes, std::optional<uint32_t> crc32c,
                           absl::Span<std::string> values);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_BUNDLE_STRING_TENSOR_H_
