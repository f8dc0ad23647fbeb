#include "estimator/runtime/program.h"

#include <iostream>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/runtime/compare_kernels.h"
#include "estimator/runtime/compile_module.h"
#include "estimator/runtime/neutral_module.h"
#include "estimator/runtime/openmp_team.h"
#include "estimator/runtime/program_impl.h"
#include "estimator/runtime/varies_by_replica.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// Logs the instructions that --check_kernels does not check.
void LogUnchecked(const ExecutableInfo& info) {
  if (info.unchecked_ops.empty()) return;
  LOG(WARNING) << "check_kernels: of " << info.num_instructions
               << " instructions those are not checked that no reference kernel computes: "
               << ir::CountedOps(info.unchecked_ops);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Program>> Program::Compile(const Graph& graph,
                                                                const ProgramSpec& spec,
                                                                const CompileOptions& options) {
  EST_RETURN_IF_ERROR(CheckPassNames(options.disable_passes));
  // Kernels divide their work by the number of threads, so it is that of the steps.
  const OpenMpTeam team;
  EST_RETURN_IF_ERROR(team.status());
  auto impl = std::make_unique<ProgramImpl>();
  impl->options = options;
  impl->name = spec.name;
  EST_ASSIGN_OR_RETURN(ir::Module module,
                       ir::BuildNeutralModule(graph, spec,
                                              {.merge_equal = Runs(options, "merge_equal"),
                                               .single_replica = options.single_replica}));
  if (!options.single_replica) {
    const std::vector<char> varies = ir::VariesByReplica(module, /*num_replicas=*/2);
    for (const ir::Update& update : module.updates) {
      if (ir::At(varies, update.value.node) != 0)
        impl->replica_updates.push_back(ir::At(module.variables, update.variable).name);
    }
  }
  EST_ASSIGN_OR_RETURN(static_cast<CompiledModule&>(*impl),
                       CompileModule(std::move(module), options, impl->info));
  if (options.check_kernels) LogUnchecked(impl->info);
  for (const ir::Variable& variable : impl->module.variables)
    impl->variables.emplace_back(variable.name, variable.spec);
  impl->info.planned_peak_bytes = impl->plan.arena_bytes;
  impl->info.planned_shared_bytes = impl->plan.shared_bytes;
  impl->info.planned_derived_bytes = impl->plan.derived_bytes;
  std::shared_ptr<const Program> program(new Program(std::move(impl)));
  if (options.print_plan) std::cout << program->Plan() << std::flush;
  return program;
}

Program::Program(std::unique_ptr<ProgramImpl> impl) : impl_(std::move(impl)) {}
Program::~Program() = default;

int Program::num_segments() const { return static_cast<int>(impl_->code.segments.size()); }

const std::vector<Collective>& Program::collectives(int segment) const {
  return ir::At(impl_->code.segments, segment).collectives;
}

const std::vector<CollectiveBucket>& Program::buckets(int segment) const {
  return ir::At(impl_->code.segments, segment).buckets;
}

int64_t Program::bucket_bytes() const { return impl_->plan.bucket_bytes; }

const std::vector<std::string>& Program::replica_updates() const { return impl_->replica_updates; }

const ExecutableInfo& Program::info() const { return impl_->info; }

const std::vector<std::pair<std::string, TensorSpec>>& Program::variables() const {
  return impl_->variables;
}

}  // namespace estimator
