// Reads the datasets of an HDF5 file with the HDF5 library. The file may be a stranger's.
//
// An HDF5 file is a tree of groups. A dataset is an array of numbers, stored as one block or in
// chunks. Only what lies in the file is read: links to other places, external storage and virtual
// datasets are refused, and compressed datasets as well, because a few bytes can become any number.
// Sizes are compared with the bytes that the file has before memory is allocated.
//
// The library is not thread-safe, so one lock guards all calls of it here. It does not guard calls
// that a program makes itself. The library's error printing is off during calls, and its innermost
// message becomes a part of the Status.
#ifndef ESTIMATOR_CHECKPOINT_KERAS_HDF5_FILE_H_
#define ESTIMATOR_CHECKPOINT_KERAS_HDF5_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/shape.h"

namespace estimator {

struct Hdf5Dataset {
  std::string path;        // "model_weights/dense/dense/kernel:0"
  std::string group;       // the innermost group around it with an attribute of names (Walk)
  int dtype_on_disk = 0;   // TensorFlow's number
  Shape shape = {};        // at most 2^56 elements
  int64_t offset = 0;      // of the values in the file; 0 if they are in chunks
  int64_t size_bytes = 0;  // at most those of the file
};

// Thread-safe.
class Hdf5File {
 public:
  // Opens a file.
  // Errors: DATA_LOSS if it is not a whole HDF5 file; those of the file system.
  static absl::StatusOr<std::unique_ptr<Hdf5File>> Open(absl::string_view path);
  // Opens the contents of a file, which are copied. `path` is only for messages.
  static absl::StatusOr<std::unique_ptr<Hdf5File>> OpenContents(absl::string_view path,
                                                                absl::string_view contents);
  ~Hdf5File();
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;

  struct Contents {
    std::vector<Hdf5Dataset> datasets;
    bool has_names = false;  // whether any group has the attribute
  };
  // Finds all datasets.
  //   names: groups with the attribute `names`, or with `names`0, `names`1, ..., are those of
  //     Hdf5Dataset::group.
  // Errors: DATA_LOSS for sizes that cannot be; UNIMPLEMENTED for links to other places, for types
  // that are not numbers, and for compressed datasets.
  absl::StatusOr<Contents> Walk(absl::string_view names) const;

  // Reads a dataset into `bytes`, which has room for dataset.size_bytes. They are little-endian.
  // Errors: DATA_LOSS with the dataset.
  absl::Status Read(const Hdf5Dataset& dataset, char* bytes) const;

  const std::string& path() const { return path_; }

 private:
  Hdf5File(absl::string_view path, int64_t size) : path_(path), file_bytes_(size) {}

  const std::string path_;
  const int64_t file_bytes_;
  int64_t id_ = -1;  // HDF5's
};

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_KERAS_HDF5_FILE_H_
