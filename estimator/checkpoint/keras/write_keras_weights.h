// Writes weights to an .h5 file that Keras loads.
#ifndef ESTIMATOR_CHECKPOINT_KERAS_WRITE_KERAS_WEIGHTS_H_
#define ESTIMATOR_CHECKPOINT_KERAS_WRITE_KERAS_WEIGHTS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "estimator/array/array.h"
#include "estimator/base/string_arg.h"

namespace estimator {

// Writes the file as Model.save_weights of Keras 2.15 does.
//   path: ends in .h5 or .hdf5.
//   variables: names and values, in the order of their creation, without slots of optimizers. A
//     bfloat16 is written as float32.
// The layer of "block1/conv/kernel" is "block1/conv". Cells of recurrent layers and the parts of
// MultiHeadAttention belong to their layer. Layers have the order of their first variables.
//
// model.load_weights(path, by_name=True) takes the layers whose names it has. Without by_name,
// Keras counts layers, so their order must be Keras'. Within a layer, Keras counts its weights:
// they are put into Keras' order if the last parts of all their names are known ("kernel").
// A reader sees the old file or the new one, whole. The file is made in memory first.
// Errors: INVALID_ARGUMENT for another ending, for ".weights.h5", which has another layout, for
// strings, for a name without a layer or that is given twice; those of the file system.
absl::Status WriteKerasWeights(StringArg path,
                               const std::vector<std::pair<std::string, Array>>& variables);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_KERAS_WRITE_KERAS_WEIGHTS_H_
