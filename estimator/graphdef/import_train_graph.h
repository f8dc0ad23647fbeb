// Reads a training graph that TensorFlow wrote (model.ckpt-N.meta), to continue its training. Also
// reads the graphs of a SavedModel: `train`, `eval` with its metrics, and `serve`.
//
// A MetaGraphDef has the gradients, the optimizer's ops and the collections that say what they are.
// Here state is functional: a step reads the variables from before it, and all updates take effect
// together. In TensorFlow ops change variables in place, in the order of data and control
// dependencies. The import follows that order: a read that comes after a write gets the new value.
// Where the graph does not order a read and a write, the read gets the old value, and a warning
// names the variable.
//
//   EST_ASSIGN_OR_RETURN(const TrainGraph source, TrainGraph::Read("/model/model.ckpt-1000.meta"));
//   for (const TrainGraphInput& input : source.info().inputs) ...    // what the graph wants
//   EST_ASSIGN_OR_RETURN(const ImportedTrainGraph imported,
//                        source.Import({.inputs = {images, labels}}, graph));
// ImportModelFn (estimator/training/import_model_fn.h) makes a model_fn of it.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_TRAIN_GRAPH_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_TRAIN_GRAPH_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/array/shape.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/base/string_arg.h"
#include "estimator/graph/graph.h"

namespace estimator {

struct ImportSource;

// A place where the input enters: an output of an iterator or a queue, or a placeholder.
struct TrainGraphInput {
  std::string name;  // "IteratorGetNext:1", "images:0"
  std::string key;   // its name in the signature of a SavedModel; "" in a .meta file
  DType dtype = DType::kInvalid;
  bool rank_known = true;
  // Unknown sizes, mostly the batch, are Shape::kUnknownDim. Empty if the rank is unknown.
  Shape shape;
  bool used = false;  // whether the loss or train_op depends on it

