#include "estimator/runtime/program.h"

#include <algorithm>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/runtime/compare_kernels.h"
#include "estimator/runtime/neutral_module.h"
#include "estimator/runtime/passes/choose_layouts.h"
#include "estimator/runtime/passes/derive_values.h"
#include "estimator/runtime/passes/fold_pads.h"
#include "estimator/runtime/passes/fuse.h"
#include "estimator/runtime/passes/row_updates.h"
#include "estimator/runtime/passes/select_kernels.h"
#include "estimator/runtime/passes/split_sums.h"
#include "estimator/runtime/passes/sweep_updates.h"
#include "estimator/runtime/passes/write_copies.h"
#include "estimator/runtime/program_impl.h"
#include "glog/logging.h"

namespace estimator {
namespace {

std::string BufferString(const ir::MemoryPlan& plan, int number) {
  const ir::Buffer& buffer = ir::At(plan.buffers, number);
  switch (buffer.kind) {
    case ir::Buffer::Kind::kArena:
      return absl::StrCat("@", buffer.offset);
    case ir::Buffer::Kind::kShared:
      return absl::StrCat("shared@", buffer.offset);
    case ir::Buffer::Kind::kDerived:
      return absl::StrCat("derived@", buffer.offset);
    case ir::Buffer::Kind::kOwn:
      return absl::StrCat("own", buffer.index);
    case ir::Buffer::Kind::kConstant:
      return absl::StrCat("const", buffer.index);
    case ir::Buffer::Kind::kFeed:
      return absl::StrCat("feed", buffer.index);
    case ir::Buffer::Kind::kVariable:
      return absl::StrCat("var", buffer.index);
  }
  return "";
}

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
  auto impl = std::make_unique<ProgramImpl>();
  impl->options = options;
  impl->name = spec.name;
  ir::Module& module = impl->module;
  EST_ASSIGN_OR_RETURN(module, ir::BuildNeutralModule(graph, spec,
                                                      {.merge_equal = Runs(options, "merge_equal"),
                                                       .single_replica = options.single_replica}));
  module.conv_algorithm = options.conv_algorithm;
  module.compute_dtype = options.compute_dtype;
  if (Runs(options, "fold_pads")) ir::FoldPads(module);
  if (Runs(options, "row_updates")) ir::UpdateRows(module);
  if (Runs(options, "split_sums")) ir::SplitSums(module);
  ir::Fuse(module, options);
  if (Runs(options, "choose_layouts")) ir::ChooseLayouts(module, options.fastest);
  ir::ProtectReads(module);
  ir::Compact(module);
  EST_RETURN_IF_ERROR(ir::SelectKernels(module, options.fastest));
  // The sweep is one node of the schedule, so updates are combined before the schedule is made.
  if (Runs(options, "sweep_updates")) ir::SweepUpdates(module);
  if (Runs(options, "derive_values")) ir::DeriveValues(module, !options.check_kernels);
  impl->schedule = ir::MakeSchedule(module);
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

std::string Program::ToString() const {
  const ir::MemoryPlan& plan = impl_->plan;
  std::string text;
  const auto buffer = [&plan](std::string* out, int number) {
    out->append(BufferString(plan, number));
  };
  const auto spec = [](std::string* out, const TensorSpec& s) { out->append(s.ToString()); };
  const auto append = [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const ir::Instruction& instruction = ir::At(impl_->code.instructions, i);
      const ir::Node& node = impl_->module.node(instruction.node);
      absl::StrAppend(&text, "  ", absl::StrJoin(instruction.outputs, ", ", buffer), " = ", node.op,
                      "(", absl::StrJoin(instruction.inputs, ", ", buffer),
                      ") : ", absl::StrJoin(node.outputs, ", ", spec), "  # ", node.name, "\n");
    }
  };
  if (!impl_->code.derived.empty()) {
    absl::StrAppend(&text, "derived from variables\n");
    append(0, static_cast<int>(impl_->code.derived.size()));
  }
  for (size_t k = 0; k < impl_->code.segments.size(); ++k) {
    const ir::Code::Segment& segment = impl_->code.segments[k];
    absl::StrAppend(&text, "segment ", k, "\n");
    append(segment.begin, segment.end);
    for (const Collective& collective : segment.collectives) {
      absl::StrAppend(&text, "  ", BufferString(plan, collective.output), " = all-reduce(",
                      BufferString(plan, collective.input), ") : ", collective.spec.ToString(),
                      "\n");
    }
  }
  absl::StrAppend(&text, "updates\n");
  append(impl_->code.updates_begin, static_cast<int>(impl_->code.instructions.size()));
  for (const int u : impl_->schedule.copies) {
    const ir::Update& update = ir::At(impl_->module.updates, u);
    absl::StrAppend(&text, "  var", update.variable, " = copy(",
                    BufferString(plan, plan.buffer(update.value)), ")  # ", update.name, "\n");
  }
  absl::StrAppend(&text, "arena ", HumanBytes(plan.arena_bytes), "\n");
  if (plan.shared_bytes > 0)
    absl::StrAppend(&text, "shared by the replicas ", HumanBytes(plan.shared_bytes), "\n");
  if (plan.derived_bytes > 0)
    absl::StrAppend(&text, "derived values ", HumanBytes(plan.derived_bytes), "\n");
  return text;
}

}  // namespace estimator
