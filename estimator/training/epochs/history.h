// History: what a training by epochs measured, epoch by epoch, in memory and in model_dir.
//
// model_dir/history.jsonl has a JSON object a line, model_dir/history.csv the same as a table:
//   {"epoch":0,"step":100,"accuracy":0.91,"loss":0.31,"lr":0.05,"val_loss":0.29,"seconds":1.8}
// A number that is not finite is null in JSON, and nan in the table. A column that an epoch does
// not have, as val_loss between validations, is empty.
#ifndef ESTIMATOR_TRAINING_EPOCHS_HISTORY_H_
#define ESTIMATOR_TRAINING_EPOCHS_HISTORY_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/base/string_arg.h"

namespace estimator {

// The numbers of an epoch: `loss` and the metrics over the training batches, those of the
// validation as `val_loss`, ..., and `lr`, the learning rate of the step after its last one.
using Logs = std::map<std::string, double>;

struct EpochRecord {
  int64_t epoch = 0;        // counts from 0
  int64_t global_step = 0;  // after its last step
  Logs logs = {};
  double seconds = 0;  // of training and validation
};

// Source: TF 2.15 tf.keras.callbacks.History.
struct History {
  std::vector<EpochRecord> records;

  // The values of `name` in the epochs, NaN for an epoch that does not have it: history["loss"].
  std::vector<double> operator[](StringArg name) const;
  bool empty() const { return records.empty(); }
  const EpochRecord& last() const { return records.back(); }  // REQUIRES: !empty()
};

// The history of a model_dir; empty if there is none. A last line that a killed process did not
// write to its end is left out.
// Errors: DATA_LOSS for a line that is not an epoch, with its number; those of the file system.
absl::StatusOr<History> ReadHistory(StringArg model_dir);

// Writes both files anew.
absl::Status WriteHistory(StringArg model_dir, const History& history);
// Adds the last record of `history` to the files, which have the others. The table is written anew
// if the record has columns that the others do not have.
// Errors: INVALID_ARGUMENT for a metric with the name of a column of our own.
absl::Status AppendToHistory(StringArg model_dir, const History& history);

// The shortest text that reads as the same number: "0.1", "1e-05", "nan".
std::string NumberText(double value);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_EPOCHS_HISTORY_H_