  std::string ToString() const;  // "IteratorGetNext:1: int32 [?]", "label (y:0): int32 [?]"
};

// Something that cannot be imported.
struct TrainGraphObstacle {
  std::string name;  // the first node
  std::string op;
  int count = 0;  // the number of nodes with this op and reason
  std::string reason;
};
// A table with the columns op, reason, nodes, first node; "" if there are none.
std::string ObstacleTable(const std::vector<TrainGraphObstacle>& obstacles);

// What a graph is for. Source: TF 2.15 tf.estimator.ModeKeys.
enum class TrainGraphRole {
  kTrain,    // has a loss and a train_op
  kEval,     // has a loss and metrics
  kPredict,  // has outputs only
};

struct TrainGraphInfo {
  TrainGraphRole role = TrainGraphRole::kTrain;
  // In the order of the iterator's outputs: TensorFlow flattens (features, labels), and a
  // dictionary by the order of its keys. All outputs of an iterator are listed, also those that
  // nothing uses; of placeholders and queues, only what the loss or an update reads.
  // With a signature: its inputs in the order of their keys, `label` and `labels` last.
  std::vector<TrainGraphInput> inputs;
  std::string train_op;                          // "train/group_deps", or several; kTrain only
  std::string loss;                              // "loss/Mean:0"; not for kPredict
  std::vector<std::string> metrics;              // kEval: those of the signature
  std::map<std::string, std::string> outputs;    // kPredict: the signature's outputs -> tensors
  std::vector<std::string> summaries;            // tags
  std::vector<std::string> variables;            // those of checkpoints, in the graph's order
  std::vector<std::string> trainable_variables;  // also in `variables`
  std::string tensorflow_version;
  std::vector<TrainGraphObstacle> obstacles;  // empty: the graph can be imported
  // How train_op and loss were found if no collection has them, one sentence each.
  std::vector<std::string> choices;
};

struct TrainGraphOptions {
  TrainGraphRole role = TrainGraphRole::kTrain;
  // The signature that says what inputs, loss, metrics and outputs are. Default: `train`, `eval` or
  // `serving_default`, by the role. kEval and kPredict need one; a .meta file has none.
  std::string signature = "";
  // The op that trains, or several with commas between, as a GAN has: a step runs them together.
  // Default: the only one of the collection `saved_model_train_op`; else the op that runs all of
  // the collection `train_op`; else the op that nothing reads and that runs all updates.
  std::string train_op = "";
  // The tensor that hooks and logs show as the loss. Default: the signature's output `loss`; else
  // the tensor that the Estimator's summary `loss` shows; else the only one of the collection
  // `losses`; else the tensor whose gradient the only scope `gradients` begins with.
  std::string loss = "";
  // Tensors in the order of the input, for a graph whose inputs are placeholders in another order.
  // Default: the signature's inputs; else the outputs of the iterator or queue, or the placeholders
  // in the graph's order.
  std::vector<std::string> inputs = {};
  // Tensors that have the same value in each step, such as keep_prob:0. They are no inputs.
  std::map<std::string, Array> feeds = {};
  // The variable that counts steps. Default: `global_step`, if it is an int64 scalar that train_op
  // updates; else the loop counts, and the step is in the checkpoint's name (step_counter.h).
  std::string global_step = "";
};

struct ImportTrainGraphOptions {
  // One tensor for each of TrainGraphInfo::inputs, of its dtype and with a static shape. A handle
  // that is not valid stands for an input that is not given; it must not be needed.
  std::vector<Tensor> inputs = {};
  // More than 1: averages the gradients over so many replicas where they leave the `gradients`
  // scope, which is before the graph clips or applies them.
  int num_shards = 1;
  // false: imports neither train_op nor summaries, only the loss and `fetches`. In a graph of
  // kTrain, random ops and batch normalization in training mode are then refused. The other roles
  // need false.
  bool training = true;
  bool with_loss = true;
  bool with_metrics = false;  // imports TrainGraphInfo::metrics
  // Tensors of the graph to import besides the loss, by a name of the caller's choice.
  std::map<std::string, std::string> fetches = {};
};

struct ImportedMetric {
  Tensor value;      // reads the metric's local variables
  Operation update;  // adds a batch to them
};

struct ImportedTrainGraph {
  Tensor loss;
  Operation train_op;
  std::map<std::string, Tensor> fetches;
  std::map<std::string, ImportedMetric> metrics;
  // What TensorFlow leaves undefined, and how it was imported; one sentence each.
  std::vector<std::string> warnings;
};

// A parsed MetaGraphDef. Cheap to copy: copies share the parsed file. Thread-safe.
class TrainGraph {
 public:
  // Errors: NOT_FOUND; INVALID_ARGUMENT if the file cannot be parsed, or if it lacks what its role
  // needs, such as a train_op or a loss (naming the option that gives it). A graph with obstacles
  // is no error here.
  static absl::StatusOr<TrainGraph> Read(StringArg meta_path,
                                         const TrainGraphOptions& options = {});
  // The same from the bytes of a MetaGraphDef. `where` begins error messages.
  static absl::StatusOr<TrainGraph> Parse(absl::string_view bytes, StringArg where,
                                          const TrainGraphOptions& options = {});

  const TrainGraphInfo& info() const;

  // Everything that prevents Import with inputs of these specs, which builds a graph of its own and
  // goes on behind each node that fails. Empty: nothing does. options.inputs are not used.
  // Errors: those of Import that are not of one node.
  absl::StatusOr<std::vector<TrainGraphObstacle>> TryImport(
      ImportTrainGraphOptions options, const std::vector<TensorSpec>& inputs) const;

  // Adds variables, loss, updates, train_op and summaries to `graph`, which is the current graph
  // meanwhile. Names are the file's. `graph` may have the variable global_step already.
  // Errors: UNIMPLEMENTED with the table of all obstacles; INVALID_ARGUMENT if an input that is
  // needed is not given, or if its dtype or shape differs; the graph keeps errors of shapes.
  absl::StatusOr<ImportedTrainGraph> Import(const ImportTrainGraphOptions& options,
                                            Graph& graph) const;

 private:
  explicit TrainGraph(std::shared_ptr<const ImportSource> source) : source_(std::move(source)) {}
  std::shared_ptr<const ImportSource> source_;
};

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_TRAIN_GRAPH_H_
