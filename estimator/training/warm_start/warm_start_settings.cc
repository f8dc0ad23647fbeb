#include "estimator/training/warm_start/warm_start_settings.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/name_pattern.h"
#include "estimator/base/status.h"

namespace estimator {

absl::Status ValidateWarmStart(const WarmStartSettings& settings) {
  std::vector<std::string> errors;
  if (settings.ckpt_to_initialize_from.empty()) {
    errors.push_back(
        "`ckpt_to_initialize_from` MUST be set in WarmStartSettings: the prefix of a checkpoint, a "
        "model_dir, or a SavedModel's folder; leave warm_start_from out for first values");
  }
  const VarsToWarmStart& vars = settings.vars_to_warm_start;
  if (vars.kind() != VarsToWarmStart::Kind::kNamed) {
    const absl::Status status = CompileNamePatterns("vars_to_warm_start", vars.words()).status();
    if (!status.ok()) errors.emplace_back(status.message());
  }
  for (const auto& [name, info] : settings.var_name_to_vocab_info) {
    const auto fail = [&errors, name = name](auto&&... what) {
      errors.push_back(absl::StrCat("VocabInfo of '", name, "': ", what...));
    };
    if (info.new_vocab.empty()) fail("new_vocab is not given");
    if (info.old_vocab.empty()) fail("old_vocab is not given");
    if (info.new_vocab_size <= 0) fail("new_vocab_size must be > 0, got ", info.new_vocab_size);
    if (info.num_oov_buckets < 0) fail("num_oov_buckets must be >= 0, got ", info.num_oov_buckets);
    if (info.old_vocab_size != -1 && info.old_vocab_size <= 0)
      fail("old_vocab_size must be > 0, or -1 for all words, got ", info.old_vocab_size);
    if (info.axis != 0 && info.axis != 1) {
      fail("The only supported values for the axis argument are 0 and 1.  Provided axis: ",
           info.axis);
    }
  }
  if (errors.empty()) return absl::OkStatus();
  return InvalidArgument("warm_start_from: ", absl::StrJoin(errors, "; "));
}

}  // namespace estimator
