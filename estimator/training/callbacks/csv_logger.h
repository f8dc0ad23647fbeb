// CSVLogger: writes the numbers of each epoch to a CSV file, with the bytes of Keras' callback.
#ifndef ESTIMATOR_TRAINING_CALLBACKS_CSV_LOGGER_H_
#define ESTIMATOR_TRAINING_CALLBACKS_CSV_LOGGER_H_

#include <string>

#include "estimator/training/hooks/hook.h"

namespace estimator::callbacks {

struct CSVLoggerOptions {
  std::string separator = ",";
  bool append = false;  // to a file that exists; false: begins a new one
};

// The columns are `epoch`, from 0, and the names of the first epoch's numbers in order. If it has
// none of a validation, each has a column with val_ too. A missing number is NA. Lines end with
// CR LF. A training that another process began appends to the file, from which epochs that are
// trained again are removed.
// Errors: those of the file system.
// Source: TF 2.15 tf.keras.callbacks.CSVLogger.
HookPtr CSVLogger(const std::string& filename, const CSVLoggerOptions& options = {});

}  // namespace estimator::callbacks

#endif  // ESTIMATOR_TRAINING_CALLBACKS_CSV_LOGGER_H_
