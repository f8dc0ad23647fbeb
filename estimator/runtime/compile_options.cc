#include "estimator/runtime/compile_options.h"

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "estimator/base/status.h"
#include "glog/logging.h"

namespace estimator {

const std::vector<std::string>& OptionalPasses() {
  static const auto& passes = *new std::vector<std::string>{
      "merge_equal",      "sink_transposes", "fold_pads",      "row_updates",     "split_sums",
      "fold_batch_norm",  "fuse_bias",       "fuse_pool",      "fuse_conv_block", "fuse_batch_norm",
      "fuse_random_mask", "fuse_layer_norm", "fuse_attention", "fuse_gelu",       "widen_results",
      "fuse_elementwise", "fuse_bias_grad",  "choose_layouts", "sweep_updates",   "derive_values",
      "write_copies"};
  return passes;
}

absl::Status CheckPassNames(const std::vector<std::string>& names) {
  std::vector<std::string> unknown;
  for (const std::string& name : names) {
    if (!absl::c_linear_search(OptionalPasses(), name))
      unknown.push_back(absl::StrCat("\"", name, "\""));
  }
  if (unknown.empty()) return absl::OkStatus();
  return InvalidArgument("disable_passes has unknown names: ", absl::StrJoin(unknown, ", "),
                         "; the passes that can be disabled are ",
                         absl::StrJoin(OptionalPasses(), ", "));
}

bool Runs(const CompileOptions& options, absl::string_view pass) {
  // A misspelled name would be a pass that no one can disable.
  CHECK(absl::c_linear_search(OptionalPasses(), pass)) << pass << " is not in the list of passes";
  return !absl::c_linear_search(options.disable_passes, pass);
}

absl::StatusOr<ConvAlgorithm> ParseConvAlgorithm(StringArg text) {
  const absl::string_view name = text;
  if (name == "auto") return ConvAlgorithm::kAuto;
  if (name == "direct") return ConvAlgorithm::kDirect;
  if (name == "winograd") return ConvAlgorithm::kWinograd;
  return InvalidArgument("must be auto, direct or winograd, given \"", name, "\"");
}

std::vector<std::string> ParsePassNames(StringArg text) {
  std::vector<std::string> names;
  for (const absl::string_view name :
       absl::StrSplit(absl::string_view(text), ',', absl::SkipWhitespace())) {
    names.emplace_back(absl::StripAsciiWhitespace(name));
  }
  return names;
}

}  // namespace estimator
