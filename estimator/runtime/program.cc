#include "estimator/runtime/program.h"

#include <algorithm>
#include <iostream>

#include "estimator/base/status.h"
#include "estimator/runtime/compare_kernels.h"
#include "estimator/runtime/neutral_module.h"
#include "estimator/runtime/openmp_team.h"
#include "estimator/runtime/passes/choose_layouts.h"
#include "estimator/runtime/passes/derive_values.h"
#include "estimator/runtime/passes/fold_constants.h"
#include "estimator/runtime/passes/fold_pads.h"
#include "estimator/runtime/passes/fusion/fuse.h"
#include "estimator/runtime/passes/merge_equal.h"
#include "estimator/runtime/passes/row_updates.h"
#include "estimator/runtime/passes/select_kernels.h"
#include "estimator/runtime/passes/simplify.h"
#include "estimator/runtime/passes/sink_transposes.h"
#include "estimator/runtime/passes/split_sums.h"
#include "estimator/runtime/passes/sweep_updates.h"
#include "estimator/runtime/passes/write_copies.h"
#include "estimator/runtime/program_impl.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// Decides which instructions --check_kernels checks against reference kernels, and logs the others.
void ChooseChecks(ProgramImpl& impl) {
  for (const ir::Instruction& instruction : impl.code.instructions) {
    const ir::Node& node = impl.module.node(instruction.node);
    const std::vector<std::string> without =
        node.op == ir::kCopyOp ? std::vector<std::string>()
                               : ir::OpsWithoutReference(node, ir::SpecOf(impl.module, node));
    for (const std::string& op : without) ++impl.info.unchecked_ops[op];
    impl.checked.push_back(node.op != ir::kCopyOp && without.empty());
  }
  if (impl.info.unchecked_ops.empty()) return;
  const auto num_checked = std::count(impl.checked.begin(), impl.checked.end(), 1);
  LOG(WARNING) << "check_kernels: " << num_checked << " of " << impl.checked.size()
               << " instructions are checked; no reference kernel computes "
               << ir::CountedOps(impl.info.unchecked_ops);
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
  ir::Module& module = impl->module;
  EST_ASSIGN_OR_RETURN(module, ir::BuildNeutralModule(graph, spec,
                                                      {.merge_equal = Runs(options, "merge_equal"),
                                                       .single_replica = options.single_replica}));
  // SpecOf puts both into each KernelSpec, so they are set before a pass asks whether a kernel
  // accepts.
  module.conv_algorithm = options.conv_algorithm;
  module.compute_dtype = options.compute_dtype;
  if (Runs(options, "sink_transposes") && ir::SinkTransposes(module)) {
    EST_RETURN_IF_ERROR(ir::FoldConstants(module));
    if (Runs(options, "merge_equal")) ir::MergeEqual(module);
    ir::Simplify(module, options.single_replica);
  }
  // Before Fuse, which gives convolutions other names than those that FoldPads looks for.
  if (Runs(options, "fold_pads")) ir::FoldPads(module);
  if (Runs(options, "row_updates")) ir::UpdateRows(module);
  if (Runs(options, "split_sums")) ir::SplitSums(module);
  ir::Fuse(module, options);
  if (Runs(options, "choose_layouts")) ir::ChooseLayouts(module, options.fastest);
  // Layouts are chosen for what is left after fusing. The copies have no layout.
  ir::ProtectReads(module);
  ir::Compact(module);
  EST_RETURN_IF_ERROR(ir::SelectKernels(module, options.fastest));
  // The sweep is one node of the schedule, so updates are combined before the schedule is made.
  if (Runs(options, "sweep_updates")) ir::SweepUpdates(module);
  // --check_kernels compares whole ops, so their inputs are not prepared apart.
  if (Runs(options, "derive_values")) ir::DeriveValues(module, !options.check_kernels);
  impl->schedule = ir::MakeSchedule(module);
  // Reference kernels do not write copies, so a checked sweep would differ.
  if (Runs(options, "write_copies") && !options.check_kernels)
    ir::WriteCopies(module, impl->schedule);
  impl->plan = ir::PlanMemory(module, impl->schedule);
  EST_ASSIGN_OR_RETURN(impl->code, ir::Emit(module, impl->schedule, impl->plan));
  if (options.check_kernels) ChooseChecks(*impl);
  for (const ir::Variable& variable : module.variables)
    impl->variables.emplace_back(variable.name, variable.spec);
  impl->info.num_instructions = static_cast<int>(impl->code.instructions.size());
  impl->info.num_fused_nodes = module.num_fused_nodes;
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

const ExecutableInfo& Program::info() const { return impl_->info; }

const std::vector<std::pair<std::string, TensorSpec>>& Program::variables() const {
  return impl_->variables;
}

}  // namespace estimator
