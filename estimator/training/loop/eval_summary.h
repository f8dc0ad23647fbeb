// Writes the results of an evaluation to an event file, for TensorBoard.
#ifndef ESTIMATOR_TRAINING_LOOP_EVAL_SUMMARY_H_
#define ESTIMATOR_TRAINING_LOOP_EVAL_SUMMARY_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "estimator/proto/serialize.h"
#include "estimator/training/loop/eval_result.h"

namespace estimator {

// Writes one event of the evaluated step to an event file in `eval_dir`:
//   a scalar metric, and `loss`     a scalar summary
//   an array                        a tensor summary
//   a string                        a serialized Summary (summary::ImageValue), with the tags
//                                   NAME/0, NAME/1, ...; if it is not a Summary, or has more than
//                                   max_summary_bytes with these tags, it is skipped with a warning
//   checkpoint_path                 a string tensor, if it is not empty
// `global_step` is the event's step and has no summary.
// Source: TF 2.15 estimator._write_dict_to_summary.
absl::Status WriteEvalSummary(const std::string& eval_dir, const EvalResult& result,
                              size_t max_summary_bytes = kMaxMessageBytes);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_EVAL_SUMMARY_H_
