#include "tpu/stablehlo/dump_backend.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "glog/logging.h"
#include "tpu/stablehlo/lower_step.h"

namespace estimator::tpu::stablehlo {
namespace {

class DumpBackend : public Backend {
 public:
  DumpBackend(std::unique_ptr<Backend> backend, DumpOptions options)
      : backend_(std::move(backend)), options_(std::move(options)) {}

  std::string name() const override { return backend_->name(); }
  int num_replicas() const override { return backend_->num_replicas(); }
  VariableStore& variables() override { return backend_->variables(); }

  absl::StatusOr<std::unique_ptr<Executable>> Compile(const Graph& graph,
                                                      const ProgramSpec& spec) override {
    // Errors of the graph itself are the backend's to report.
    EST_ASSIGN_OR_RETURN(std::unique_ptr<Executable> executable, backend_->Compile(graph, spec));
    if (!spec.updates.empty() || !options_.only_with_updates) {
      const absl::Status dumped = Dump(graph, spec);
      if (!dumped.ok()) {
        return absl::Status(dumped.code(), absl::StrCat("dump_stablehlo: ", dumped.message()));
      }
    }
    return executable;
  }

 private:
  absl::Status Dump(const Graph& graph, const ProgramSpec& spec) const {
    LowerOptions lower{.num_replicas = num_replicas(),
                       .iterations = options_.iterations,
                       .compute_dtype = options_.compute_dtype};
    // As in pjrt_backend.cc: a step that trains is guarded by its loss, which is the first fetch.
    if (!spec.updates.empty() && !spec.fetches.empty() && IsFloating(spec.fetches[0].dtype()) &&
        spec.fetches[0].shape().rank() == 0)
      lower.guard_fetch = 0;
    EST_ASSIGN_OR_RETURN(const StepModule module, LowerStep(graph, spec, lower));
    EST_RETURN_IF_ERROR(WriteFileAtomically(options_.path, module.text));
    LOG(INFO) << "Wrote the StableHLO of a step (" << lower.num_replicas << " replicas, "
              << lower.iterations << " iterations, " << module.arguments.size() << " arguments) to "
              << options_.path;
    return absl::OkStatus();
  }

  const std::unique_ptr<Backend> backend_;
  const DumpOptions options_;
};

}  // namespace

std::unique_ptr<Backend> MakeDumpBackend(std::unique_ptr<Backend> backend, DumpOptions options) {
  return std::make_unique<DumpBackend>(std::move(backend), std::move(options));
}

std::string PathWithSuffix(const std::string& path, const std::string& suffix) {
  const size_t slash = path.rfind('/'), dot = path.rfind('.');
  const size_t name = slash == std::string::npos ? 0 : slash + 1;
  // A dot in a folder's name, or at the beginning of the file's, begins no extension.
  const size_t end = dot == std::string::npos || dot <= name ? path.size() : dot;
  return absl::StrCat(path.substr(0, end), "_", suffix, path.substr(end));
}

}  // namespace estimator::tpu::stablehlo
