// Exports a model_fn for those who serve it: as a SavedModel, a frozen graph, a Predictor.
//
// model_fn is called for several batch sizes: see export/any_batch/batch_search.h. Of its Scaffold, what
// says how to restore is used (restore_names, partial_restore), as TensorFlow uses its saver; local
// variables are initialized in the file as by TensorFlow's default local_init_op.
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
  // Files that go to assets/ under their own names, such as vocabularies; a second words.txt of
  // other contents is words.txt_1, as TensorFlow has it. Each graph has a string constant
  // `asset_path` for each, which TensorFlow's loaders set to where they found the file.
  std::vector<std::string> assets = {};
  // Path under assets.extra/ -> file that is copied there.
  std::map<std::string, std::string> assets_extra = {};
  bool as_text = false;                                       // saved_model.pbtxt instead of .pb
  std::optional<std::string> checkpoint_path = std::nullopt;  // none: the newest of model_dir
  // What to export (TensorFlow's experimental_mode). Train and eval take a supervised receiver.
  Mode mode = Mode::kPredict;
};

struct WriteFrozenGraphOptions {
  std::string signature_key = kDefaultServingSignatureKey;
  std::optional<std::string> checkpoint_path = std::nullopt;  // none: the newest of model_dir
};

struct MakePredictorOptions {
  std::string signature_key = kDefaultServingSignatureKey;
  std::optional<std::string> checkpoint_path = std::nullopt;  // none: the newest of model_dir
  // Of a model that is tied to its batch size (a constant 1.0 / batch): the sizes of requests that
  // it is to be built for, beside predict_batch_size. Others take any size.
  std::vector<int64_t> batch_sizes = {};
  PredictorOptions predictor = {};
};

// A receiver for each mode that is to be exported.
using InputReceiverFnMap = std::map<Mode, ServingInputReceiverFn>;

// One way to call the model_fn for an export, and the tags of its graphs beside the mode's:
// TPUEstimator writes its PREDICT graph twice, for the CPU and for a TPU.
struct ExportPass {
  std::shared_ptr<const Strategy> strategy = nullptr;
  std::vector<std::string> extra_tags = {};
  bool predict_only = false;
};

// What stands behind the estimators' methods of these names. Everything that it refers to outlives
// it. Not thread-safe.
class ModelExporter {
 public:
  // `trained`: variables in memory, used where no checkpoint is written. `warm_start`: its
  // checkpoint is used where there is none.
  ModelExporter(const RunConfig& config, const std::optional<WarmStartSettings>& warm_start,
                const ModelState& trained)
      : config_(config), warm_start_(warm_start), trained_(trained) {}

  // Writes the modes in the order train, eval, predict.
  // Returns the folder. Errors: INVALID_ARGUMENT if no receiver is given, or for a variable that
  // the checkpoint lacks, naming the mode, or that two modes restore otherwise, naming both;
  // NOT_FOUND if there is no checkpoint.
  absl::StatusOr<std::string> ExportAllSavedModels(const std::string& export_dir_base,
                                                   const InputReceiverFnMap& receivers,
                                                   const std::vector<ExportPass>& passes,
                                                   const ExportSavedModelOptions& options);
  // A serialized GraphDef at `path`. Returns which nodes to feed and to fetch.
  absl::StatusOr<FrozenGraph> WriteFrozenGraph(const std::string& path,
                                               const ServingInputReceiverFn& receiver,
                                               const ExportPass& pass,
                                               const WriteFrozenGraphOptions& options);
  // Lives on when the estimator goes. Receiver and model_fn are called here, not by requests.
  absl::StatusOr<std::unique_ptr<Predictor>> MakePredictor(const ServingInputReceiverFn& receiver,
                                                           const ExportPass& pass,
                                                           const MakePredictorOptions& options);

 private:
  // A graph whose variables are exported, and the name of its mode.
  struct ExportedMode {
    const Graph& graph;
    const Scaffold& scaffold;
    std::string name;
  };
  // The values of all the modes' variables from checkpoint_path, else the newest checkpoint that is
  // whole, those in memory, or the checkpoint of the warm start (as TF 2.15
  // Estimator._export_all_saved_models: all of it, not what WarmStartSettings chooses).
  absl::StatusOr<std::shared_ptr<VariableStore>> LoadVariables(
      const std::optional<std::string>& checkpoint_path,
      const std::vector<ExportedMode>& modes) const;
  // From one checkpoint; nullopt: from memory.
  absl::StatusOr<std::shared_ptr<VariableStore>> LoadFrom(
      const std::optional<std::string>& prefix, const std::vector<ExportedMode>& modes) const;

  const RunConfig& config_;
  const std::optional<WarmStartSettings>& warm_start_;
  const ModelState& trained_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_MODEL_EXPORTER_H_
