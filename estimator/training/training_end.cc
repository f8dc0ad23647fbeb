#include "estimator/training/training_end.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/file.h"
#include "estimator/base/file_system.h"
#include "estimator/base/path.h"

namespace estimator {
namespace {

// On disk: do not change, because evaluators of all versions look for it.
constexpr char kFileName[] = ".training_ended";

std::string FirstLine(std::optional<int64_t> max_steps) {
  return max_steps.has_value() ? absl::StrCat("max_steps ", *max_steps) : "no max_steps";
}

}  // namespace

absl::Status RemoveTrainingEnd(const std::string& model_dir) {
  const std::string path = JoinPath(model_dir, kFileName);
  return FileExists(path) ? RemoveFile(path) : absl::OkStatus();
}

absl::Status WriteTrainingEnd(const std::string& model_dir, std::optional<int64_t> max_steps,
                              int64_t step) {
  const bool reached = max_steps.has_value() && step >= *max_steps;
  return WriteDerivedFile(
      JoinPath(model_dir, kFileName),
      absl::StrCat(
          FirstLine(max_steps), "\nthe training has ended at step ", step,
          reached ? ", which is max_steps" : ", because its input ended or a hook asked for it",
          "\n"));
}

std::optional<std::string> ReadTrainingEnd(const std::string& model_dir,
                                           std::optional<int64_t> max_steps) {
  const absl::StatusOr<std::string> text = ReadFile(JoinPath(model_dir, kFileName), 1024);
  if (!text.ok()) return std::nullopt;
  const std::vector<std::string> lines = absl::StrSplit(*text, '\n');
  if (lines.size() < 2 || lines[0] != FirstLine(max_steps)) return std::nullopt;
  return lines[1];
}

}  // namespace estimator
