// --record_run, with which a program records for tools/report what a run does not record anyway:
//   model_dir/run.jsonl   a line for each start of a training: its time, global step and flags
//   the event files       the learning rate, and the seconds since the start, in all and for
//                         computing, input, checkpoints and evaluations
//   examples.jsonl, .png  what the model predicts (evaluated_examples.h)
//
//   {"time":1700000000.5,"step":0,"steps_per_epoch":937.5,"flags":{"batch_size":"64"},
//    "defaults":{"learning_rate":"0.05"}}
#ifndef MODELS_COMMON_RECORD_RUN_H_
#define MODELS_COMMON_RECORD_RUN_H_

#include <gflags/gflags.h>

#include <cstdint>

#include "models/common/evaluated_examples.h"

DECLARE_bool(record_run);

namespace estimator {

inline constexpr char kRunFile[] = "run.jsonl";
// The tags of the event files.
inline constexpr char kRateTag[] = "learning_rate", kSecondsTags[] = "seconds/";

// A hook of training that records. It does nothing without --record_run.
//   examples_per_epoch: for the epochs of a report, if the training has no history; 0: unknown.
HookPtr RecordRunHook(int64_t examples_per_epoch = 0);

// WriteExamples, if --record_run is given.
template <typename Params>
absl::Status RecordExamples(EstimatorOf<Params>& estimator,
                            const typename EstimatorOf<Params>::InputFnType& input_fn,
                            const ExamplesOptions& options = {}) {
  if (!FLAGS_record_run) return absl::OkStatus();
  return WriteExamples(estimator, input_fn, options).status();
}

}  // namespace estimator

#endif  // MODELS_COMMON_RECORD_RUN_H_
