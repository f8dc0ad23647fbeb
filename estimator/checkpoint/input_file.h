// The file `model.ckpt-50.input` beside a checkpoint. It holds the state of the input iterators and
// the checksum of `model.ckpt-50.meta`, because TensorFlow's format of that file has none:
//
//   state   bytes   the input's state (estimator/data/pipeline/iterator_state.h), with its own
//                   checksum
//   These follow if the training runs by epochs (TrainEpochs):
//   epochs  bytes   the position in the epochs (estimator/training/epochs/epoch_state.h)
//   magic   4 bytes "EPOC"
//   size    u64     bytes of `epochs`
//   crc     u32     masked crc32c of `epochs`
//   seal    u32     masked crc32c of the 16 bytes before it
//   These follow if the checkpoint has a graph:
//   magic   4 bytes "META"
//   size    u64     bytes of model.ckpt-50.meta
//   crc     u32     masked crc32c of model.ckpt-50.meta
//   seal    u32     masked crc32c of the 16 bytes before it
//
// Numbers are little-endian. On disk: do not change.
#ifndef ESTIMATOR_CHECKPOINT_INPUT_FILE_H_
#define ESTIMATOR_CHECKPOINT_INPUT_FILE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace estimator {

struct FileChecksum {
  uint64_t num_bytes = 0;
  uint32_t crc32c = 0;  // not masked

  static FileChecksum Of(absl::string_view contents);
};

struct InputFile {
  std::string state = {};
  std::string epochs = {};  // empty: the training does not run by epochs
  std::optional<FileChecksum> meta_graph = std::nullopt;
};

std::string EncodeInputFile(const InputFile& file);
// If the checksum of the graph or of the epochs is damaged, its bytes stay a part of the state. The
// state is then damaged, because the state's own checksum does not match.
InputFile DecodeInputFile(std::string bytes);

// Reads `<prefix>.input`. Errors: NOT_FOUND if it does not exist; those of the file system.
absl::StatusOr<InputFile> ReadInputFile(absl::string_view prefix);

// Checks the contents of `<prefix>.meta` against their checksum.
// Errors: DATA_LOSS with both sizes or both checksums.
absl::Status CheckMetaGraphBytes(absl::string_view contents, const FileChecksum& checksum);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_INPUT_FILE_H_
