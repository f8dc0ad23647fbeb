// ImportModelFn: a model_fn from a training graph that TensorFlow wrote, without a line of porting.
//
//   EST_ASSIGN_OR_RETURN(const ImportedModelFn model_fn,
//                        ImportModelFn("/model/model.ckpt-1000.meta"));
//   Estimator estimator({.model_fn = model_fn, .config = {.model_dir = "/model"}});
//   EST_RETURN_IF_ERROR(estimator.Train(input_fn, Steps(100)));
// The variables have the file's names, so training continues from TensorFlow's checkpoint in
// model_dir, and TensorFlow continues from ours.
//
// input_fn gives what the graph's iterator gave: features in the order of their names, then labels
// in the order of theirs, are the iterator's outputs in their order. If the graph has placeholders,
// a feature or label that is named as one of them is that one.
#ifndef ESTIMATOR_TRAINING_IMPORT_MODEL_FN_H_
#define ESTIMATOR_TRAINING_IMPORT_MODEL_FN_H_

#include <map>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "estimator/base/string_arg.h"
#include "estimator/graph/graph.h"
#include "estimator/graphdef/import_train_graph.h"
#include "estimator/training/input/features.h"
#include "estimator/training/input/mode.h"

namespace estimator {

struct ImportModelOptions {
  TrainGraphOptions graph = {};
  // What Predict returns and an export writes: tensors of the graph ("dense/BiasAdd:0") by name.
  // Empty: Mode::kPredict is an error.
  std::map<std::string, std::string> predictions = {};
};

// What an imported model_fn returns. It converts to EstimatorSpec and to tpu::TPUEstimatorSpec.
struct ImportedSpec {
  Mode mode = Mode::kTrain;
  Tensor loss;
  Operation train_op;
  std::map<std::string, Tensor> predictions;

  template <typename Spec>
  requires requires(Tensor t, Operation o) { Spec::Train(t, o); }
  operator Spec() const {  // NOLINT: converts
    if (mode == Mode::kTrain) return Spec::Train(loss, train_op);
    if (mode == Mode::kEval) return Spec::Eval(loss);
    return Spec::Predict(predictions);
  }
};

// A model_fn for Estimator and tpu::TPUEstimator. Cheap to copy.
//   kTrain    the graph's own train_op and summaries. On shards the gradients are averaged where
//             the graph computes them, before it clips them.
//   kEval     the loss; kPredict: ImportModelOptions::predictions. A .meta file has the training
//             graph only, so both are an error if they depend on dropout or on a batch
//             normalization in training mode.
// Errors (kept by the graph): those of TrainGraph::Import; INVALID_ARGUMENT if the input has
// another number of tensors than the graph takes.
class ImportedModelFn {
 public:
  ImportedModelFn(TrainGraph source, ImportModelOptions options)
      : source_(std::move(source)), options_(std::move(options)) {}

  const TrainGraphInfo& info() const { return source_.info(); }
  ImportedSpec operator()(const Features& features, const Labels& labels, Mode mode) const;

 private:
  TrainGraph source_;
  ImportModelOptions options_;
};

// Errors: those of TrainGraph::Read; UNIMPLEMENTED with the table of everything that cannot be
// imported: name, op, count, reason.
absl::StatusOr<ImportedModelFn> ImportModelFn(StringArg meta_path,
                                              const ImportModelOptions& options = {});

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_IMPORT_MODEL_FN_H_
