// Writes a checkpoint of the caller's own variables, without a graph.
#ifndef ESTIMATOR_CHECKPOINT_SAVE_H_
#define ESTIMATOR_CHECKPOINT_SAVE_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "estimator/array/array.h"
#include "estimator/base/string_arg.h"

namespace estimator {

// Writes <prefix>.index and <prefix>.data-00000-of-00001, as tf.raw_ops.SaveV2 does. TensorFlow,
// LoadVariable, warm_start_from and train::InitFromCheckpoint read them.
//   prefix: such as "/tmp/converted/model.ckpt". Its directory is created if it does not exist.
//   variables: values by name, such as "dense/kernel". Values may be strings.
// A reader sees the old checkpoint of this prefix or the new one, whole. The state file
// `checkpoint` is not written: to continue training from these values, give the prefix to
// warm_start_from.
// Errors: INVALID_ARGUMENT if the prefix has no name, for an empty variable name, or for an Array
// without a dtype, naming the variable; those of the file system.
absl::Status SaveVariables(StringArg prefix, const std::map<std::string, Array>& variables);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_SAVE_H_
