#include "estimator/runtime/compile_module.h"

#include <string>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/runtime/compare_kernels.h"
#include "estimator/runtime/control_flow/kernels.h"
#include "estimator/runtime/passes/buckets.h"
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

namespace estimator {
namespace {

// Decides which instructions --check_kernels checks against reference kernels. The instructions of
// bodies are checked one by one, and not the loop or the branch.
void ChooseChecks(CompiledModule& compiled, ExecutableInfo& info) {
  for (const ir::Instruction& instruction : compiled.code.instructions) {
    const ir::Node& node = compiled.module.node(instruction.node);
    const bool has_reference = node.op != ir::kCopyOp && node.functions.empty();
    const std::vector<std::string> without =
        has_reference ? ir::OpsWithoutReference(node, ir::SpecOf(compiled.module, node))
                      : std::vector<std::string>();
    for (const std::string& op : without) ++info.unchecked_ops[op];
    compiled.checked.push_back(has_reference && without.empty());
  }
}

}  // namespace

absl::StatusOr<CompiledModule> CompileModule(ir::Module neutral, const CompileOptions& options,
                                             ExecutableInfo& info) {
  CompiledModule compiled;
  ir::Module& module = compiled.module;
  module = std::move(neutral);
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
  EST_RETURN_IF_ERROR(ir::CompileBodies(module, options, info));
  EST_RETURN_IF_ERROR(ir::SelectKernels(module, options.fastest));
  // The sweep is one node of the schedule, so updates are combined before the schedule is made.
  if (Runs(options, "sweep_updates")) ir::SweepUpdates(module);
  // --check_kernels compares whole ops, so their inputs are not prepared apart.
  if (Runs(options, "derive_values")) ir::DeriveValues(module, !options.check_kernels);
  ir::OrderCarried(module);
  compiled.schedule = ir::MakeSchedule(module);
  // Reference kernels do not write copies, so a checked sweep would differ.
  if (Runs(options, "write_copies") && !options.check_kernels)
    ir::WriteCopies(module, compiled.schedule);
  // --check_kernels compares a whole output, of which a block would have been summed already.
  if (options.buckets) ir::MakeBuckets(module, compiled.schedule, !options.check_kernels);
  compiled.plan = ir::PlanMemory(module, compiled.schedule);
  EST_ASSIGN_OR_RETURN(compiled.code, ir::Emit(module, compiled.schedule, compiled.plan));
  if (options.check_kernels) ChooseChecks(compiled, info);
  info.num_instructions += static_cast<int>(compiled.code.instructions.size());
  info.num_fused_nodes += module.num_fused_nodes;
  return compiled;
}

}  // namespace estimator
