// Opens Keras' files of weights and of whole models as checkpoints, by the variables' names:
//
//   file                                  layout inside
//   .h5, .hdf5 of save_weights            /LAYER/VARIABLE:0. A layer is a group with the attribute
//                                         weight_names. VARIABLE is a path, "dense/kernel".
//   .h5 of save                           the same in /model_weights, and the optimizer's variables
//                                         in /optimizer_weights
//   .weights.h5                           /layers/CLASS/vars/0, 1, ... without names
//   .keras                                a zip archive with model.weights.h5, laid out so, and
//                                         config.json, which has the names of layers
//
// The names here have no ":0". Slots of optimizers have our names (slot_names.h). The architecture
// of a whole model is not read. HDF5 has no checksums, so a changed value is not found.
// Source: Keras 2.15 saving/legacy/hdf5_format.py, saving/saving_lib.py.
#ifndef ESTIMATOR_CHECKPOINT_KERAS_KERAS_FILE_H_
#define ESTIMATOR_CHECKPOINT_KERAS_KERAS_FILE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/checkpoint/bundle/bundle_entry.h"
#include "estimator/checkpoint/bundle/value_source.h"

namespace estimator {

// Whether the path is that of such a file: by its first bytes, or by its name if it has one of the
// endings above.
// Errors: those of the file system; INVALID_ARGUMENT if the name has such an ending and the
// contents are something else; NOT_FOUND if it has one and there is no such file.
absl::StatusOr<bool> IsKerasFile(absl::string_view path);

struct KerasFile {
  BundleIndex index;
  std::unique_ptr<ValueSource> values;
};

// Errors: DATA_LOSS if the file is damaged; INVALID_ARGUMENT if Keras did not write it;
// UNIMPLEMENTED, RESOURCE_EXHAUSTED as in hdf5_file.h and zip_file.h.
absl::StatusOr<KerasFile> OpenKerasFile(absl::string_view path);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_KERAS_KERAS_FILE_H_
