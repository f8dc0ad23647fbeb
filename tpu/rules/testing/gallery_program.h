// The program of the gallery: a small model without any finding, of which a case of the gallery
// changes one thing.
#ifndef TPU_RULES_TESTING_GALLERY_PROGRAM_H_
#define TPU_RULES_TESTING_GALLERY_PROGRAM_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tpu/tpu_estimator.h"

namespace estimator::tpu {

// Eight cores with 128 rows each, 128 features and 128 classes.
struct GalleryProgram {
  using InputFnType = TPUEstimator<>::InputFnType;

  GalleryProgram();

  // A layer between the two dense ones; f32 [N, 128] to f32 [N, 128].
  std::function<Tensor(const Tensor& hidden, const Features& features, Mode mode,
                       const Params& params)>
      layer;
  std::function<Operation(const Tensor& loss, double rate)> train_op;
  std::function<std::map<std::string, Tensor>(const Tensor& logits)> predictions;
  std::function<HostCall(const Tensor& loss)> host_call;   // of training; null: none
  std::function<Scaffold(const Tensor& hidden)> scaffold;  // of training; null: none
  bool scalar_metric = false;                              // the loss is a tensor of eval_metrics
  bool scale_rate = true;
  int64_t units = 128;  // of the hidden layer
  InputFnType input;
  TPUEstimator<>::Options options;  // without a model_fn
  TrainLength length = MaxSteps(100);
};

// 2048 examples: x f32 [128], labels i32 []. `more`: further features, with 2048 rows.
Element GalleryExamples(const std::map<std::string, Array>& more = {});
// Them as batches without end.
GalleryProgram::InputFnType GalleryInput(const std::map<std::string, Array>& more = {});

struct GalleryReport {
  absl::Status status;                // of Train
  std::string text;                   // what was printed
  std::vector<std::string> rule_ids;  // of the findings, in the order of the report
};
// Calls Train of the program with TPUConfig::check = "rules".
GalleryReport CheckGalleryProgram(const GalleryProgram& program);

}  // namespace estimator::tpu

#endif  // TPU_RULES_TESTING_GALLERY_PROGRAM_H_
