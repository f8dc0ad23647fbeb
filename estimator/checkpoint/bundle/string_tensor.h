// Encodes and decodes a tensor of strings, as the data file of a checkpoint stores it:
//
//   varint64  length of an element; one for each element
//   u32       masked crc32c of the lengths, each taken as a u32 (as a u64 if it is 2^32 or more)
//   bytes     the strings, one after another
//
// The crc32c in the index is not that of the stored bytes. It covers, in this order:
//   the lengths, as u32 or u64; the 4 bytes of the masked crc above; the bytes of the strings.
//
// Source: TF 2.15 tensorflow/core/util/tensor_bundle (WriteStringTensor, ReadStringTensor).
#ifndef ESTIMATOR_CHECKPOINT_BUNDLE_STRING_TENSOR_H_
#define ESTIMATOR_CHECKPOINT_BUNDLE_STRING_TENSOR_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace estimator {

// Extends the crc32c of the lengths so far, not masked, by one more length.
uint32_t ExtendCrc32cByLength(uint32_t crc, uint64_t length);

struct EncodedStrings {
  std::string bytes;
  uint32_t crc32c = 0;  // the one for the index, not masked
};

EncodedStrings EncodeStrings(absl::Span<const std::string> values);

// Decodes the strings into `values`, whose size is the number of elements.
//   crc32c: the one in the index, not masked; nullopt if there is none.
// Errors: DATA_LOSS, with the offset in `bytes`, if the bytes are damaged.
absl::Status DecodeStrings(absl::string_view bytes, std::optional<uint32_t> crc32c,
                           absl::Span<std::string> values);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_BUNDLE_STRING_TENSOR_H_
