// Checks a checkpoint against the variables of a program, and restores them.
#ifndef ESTIMATOR_CHECKPOINT_RESTORE_H_
#define ESTIMATOR_CHECKPOINT_RESTORE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "estimator/array/array.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/checkpoint/bundle_reader.h"

namespace estimator {

// A variable of a program, and the name of its value in the checkpoint.
struct WantedVariable {
  std::string name;
  TensorSpec spec;
  std::string stored_name;
};

// The cures of mismatches in the error message. They name the settings of the caller's user.
struct RestoreAdvice {
  // For a variable that the checkpoint does not have: with, and without, a similar name there.
  std::string renamed = "renamed: map it in Scaffold::restore_names, or use the old name";
  std::string missing = "new here: Scaffold::partial_restore, or another model_dir";
  // For a missing slot or average of a variable that the checkpoint has: dense/kernel/Momentum,
  // dense/kernel/ExponentialMovingAverage.
  std::string slot =
      "a slot or an average that was not kept: train as before, or Scaffold::partial_restore "
      "initializes it";
  // For a variable of another size: if all names match, and if some do not.
  std::string other_size =
      "another size of the network: build it with the sizes it was trained with, or another "
      "model_dir";
  std::string other_network = "another network: another model_dir";
  // For a variable that only the checkpoint has, unless it is a slot or a scalar. If empty, these
  // are not listed.
  std::string unwanted = "not in this model";
  // Whether the caller's user maps scopes: train::InitFromCheckpoint. If every name differs by the
  // same prefix, the message then has that map instead of the table.
  bool maps_scopes = false;
  // A sentence below the table.
  std::string closing =
      "To start another run from the values that fit, use another model_dir, with warm_start_from "
      "in the Estimator's options or train::InitFromCheckpoint in model_fn";
};

// Checks that the checkpoint has every wanted variable with its dtype and shape. It may have other
// variables too. An i32 scalar may be restored into an i64 one, because some programs store
// global_step as i32.
// Errors: NOT_FOUND if a variable is missing, else INVALID_ARGUMENT. The message has one table of
// all mismatches: variable, its type here and in the checkpoint, the nearest name there, and the
// likely cure. Variables that only the checkpoint has follow.
absl::Status CheckRestorable(const BundleReader& reader, const std::vector<WantedVariable>& wanted,
                             const RestoreAdvice& advice = RestoreAdvice());

// Reads one variable that passed CheckRestorable into an existing array. It is not copied in
// between, except for an i32 scalar. Errors: as BundleReader::ReadInto.
absl::Status RestoreInto(const BundleReader& reader, const WantedVariable& wanted, Array* value);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_RESTORE_H_
