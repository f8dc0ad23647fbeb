// ImportModelFn: a model_fn from a training graph that TensorFlow wrote, without a line of porting.
// The graph is a .meta file of a model_dir, or those of a SavedModel with `train` and `eval`.
//
//   EST_ASSIGN_OR_RETURN(const ImportedModelFn model_fn,
//                        ImportModelFn("/model/model.ckpt-1000.meta"));
//   Estimator estimator({.model_fn = model_fn, .config = {.model_dir = "/model"}});
//   EST_RETURN_IF_ERROR(estimator.Train(input_fn, Steps(100)));
// The variables have the file's names, so training continues from TensorFlow's checkpoint in
// model_dir, and TensorFlow continues from ours. A SavedModel's variables become the first
// checkpoint of a model_dir by StartFromSavedModel (import_saved_model.h):
//
//   EST_ASSIGN_OR_RETURN(const ImportedModelFn model_fn, ImportModelFn("/export/1700000000"));
//   EST_RETURN_IF_ERROR(StartFromSavedModel("/export/1700000000", "/model"));
//
// input_fn gives what the graph's iterator gave: features in the order of their names, then labels
// in the order of theirs, are the iterator's outputs in their order. If the graph has placeholders,
// a feature or label that is named as one of them is that one. In a SavedModel it has the name of
// the signature's input; a single feature or label without a name is `feature` or `label` there.
#ifndef ESTIMATOR_TRAINING_IMPORT_MODEL_FN_H_
#define ESTIMATOR_TRAINING_IMPORT_MODEL_FN_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/base/string_arg.h"
#include "estimator/graph/graph.h"
#include "estimator/graphdef/import_train_graph.h"
#include "estimator/nn/metrics/metric.h"
#include "estimator/training/import_saved_model.h"
#include "estimator/training/input/features.h"
#include "estimator/training/input/mode.h"

namespace estimator {

struct ImportModelOptions {
  TrainGraphOptions graph = {};
  // What Predict returns and an export writes: tensors of the graph ("dense/BiasAdd:0") by name.
  // Of a SavedModel, the graph is `serve`, or else `eval`. Empty: the outputs of the serving
  // signature; without a graph `serve`, Mode::kPredict is an error.
  std::map<std::string, std::string> predictions = {};
  // Of a SavedModel. Default: `serving_default`, or the only signature to serve.
  std::string serving_signature = "";
};

// What an imported model_fn returns. It converts to EstimatorSpec and to tpu::TPUEstimatorSpec.
struct ImportedSpec {
  Mode mode = Mode::kTrain;
  Tensor loss;
  Operation train_op;
  std::map<std::string, Tensor> predictions;
  metrics::MetricMap metrics;

  template <typename Spec>
  requires requires(Tensor t, Operation o) { Spec::Train(t, o); }
  operator Spec() const {  // NOLINT: converts
    if (mode == Mode::kTrain) return Spec::Train(loss, train_op);
    if (mode == Mode::kEval) return Spec::Eval(loss, {}, {.eval_metric_ops = metrics});
    return Spec::Predict(predictions);
  }
};

// A model_fn for Estimator and tpu::TPUEstimator. Cheap to copy.
//   kTrain    the graph's own train_op and summaries. On replicas the gradients are averaged where
//             the graph computes them, before it clips them.
//   kEval     the loss, and with a graph `eval` its metrics, whose local variables begin anew with
//             each evaluation. On replicas metrics are an error: set eval_on_tpu = false.
//   kPredict  ImportModelOptions::predictions.
// A .meta file has the training graph only, so kEval and kPredict are an error if they depend on
// dropout or on a batch normalization in training mode. So does a SavedModel that has only `train`.
// Errors (kept by the graph): those of Check; those of TrainGraph::Import; INVALID_ARGUMENT if the
// input has another number of tensors than the graph takes.
class ImportedModelFn {
 public:
  ImportedModelFn(TrainGraph source, ImportModelOptions options);
  // where: the SavedModel's folder, for messages.
  ImportedModelFn(SavedModelGraphs graphs, StringArg where, ImportModelOptions options);

  // The graph of a mode. Without one of its own, it is the training graph, or else that of the
  // evaluation.
  const TrainGraphInfo& info(Mode mode = Mode::kTrain) const { return Of(mode).info(); }
  // Whether the graph of a mode can be imported, before anything is built.
  // Errors: NOT_FOUND if there is no graph for it, with the tags that exist; UNIMPLEMENTED with the
  // table of everything that cannot be imported; INVALID_ARGUMENT if there is nothing to predict.
  absl::Status Check(Mode mode) const;
  // The same, and whether the graph can be built with inputs of these specs, in the graph's order.
  //   num_shards: replicas; the specs are those of one.
  absl::Status Check(Mode mode, const std::vector<TensorSpec>& inputs, int num_shards = 1) const;
  ImportedSpec operator()(const Features& features, const Labels& labels, Mode mode) const;

 private:
  const TrainGraph& Of(Mode mode) const;
  ImportTrainGraphOptions OptionsOf(Mode mode, int num_shards) const;
  absl::Status ObstaclesError(Mode mode, const std::vector<TrainGraphObstacle>& obstacles) const;

  SavedModelGraphs graphs_;
  std::string where_;  // empty: not of a SavedModel
  ImportModelOptions options_;
};

// path: a .meta file, or the folder of a SavedModel.
// Errors: those of TrainGraph::Read and ReadSavedModelGraphs; UNIMPLEMENTED with the table of
// everything in the training graph that cannot be imported: op, reason, count, first node.
absl::StatusOr<ImportedModelFn> ImportModelFn(StringArg path,
                                              const ImportModelOptions& options = {});

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_IMPORT_MODEL_FN_H_
