// Writes an evaluation's results where TensorBoard looks for them.
#ifndef ESTIMATOR_TRAINING_LOOP_EVAL_SUMMARY_H_
#define ESTIMATOR_TRAINING_LOOP_EVAL_SUMMARY_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "estimator/proto/serialize.h"
#include "estimator/training/loop/eval_result.h"

namespace estimator {

// At the evaluated step, into an event file of `eval_dir`: every scalar metric and `loss`; an array
// as a tensor summary; a string as the serialized Summary that it is (summary::ImageValue), with
// the tags NAME/0, NAME/1, ..., or not at all, with a warning, if it is none or has more than
// max_summary_bytes with them; `checkpoint_path`, where there was one, as a string tensor.
// `global_step` is no tag.
// Source: TF 2.15 estimator._write_dict_to_summary.
absl::Status WriteEvalSummary(const std::string& eval_dir, const EvalResult& result,
                              size_t max_summary_bytes = kMaxMessageBytes);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_EVAL_SUMMARY_H_
