// Holds a checkpoint against the variables that a program wants from it.
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

// What cures a mismatch, in the words of the settings that the caller's user has.
struct RestoreAdvice {
  // A variable that the checkpoint lacks, with and without one of a like name there.
  std::string renamed = "renamed: map it in Scaffold::restore_names, or use the old name";
  std::string missing = "new here: Scaffold::partial_restore, or another model_dir";
  // A variable that the checkpoint lacks beside one that it has: dense/kernel/Momentum,
  // dense/kernel/ExponentialMovingAverage.
  std::string slot =
      "a slot or an average that was not kept: train as before, or Scaffold::partial_restore "
      "begins it anew";
  // A variable of another size: where all names fit, and where some do not.
  std::string other_size =
      "another size of the network: build it with the sizes it was trained with, or another "
      "model_dir";
  std::string other_network = "another network: another model_dir";
  // A variable of the checkpoint that nobody wants (no slot and no scalar); "": they are not shown.
  std::string unwanted = "not in this model";
  // A sentence below the table.
  std::string closing =
      "To begin another run from the values that do fit: another model_dir, with warm_start_from "
      "in the Estimator's options or train::InitFromCheckpoint in model_fn";
};

// Whether the checkpoint has every wanted variable with its dtype and shape. What it has beyond
// them is fine. An i32 scalar serves for an i64 one: some programs keep global_step so. Errors:
// NOT_FOUND if a variable is missing, else INVALID_ARGUMENT; one table of all mismatches: variable,
// here, there, the nearest name in the checkpoint, and the likely cure; then what is only there.
absl::Status CheckRestorable(const BundleReader& reader, const std::vector<WantedVariable>& wanted,
                             const RestoreAdvice& advice = RestoreAdvice());

// Reads one variable that passed the check above into an array that is there, without a copy
// between (but for the i32 scalar). Errors: as BundleReader::ReadInto.
absl::Status RestoreInto(const BundleReader& reader, const WantedVariable& wanted, Array* value);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_RESTORE_H_
