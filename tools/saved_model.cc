// Looks into SavedModels, as TensorFlow's saved_model_cli does:
//   saved_model show --dir=DIR                                 the tag-sets
//   saved_model show --dir=DIR --tag_set=serve                 the signatures of a graph
//   saved_model show --dir=DIR --tag_set=serve --list_ops      its ops
//   saved_model show --dir=DIR --tag_set=serve --signature_def=serving_default
//   saved_model show --dir=DIR --all                           everything
#include <gflags/gflags.h>

#include <iostream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/main.h"
#include "estimator/base/status.h"
#include "estimator/export/saved_model_show.h"

DEFINE_string(dir, "", "the SavedModel's directory");
DEFINE_bool(all, false, "show everything");
DEFINE_string(tag_set, "", "the tags of one graph, comma-separated");
DEFINE_string(signature_def, "", "a signature of that graph");
DEFINE_bool(list_ops, false, "show the ops of that graph");

namespace estimator {
namespace {

absl::Status Show() {
  if (FLAGS_dir.empty()) return absl::InvalidArgumentError("--dir must be given");
  EST_ASSIGN_OR_RETURN(const SavedModelShow model, SavedModelShow::Open(FLAGS_dir));
  absl::StatusOr<std::string> text;
  if (FLAGS_all) {
    text = model.All();
  } else if (FLAGS_tag_set.empty()) {
    if (FLAGS_list_ops || !FLAGS_signature_def.empty()) {
      return absl::InvalidArgumentError(
          "--list_ops and --signature_def must be paired with a --tag_set");
    }
    text = model.TagSets();
  } else if (FLAGS_list_ops) {
    text = model.Ops(FLAGS_tag_set);
  } else if (FLAGS_signature_def.empty()) {
    text = model.SignatureKeys(FLAGS_tag_set);
  } else {
    text = model.InputsAndOutputs(FLAGS_tag_set, FLAGS_signature_def);
  }
  if (!text.ok()) return text.status();
  std::cout << *text;
  return absl::OkStatus();
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  gflags::SetUsageMessage("saved_model show --dir=DIR [--all]: looks into a SavedModel");
  if (argc < 2 || std::string(argv[1]) != "show") {
    std::cerr << "usage: saved_model show --dir=DIR [--tag_set=TAGS [--signature_def=KEY | "
                 "--list_ops]] [--all]\n";
    return estimator::kUsageExitCode;
  }
  argv[1] = argv[0];
  return estimator::Main(argc - 1, argv + 1, estimator::Show);
}
