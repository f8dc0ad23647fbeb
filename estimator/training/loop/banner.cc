#include "estimator/training/loop/banner.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/path.h"
#include "estimator/base/strings.h"
#include "glog/logging.h"

namespace estimator {

namespace {

std::string Start(const TrainingBanner& banner) {
  if (banner.checkpoint.empty() && banner.start_step == 0) return "a new run";
  std::string text = absl::StrCat("continues after step ", banner.start_step);
  if (banner.fell_back && !banner.checkpoint.empty()) {
    absl::StrAppend(&text, ", from ", Basename(banner.checkpoint),
                    " (the warning above says why this one)");
  }
  return text;
}

}  // namespace

std::string FormatTrainingBanner(const TrainingBanner& banner) {
  int64_t num_parameters = 0;
  int num_variables = 0;
  for (const Variable& variable : banner.model.graph->TrainableVariables()) {
    num_parameters += variable.shape().num_elements();
    ++num_variables;
  }
  const int replicas = banner.info.num_replicas;
  const std::string batch = replicas == 1 ? absl::StrCat(banner.examples_per_step)
                                          : absl::StrCat(banner.examples_per_step, " (", replicas,
                                                         " x ", banner.model.batch_size, ")");
  const int64_t memory = banner.info.planned_peak_bytes * replicas;
  const std::vector<std::vector<std::string>> rows = {
      {"backend:", banner.strategy.name()},
      {"batch:", batch},
      {"parameters:", absl::StrCat(HumanCount(static_cast<double>(num_parameters)), " in ",
                                   num_variables, " variables")},
      {"memory:", absl::StrCat(HumanBytes(memory), " planned for a step")},
      {"program:", absl::StrCat(banner.info.num_instructions, " instructions, ",
                                banner.info.num_fused_nodes, " ops fused")},
      {"seed:", banner.config.tf_random_seed ? absl::StrCat(*banner.config.tf_random_seed)
                                             : "the fixed default"},
      {"input:", banner.input},
      {"model_dir:", banner.config.model_dir.value_or("")},
      {"start:", Start(banner)},
  };
  return FormatTable(rows);
}

void LogTrainingBanner(const TrainingBanner& banner) {
  LOG(INFO) << "Training\n" << FormatTrainingBanner(banner);
}

}  // namespace estimator
