// Reads and writes IDX files, the format of MNIST. Files may be GZIP-compressed, which is
// recognized by their first bytes.
//   magic    0, 0, type (u8), rank (u8)
//   sizes    rank times u32, big-endian
//   data     row-major, big-endian
// The type is 0x08 u8, 0x09 i8, 0x0b i16, 0x0c i32, 0x0d f32, or 0x0e f64.
// Source: http://yann.lecun.com/exdb/mnist/, "the IDX file format".
#ifndef ESTIMATOR_DATA_SOURCES_IDX_H_
#define ESTIMATOR_DATA_SOURCES_IDX_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/base/string_arg.h"
#include "estimator/data/pipeline/dataset.h"

namespace estimator {

// Reads the whole file as one array.
// Errors: NOT_FOUND; DATA_LOSS if the file is truncated, too long or not an IDX file, with the file
// and the bytes expected and found.
absl::StatusOr<Array> ReadIdx(StringArg path);

// As ReadIdx, for the contents of a file.
//   name: of the contents, for messages.
absl::StatusOr<Array> ParseIdx(StringArg contents, StringArg name);

// One element for each row: u8 [28,28] for MNIST's images, u8 [] for its labels. The call reads the
// whole file.
Dataset IdxDataset(StringArg path);

// Writes an IDX file that is not compressed.
// Errors: INVALID_ARGUMENT for a dtype, rank or size that the format cannot hold.
absl::Status WriteIdx(StringArg path, const Array& array);

}  // namespace estimator

#endif  // ESTIMATOR_DATA_SOURCES_IDX_H_
