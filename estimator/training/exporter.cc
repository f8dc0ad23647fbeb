#include "estimator/training/exporter.h"

#include <cmath>
#include <cstddef>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "estimator/base/file_system.h"
#include "estimator/base/path.h"
#include "estimator/base/status.h"
#include "estimator/export/saved_model/find_saved_model.h"
#include "estimator/summary/event_reader.h"
#include "glog/logging.h"

namespace estimator {
namespace {

constexpr char kLoss[] = "loss";

// The names of the exports in `export_path`, the oldest first.
StatusOrRange<std::vector<std::string>> ExportNames(const std::string& export_path) {
  auto all = ListDirectory(export_path);
  std::vector<std::string> names;
  if (absl::IsNotFound(all.status())) return names;
  EST_RETURN_IF_ERROR(all.status());
  for (const std::string& name : *all) {
    // The name is the second of the export, which has ten digits until 2286. A folder that is still
    // being written has another name.
    if (name.size() == 10 && absl::c_all_of(name, absl::ascii_isdigit)) names.push_back(name);
  }
  return names;
}

// Whether what has the name of an export is one that may be deleted: a folder, not a link to one,
// with a SavedModel or with the rest of one, which a deletion that was interrupted leaves.
bool IsOwnExport(const std::string& path) {
  if (!IsDirectory(path) || IsSymbolicLink(path)) return false;
  const auto names = ListDirectory(path);
  return names.ok() && (HoldsSavedModel(path) || absl::c_all_of(*names, [](absl::string_view name) {
                          return name == "variables" || absl::StartsWith(name, "assets");
                        }));
}

absl::StatusOr<double> LossOf(const EvalResult& result, absl::string_view which) {
  if (result.values.count(kLoss) > 0) return result[kLoss];
  return InvalidArgument(which, " cannot be empty or no loss is found in it.");
}

EvalResult ResultOfScalars(int64_t step, const std::map<std::string, double>& scalars) {
  EvalResult result;
  for (const auto& [name, value] : scalars)
    result.values[name] = Array::Scalar(static_cast<float>(value));
  result.values["global_step"] = Array::Scalar<int64_t>(step);
  return result;
}

}  // namespace

absl::StatusOr<bool> HasExports(const std::string& export_path) {
  EST_ASSIGN_OR_RETURN(const auto names, ExportNames(export_path));
  return !names.empty();
}

void DeleteOldExports(const std::string& export_path, int64_t exports_to_keep) {
  // As in TensorFlow, an error is none of the export's, because the new one is whole.
  const auto warn = [](const absl::Status& status) {
    LOG_IF(WARNING, !status.ok()) << "cannot delete an old export: " << status.message();
  };
  const auto names = ExportNames(export_path);
  if (!names.ok()) return warn(names.status());
  std::vector<std::string> exports;
  for (const std::string& name : *names) {
    const std::string path = JoinPath(export_path, name);
    if (IsOwnExport(path)) exports.push_back(path);
  }
  for (size_t i = 0; i + static_cast<size_t>(exports_to_keep) < exports.size(); ++i) {
    warn(RemoveDirectoryRecursively(exports[i]));
  }
}

absl::Status SavedModelExporter::Validate() const {
  if (serving_input_receiver_fn_ == nullptr) {
    return InvalidArgument("exporter '", name_, "': serving_input_receiver_fn must be given");
  }
  if (exports_to_keep_.value_or(1) <= 0) {
    return InvalidArgument("exporter '", name_,
                           "': `exports_to_keep`, if provided, must be a positive number. Got ",
                           *exports_to_keep_);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> SavedModelExporter::Write(EstimatorBase& estimator,
                                                      const std::string& export_path,
                                                      const std::string& checkpoint_path) const {
  EST_RETURN_IF_ERROR(Validate());
  ExportSavedModelOptions options = options_;
  options.checkpoint_path = checkpoint_path;
  EST_ASSIGN_OR_RETURN(std::string exported, estimator.ExportSavedModel(
                                                 export_path, serving_input_receiver_fn_, options));
  if (exports_to_keep_.has_value()) DeleteOldExports(export_path, *exports_to_keep_);
  return exported;
}

ExportResult FinalExporter::Export(EstimatorBase& estimator, const std::string& export_path,
                                   const std::string& checkpoint_path,
                                   const EvalResult& /*eval_result*/, bool is_the_final_export) {
  if (!is_the_final_export) return std::nullopt;
  LOG(INFO) << "Performing the final export in the end of training.";
  return Write(estimator, export_path, checkpoint_path);
}

ExportResult LatestExporter::Export(EstimatorBase& estimator, const std::string& export_path,
                                    const std::string& checkpoint_path,
                                    const EvalResult& /*eval_result*/,
                                    bool /*is_the_final_export*/) {
  return Write(estimator, export_path, checkpoint_path);
}

absl::StatusOr<bool> LossSmaller(const EvalResult& best, const EvalResult& current) {
  EST_ASSIGN_OR_RETURN(const double best_loss, LossOf(best, "best_eval_result"));
  EST_ASSIGN_OR_RETURN(const double current_loss, LossOf(current, "current_eval_result"));
  return current_loss < best_loss || (std::isnan(best_loss) && !std::isnan(current_loss));
}

absl::Status BestExporter::Validate() const {
  EST_RETURN_IF_ERROR(SavedModelExporter::Validate());
  if (compare_fn_ != nullptr) return absl::OkStatus();
  return InvalidArgument("exporter '", name(), "': `compare_fn` must not be null");
}

ExportResult BestExporter::Export(EstimatorBase& estimator, const std::string& export_path,
                                  const std::string& checkpoint_path, const EvalResult& eval_result,
                                  bool /*is_the_final_export*/) {
  EST_RETURN_IF_ERROR(Validate());
  // As in TensorFlow, one exporter may serve several estimators in turn.
  if (model_dir_ != estimator.model_dir()) {
    model_dir_ = estimator.model_dir();
    best_.reset();
    // Without an export, a better result from before is of no use: there must be one export.
    EST_ASSIGN_OR_RETURN(const bool has_exports, HasExports(export_path));
    if (has_exports) {
      EST_ASSIGN_OR_RETURN(best_, BestOfEventFiles(*model_dir_, eval_result.global_step()));
    }
  }
  if (best_.has_value()) {
    EST_ASSIGN_OR_RETURN(const bool better, compare_fn_(*best_, eval_result));
    if (!better) return std::nullopt;
  }
  LOG(INFO) << "Performing best model export.";
  EST_ASSIGN_OR_RETURN(std::string exported, Write(estimator, export_path, checkpoint_path));
  // If the export fails, the next result is compared with the best one that was exported.
  best_ = eval_result;
  return exported;
}

absl::StatusOr<std::optional<EvalResult>> BestExporter::BestOfEventFiles(
    const std::string& model_dir, int64_t current_step) const {
  if (!event_file_pattern_.has_value()) return std::nullopt;
  const std::string pattern = JoinPath(EscapeGlob(model_dir), *event_file_pattern_);
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> paths, Glob(pattern));
  EST_ASSIGN_OR_RETURN(const std::vector<SummaryRecord> records, ReadEventFiles(paths));
  std::map<int64_t, std::map<std::string, double>> results;
  for (const SummaryRecord& record : records) {
    if (record.kind == SummaryRecord::Kind::kScalar)
      results[record.step][record.tag] = record.scalar;
  }
  // The evaluation that is exported now has written its event already.
  results.erase(current_step);
  std::optional<EvalResult> best;
  for (const auto& [step, scalars] : results) {
    if (scalars.count(kLoss) == 0) continue;  // written by a hook, not by Evaluate
    EvalResult result = ResultOfScalars(step, scalars);
    bool better = true;
    if (best.has_value()) {
      EST_ASSIGN_OR_RETURN(better, compare_fn_(*best, result));
    }
    if (better) best = std::move(result);
  }
  if (best.has_value()) {
    LOG(INFO) << "exporter '" << name() << "': the best result so far is of step "
              << best->global_step() << ": " << best->ToString();
  } else {
    LOG(WARNING) << "exporter '" << name() << "': no earlier result in " << pattern
                 << ", so this one is exported; event_file_pattern should match the event files of "
                    "EvalDir(EvalSpec.name)";
  }
  return best;
}

}  // namespace estimator
