// Exporters: they write SavedModels while TrainAndEvaluate runs, after its evaluations.
//
//   <model_dir>/export/<name>/<seconds since 1970>/saved_model.pb ...
#ifndef ESTIMATOR_TRAINING_EXPORTER_H_
#define ESTIMATOR_TRAINING_EXPORTER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/training/estimator_base.h"
#include "estimator/training/loop/eval_result.h"
#include "estimator/training/loop/model_exporter.h"

namespace estimator {

// The folder of an export; nullopt: nothing was exported.
using ExportResult = absl::StatusOr<std::optional<std::string>>;

// Derive from it for an export of another kind. Source: TF 2.15 tf.estimator.Exporter.
class Exporter {
 public:
  virtual ~Exporter() = default;
  // The folder below <model_dir>/export. Not empty, and unique among the exporters of an EvalSpec.
  virtual const std::string& name() const = 0;
  // Checks the options. TrainAndEvaluate calls it before it trains.
  virtual absl::Status Validate() const { return absl::OkStatus(); }
  // Called after an evaluation. Returns the folder of the export, or nullopt if there is none. It
  // is a folder in export_path whose name is 10 digits; a restart then finds it.
  //   export_path: <model_dir>/export/<name>.  checkpoint_path: the checkpoint that was evaluated.
  //   is_the_final_export: whether the evaluated step is TrainSpec.max_steps or later.
  // An error ends the training.
  virtual ExportResult Export(EstimatorBase& estimator, const std::string& export_path,
                              const std::string& checkpoint_path, const EvalResult& eval_result,
                              bool is_the_final_export) = 0;
};

using Exporters = std::vector<std::shared_ptr<Exporter>>;

// What the exporters below have in common: a SavedModel of the evaluated checkpoint.
class SavedModelExporter : public Exporter {
 public:
  const std::string& name() const override { return name_; }
  absl::Status Validate() const override;

 protected:
  // Takes the common fields of Options, one of the structs below.
  template <typename Options>
  SavedModelExporter(const Options& options, std::optional<int64_t> exports_to_keep)
      : name_(options.name),
        serving_input_receiver_fn_(options.serving_input_receiver_fn),
        options_{.assets = options.assets,
                 .assets_extra = options.assets_extra,
                 .as_text = options.as_text},
        exports_to_keep_(exports_to_keep) {}
  // Writes the SavedModel, then deletes exports beyond exports_to_keep.
  absl::StatusOr<std::string> Write(EstimatorBase& estimator, const std::string& export_path,
                                    const std::string& checkpoint_path) const;

 private:
  const std::string name_;
  const ServingInputReceiverFn serving_input_receiver_fn_;
  const ExportSavedModelOptions options_;
  const std::optional<int64_t> exports_to_keep_;  // nullopt: all
};

// Exports once, when training has reached TrainSpec.max_steps. Training that stops earlier, such as
// by an early stopping hook, or that has no max_steps, is not exported.
// Source: TF 2.15 tf.estimator.FinalExporter.
class FinalExporter : public SavedModelExporter {
 public:
  struct Options {
    std::string name = "";
    ServingInputReceiverFn serving_input_receiver_fn = nullptr;
    std::vector<std::string> assets = {};                  // as in ExportSavedModelOptions
    std::map<std::string, std::string> assets_extra = {};  // the same
    bool as_text = false;                                  // saved_model.pbtxt instead of .pb
  };
  explicit FinalExporter(const Options& options) : SavedModelExporter(options, std::nullopt) {}
  ExportResult Export(EstimatorBase& estimator, const std::string& export_path,
                      const std::string& checkpoint_path, const EvalResult& eval_result,
                      bool is_the_final_export) override;
};

// Exports after every evaluation. Source: TF 2.15 tf.estimator.LatestExporter.
class LatestExporter : public SavedModelExporter {
 public:
  struct Options {
    std::string name = "";
    ServingInputReceiverFn serving_input_receiver_fn = nullptr;
    std::vector<std::string> assets = {};
    std::map<std::string, std::string> assets_extra = {};
    bool as_text = false;
    // The number of exports to keep; the oldest are deleted. nullopt: all.
    std::optional<int64_t> exports_to_keep = 5;
  };
  explicit LatestExporter(const Options& options)
      : SavedModelExporter(options, options.exports_to_keep) {}
  ExportResult Export(EstimatorBase& estimator, const std::string& export_path,
                      const std::string& checkpoint_path, const EvalResult& eval_result,
                      bool is_the_final_export) override;
};

// Whether `current` is better than `best`. `best` may come from an event file: it then has the
// scalar metrics as float32, and no arrays.
using CompareFn =
    std::function<absl::StatusOr<bool>(const EvalResult& best, const EvalResult& current)>;

// The default: current["loss"] < best["loss"]. A number is better than NaN.
// Errors: INVALID_ARGUMENT if a result has no loss.
absl::StatusOr<bool> LossSmaller(const EvalResult& best, const EvalResult& current);

// Exports when the evaluation is better than all before it. The first evaluation is exported too.
// After a restart, the best result before it is read from the event files of the evaluations.
// TensorFlow reads it as well, but exports the first evaluation after a restart in any case.
// Source: TF 2.15 tf.estimator.BestExporter.
class BestExporter : public SavedModelExporter {
 public:
  struct Options {
    std::string name = "best_exporter";
    ServingInputReceiverFn serving_input_receiver_fn = nullptr;
    // The event files of the evaluations, below model_dir. With EvalSpec.name = "n" they are
    // "eval_n/*.tfevents.*". nullopt: the best result is forgotten at a restart.
    std::optional<std::string> event_file_pattern = "eval/*.tfevents.*";
    CompareFn compare_fn = LossSmaller;
    std::vector<std::string> assets = {};
    std::map<std::string, std::string> assets_extra = {};
    bool as_text = false;
    // The number of exports to keep; the oldest are deleted. nullopt: all.
    std::optional<int64_t> exports_to_keep = 5;
  };
  explicit BestExporter(const Options& options)
      : SavedModelExporter(options, options.exports_to_keep),
        event_file_pattern_(options.event_file_pattern),
        compare_fn_(options.compare_fn) {}
  absl::Status Validate() const override;
  ExportResult Export(EstimatorBase& estimator, const std::string& export_path,
                      const std::string& checkpoint_path, const EvalResult& eval_result,
                      bool is_the_final_export) override;

 private:
  // The best result of the event files, without those of `current_step`.
  absl::StatusOr<std::optional<EvalResult>> BestOfEventFiles(const std::string& model_dir,
                                                             int64_t current_step) const;

  const std::optional<std::string> event_file_pattern_;
  const CompareFn compare_fn_;
  std::optional<std::string> model_dir_;  // that best_ belongs to
  std::optional<EvalResult> best_;        // of the exports
};

// Whether `export_path` has an export: a folder whose name is 10 digits.
// Errors: those of listing export_path.
absl::StatusOr<bool> HasExports(const std::string& export_path);

// Deletes all exports in `export_path` but the newest `exports_to_keep`. Only folders whose name is
// 10 digits count, and of them only those with a SavedModel or the rest of one, which are not
// symbolic links: nothing else is deleted. What cannot be deleted is logged.
// Source: TF 2.15 tf_estimator exporter._garbage_collect_exports.
void DeleteOldExports(const std::string& export_path, int64_t exports_to_keep);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_EXPORTER_H_
