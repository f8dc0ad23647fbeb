// ModelExporter: exports a model_fn as a SavedModel, a frozen graph or a Predictor.
//
// model_fn is called for several batch sizes; export/any_batch/batch_search.h says why. Its
// Scaffold's restore_names and partial_restore are used, as TensorFlow uses the Scaffold's saver.
// Local variables are initialized in the file, as by TensorFlow's default local_init_op.
#ifndef ESTIMATOR_TRAINING_LOOP_MODEL_EXPORTER_H_
#define ESTIMATOR_TRAINING_LOOP_MODEL_EXPORTER_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/export/saved_model/frozen_graph.h"
#include "estimator/export/serving/predictor.h"
#include "estimator/export/signature/export_graph.h"
#include "estimator/export/signature/input_receiver.h"
#include "estimator/training/input/mode.h"
#include "estimator/training/loop/run_config.h"
#include "estimator/training/model/model_state.h"
#include "estimator/training/model/strategy.h"
#include "estimator/training/warm_start/warm_start_settings.h"

namespace estimator {

struct ExportSavedModelOptions {
  // Files that are copied to assets/ under their own names, such as vocabularies. A second
  // words.txt with other contents becomes words.txt_1, as in TensorFlow. Each graph has a string
  // constant `asset_path` for each file, which TensorFlow's loaders set to the path of the file.
  std::vector<std::string> assets = {};
  // Path under assets.extra/ -> the file to copy there.
  std::map<std::string, std::string> assets_extra = {};
  bool as_text = false;                                       // saved_model.pbtxt instead of .pb
  std::optional<std::string> checkpoint_path = std::nullopt;  // nullopt: the newest of model_dir
  // The mode to export (TensorFlow's experimental_mode). Train and eval need a supervised receiver.
  Mode mode = Mode::kPredict;
};

struct WriteFrozenGraphOptions {
  std::string signature_key = kDefaultServingSignatureKey;
  std::optional<std::string> checkpoint_path = std::nullopt;  // nullopt: the newest of model_dir
};

struct MakePredictorOptions {
  std::string signature_key = kDefaultServingSignatureKey;
  std::optional<std::string> checkpoint_path = std::nullopt;  // nullopt: the newest of model_dir
  // For a model that is tied to its batch size, as by a constant 1.0 / batch: the request sizes to
  // build it for, besides predict_batch_size. Other models take any size and ignore this.
  std::vector<int64_t> batch_sizes = {};
  PredictorOptions predictor = {};
};

// A receiver for each mode to export.
using InputReceiverFnMap = std::map<Mode, ServingInputReceiverFn>;

// One way to call the model_fn for an export, and the extra tags of its graphs. TPUEstimator has
// two passes for PREDICT, for the CPU and for a TPU.
struct ExportPass {
  std::shared_ptr<const Strategy> strategy = nullptr;
  std::vector<std::string> extra_tags = {};
  bool predict_only = false;
};

// The implementation of the estimators' methods of the same names. The constructor's arguments
// outlive the exporter. Not thread-safe.
class ModelExporter {
 public:
  // `trained`: the variables in memory, used if training writes no checkpoints. `warm_start`: its
  // checkpoint is used if there is no other.
  ModelExporter(const RunConfig& config, const std::optional<WarmStartSettings>& warm_start,
                const ModelState& trained)
      : config_(config), warm_start_(warm_start), trained_(trained) {}

  // Writes the modes in the order train, eval, predict, and returns the folder.
  // Errors: INVALID_ARGUMENT if no receiver is given, if the checkpoint lacks a variable, or if two
  // modes restore a variable from different values; it names the modes. NOT_FOUND if there is no
  // checkpoint.
  absl::StatusOr<std::string> ExportAllSavedModels(const std::string& export_dir_base,
                                                   const InputReceiverFnMap& receivers,
                                                   const std::vector<ExportPass>& passes,
                                                   const ExportSavedModelOptions& options);
  // Writes a serialized GraphDef to `path`. Returns which nodes to feed and to fetch.
  absl::StatusOr<FrozenGraph> WriteFrozenGraph(const std::string& path,
                                               const ServingInputReceiverFn& receiver,
                                               const ExportPass& pass,
                                               const WriteFrozenGraphOptions& options);
  // The predictor may outlive the estimator. Receiver and model_fn are called here, not by
  // requests.
  absl::StatusOr<std::unique_ptr<Predictor>> MakePredictor(const ServingInputReceiverFn& receiver,
                                                           const ExportPass& pass,
                                                           const MakePredictorOptions& options);

 private:
  // A graph whose variables are exported.
  struct ExportedMode {
    const Graph& graph;
    const Scaffold& scaffold;
    std::string name;
  };
  // The values of all the modes' variables. They come from checkpoint_path if it is given, else
  // from the newest checkpoint that is whole, or from memory if training continued there. If there
  // is neither, they come from the checkpoint of the warm start: all of it, and not only what
  // WarmStartSettings chooses. Source: TF 2.15 Estimator._export_all_saved_models.
  absl::StatusOr<std::shared_ptr<VariableStore>> LoadVariables(
      const std::optional<std::string>& checkpoint_path,
      const std::vector<ExportedMode>& modes) const;
  // As above, if there is no other source.
  absl::StatusOr<std::shared_ptr<VariableStore>> LoadFromWarmStart(
      const std::vector<ExportedMode>& modes) const;
  // From the checkpoint `prefix`; nullopt: from memory.
  absl::StatusOr<std::shared_ptr<VariableStore>> LoadFrom(
      const std::optional<std::string>& prefix, const std::vector<ExportedMode>& modes) const;

  const RunConfig& config_;
  const std::optional<WarmStartSettings>& warm_start_;
  const ModelState& trained_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_MODEL_EXPORTER_H_
