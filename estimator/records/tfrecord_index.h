// The index of a TFRecord file: the byte at which each record begins. It is made by one scan of the
// lengths of the records, and is cached beside the file as ".<name>.index":
//   magic       "TFRI"
//   version     u8: 1
//   file size   u64: bytes of the TFRecord file
//   modified    u64: the bits of the f64 time of its last change, in seconds since 1970
//   records     u64: number of records
//   offsets     u64 for each record: the byte at which it begins
//   crc         u32: masked crc32c of everything before it
// Integers are little-endian. On disk: do not change. The name begins with a dot, so that a pattern
// such as "train-*" does not match it.
#ifndef ESTIMATOR_RECORDS_TFRECORD_INDEX_H_
#define ESTIMATOR_RECORDS_TFRECORD_INDEX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/base/string_arg.h"
#include "estimator/records/compression.h"

namespace estimator {

struct TFRecordIndex {
  // The byte at which each record begins, and at the end the size of the file.
  std::vector<int64_t> offsets = {0};

  int64_t num_records() const { return static_cast<int64_t>(offsets.size()) - 1; }
};

// The index of a file that is not compressed. Reads the cached one if the size and the time of the
// file are those that it names. Otherwise scans the file, and writes the cached one. If the folder
// is not writable, the result is not cached, which the log says once.
// Errors: those of the file; DATA_LOSS if the scan finds a damaged length or a truncated record.
absl::StatusOr<TFRecordIndex> LoadTFRecordIndex(StringArg path);

// The path of the cached index of a file.
std::string TFRecordIndexPath(StringArg path);

// The number of records of all files. A name that ends in "-<count>.tfrec", as in
// "flowers00-230.tfrec", gives the count of its file, unless the numbers of the names count the
// files themselves. Other files have an index, which is made if it is not there. Compressed files
// are decompressed.
// Errors: those of LoadTFRecordIndex.
absl::StatusOr<int64_t> CountRecords(const std::vector<std::string>& files,
                                     Compression compression = Compression::kNone);

// The bytes of a cached index, and the index that they hold.
// Errors of the decoder: DATA_LOSS if they are damaged; NOT_FOUND if they are of another version,
// or of a file of another size or time.
std::string EncodeTFRecordIndex(const TFRecordIndex& index, double modified);
absl::StatusOr<TFRecordIndex> DecodeTFRecordIndex(absl::string_view bytes, int64_t file_size,
                                                  double modified);

}  // namespace estimator

#endif  // ESTIMATOR_RECORDS_TFRECORD_INDEX_H_
