#include "estimator/runtime/passes/emit.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/runtime/passes/select_kernels.h"

namespace estimator::ir {
namespace {

// The rows of the constant group_assignment [G,S]; no rows mean one group of all replicas.
absl::StatusOr<std::vector<std::vector<int64_t>>> ReplicaGroups(const Module& module,
                                                                const Node& node) {
  std::vector<std::vector<int64_t>> groups;
  if (node.inputs.size() < 2) return groups;
  const Array* assignment = module.constant(Root(module, node.inputs[1]));
  if (assignment == nullptr || !IsInteger(assignment->dtype())) {
    return InvalidArgument(node.name, ": group_assignment must be a constant of integers");
  }
  const Shape& shape = module.spec(node.inputs[1]).shape;
  if (assignment->num_elements() == 0) return groups;
  if (shape.rank() != 2) {
    return InvalidArgument(node.name,
                           ": group_assignment must be [groups, replicas of a group], not ",
                           shape.ToString());
  }
  const Array wide = assignment->Cast(DType::kInt64);
  const int64_t* values = wide.data<int64_t>();
  for (int64_t g = 0; g < shape[0]; ++g)
    groups.emplace_back(values + g * shape[1], values + (g + 1) * shape[1]);
  return groups;
}

// For each node the groups of fetches that depend on it. Updates and collectives always run.
std::vector<uint64_t> Groups(const Module& module) {
  std::vector<uint64_t> groups(module.nodes.size(), 0);
  for (size_t f = 0; f < module.fetches.size(); ++f) {
    // A fetch without a group is computed in every step.
    const uint64_t own = f < module.fetch_groups.size() ? module.fetch_groups[f] : 0;
    At(groups, module.fetches[f].node) |= own == 0 ? Instruction::kAlways : own;
  }
  for (const Update& update : module.updates) At(groups, update.value.node) = Instruction::kAlways;
  for (size_t n = module.nodes.size(); n-- > 0;) {
    // All replicas must take part in a sum, even if none of them reads it.
    if (module.nodes[n].op == kCollectiveOp) groups[n] = Instruction::kAlways;
    for (const Value& input : module.nodes[n].inputs) At(groups, input.node) |= groups[n];
  }
  return groups;
}

// Whether only updates read the sum of node n, which has one output.
bool OnlyUpdatesRead(const Module& module, const Schedule& schedule,
                     const std::vector<std::vector<int>>& readers, int n) {
  const auto is_sum = [n](const Value& fetch) { return fetch.node == n; };
  return std::none_of(module.fetches.begin(), module.fetches.end(), is_sum) &&
         std::all_of(At(readers, n).begin(), At(readers, n).end(),
                     [&](int m) { return m < 0 || At(schedule.only_updates, m) != 0; });
}

Instruction MakeInstruction(const Module& module, const Schedule& schedule, const MemoryPlan& plan,
                            const std::vector<uint64_t>& groups, int t) {
  const int n = At(schedule.order, t);
  const Node& node = module.node(n);
  Instruction instruction;
  instruction.kernel = node.kernel.get();
  instruction.node = n;
  for (const Value& input : node.inputs) instruction.inputs.push_back(plan.buffer(input));
  instruction.outputs = At(plan.buffer_of, n);
  // The copies are written by this kernel, but belong to instructions that run before segment 0.
  for (const Value& copy : node.copies) {
    instruction.outputs.push_back(plan.buffer(copy));
    const auto derived_end = schedule.order.begin() + schedule.derived_end;
    const auto derived = std::find(schedule.order.begin(), derived_end, copy.node);
    instruction.copies.push_back(static_cast<int>(derived - schedule.order.begin()));
  }
  instruction.scratch = At(plan.scratch, t);
  instruction.only_updates = At(schedule.only_updates, n) != 0;
  instruction.groups = At(groups, n);
  return instruction;
}

// REQUIRES: `code` has no instructions yet.
void EmitDerived(const Module& module, const Schedule& schedule, const MemoryPlan& plan,
                 const std::vector<uint64_t>& groups, Code& code) {
  std::map<int, int> instruction_of;  // node -> its instruction
  std::vector<std::set<int>> variables(module.nodes.size());
  for (int t = 0; t < schedule.derived_end; ++t) {
    const int n = At(schedule.order, t);
    const Node& node = module.node(n);
    Code::Derived derived{.kept = node.kept, .variables = {}, .needs = {}};
    std::set<int>& own = At(variables, n);
    for (const Value& input : node.inputs) {
      const int root = Root(module, input).node;
      const Node& source = module.node(root);
      if (source.kind == Node::Kind::kVariable) own.insert(source.index);
      own.insert(At(variables, root).begin(), At(variables, root).end());
      // What is not kept is computed whenever a reader is, so its variables count for the reader.
      if (source.derived && !source.kept) derived.needs.push_back(instruction_of.at(root));
    }
    // Only a kept value outlives the step, so only it has to know whether a variable has changed.
    if (node.kept) derived.variables.assign(own.begin(), own.end());
    instruction_of[n] = t;
    code.instructions.push_back(MakeInstruction(module, schedule, plan, groups, t));
    code.derived.push_back(std::move(derived));
  }
}

}  // namespace

absl::StatusOr<Code> Emit(const Module& module, const Schedule& schedule, const MemoryPlan& plan) {
  Code code;
  const std::vector<std::vector<int>> readers = Readers(module);
  const std::vector<uint64_t> groups = Groups(module);
  auto next = schedule.buckets.begin();  // the next one that will be ready
  int64_t bucket_begin = 0;              // in the memory of all buckets
  EmitDerived(module, schedule, plan, groups, code);
  for (const Schedule::Segment& from : schedule.segments) {
    Code::Segment segment;
    segment.begin = static_cast<int>(code.instructions.size());
    std::map<int, size_t> bucket_of;  // collective -> its bucket in the segment
    // The instructions so far have computed the next bucket up to byte `end` of all buckets.
    const auto add_bucket = [&](int64_t end) {
      segment.buckets.push_back(
          {.ready = static_cast<int>(code.instructions.size()),
           .dtype = next->dtype,
           .offset = bucket_begin,
           .count = (end - bucket_begin) / static_cast<int64_t>(DTypeSize(next->dtype)),
           .collectives = {}});
      bucket_begin = end;
    };
    for (int t = from.begin; t < from.end; ++t) {
      Instruction instruction = MakeInstruction(module, schedule, plan, groups, t);
      const auto is_ready = [&] { return next != schedule.buckets.end() && next->ready == t + 1; };
      for (const RowRange& rows : is_ready() ? next->blocks : std::vector<RowRange>()) {
        if (instruction.rows.end > 0) {
          const auto row_bytes = RowOf(module.node(instruction.node).outputs[0]).num_bytes();
          code.instructions.push_back(instruction);
          add_bucket(At(plan.buffers, instruction.outputs[0]).offset +
                     instruction.rows.end * static_cast<int64_t>(row_bytes));
        }
        instruction.rows = rows;
      }
      code.instructions.push_back(std::move(instruction));
      for (; is_ready(); ++next) {
        for (const int n : next->collectives) bucket_of[n] = segment.buckets.size();
        add_bucket(next->offset + next->bytes);
      }
    }
    segment.end = static_cast<int>(code.instructions.size());
    // A collective has no kernel: the backend adds up the buffers of the replicas.
    for (int t = from.end; t < from.collectives_end; ++t) {
      const int n = At(schedule.order, t);
      const Node& node = module.node(n);
      EST_ASSIGN_OR_RETURN(std::vector<std::vector<int64_t>> replicas, ReplicaGroups(module, node));
      const auto bucket = bucket_of.find(n);
      std::vector<Collective>& collectives = bucket == bucket_of.end()
                                                 ? segment.collectives
                                                 : segment.buckets[bucket->second].collectives;
      collectives.push_back({.input = plan.buffer(node.inputs[0]),
                             .output = plan.buffer({n, 0}),
                             .spec = node.outputs[0],
                             .groups = std::move(replicas),
                             .only_updates = OnlyUpdatesRead(module, schedule, readers, n)});
    }
    code.segments.push_back(std::move(segment));
  }
  code.updates_begin = static_cast<int>(code.instructions.size());
  for (size_t t = static_cast<size_t>(schedule.updates_begin); t < schedule.order.size(); ++t) {
    code.instructions.push_back(
        MakeInstruction(module, schedule, plan, groups, static_cast<int>(t)));
  }
  return code;
}

}  // namespace estimator::ir
