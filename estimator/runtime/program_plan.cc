// Program::Plan: the table of --print_plan.
#include <array>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "estimator/base/strings.h"
#include "estimator/kernels/flops.h"
#include "estimator/runtime/control_flow/kernels.h"
#include "estimator/runtime/passes/derive_values.h"
#include "estimator/runtime/program.h"
#include "estimator/runtime/program_impl.h"

namespace estimator {
namespace {

constexpr double kMega = 1e6;
constexpr double kKibi = 1024;
constexpr size_t kTitleColumn = 58;  // where the op of an instruction begins

// The last is for kernels without a tier: copies and sweeps, which a pass builds itself.
constexpr std::array<const char*, 5> kTiers = {"reference", "fused", "onednn", "native", "-"};

size_t TierOf(const ir::Node& node) {
  const auto tier = node.kernel == nullptr ? std::nullopt : node.kernel->tier();
  return tier.has_value() ? static_cast<size_t>(*tier) : kTiers.size() - 1;
}

struct Work {
  int64_t instructions = 0;
  int64_t bytes = 0;
  int64_t flops = 0;

  void operator+=(const Work& other) {
    instructions += other.instructions;
    bytes += other.bytes;
    flops += other.flops;
  }
  std::string ToString() const {
    return absl::StrFormat("%d instructions, %s, %.2f MFLOP", instructions, HumanBytes(bytes),
                           static_cast<double>(flops) / kMega);
  }
};

Work WorkOf(const ir::Node& node, const KernelSpec& spec) {
  // The work of a loop or a branch is that of its bodies' instructions.
  const int64_t flops = node.functions.empty() ? EstimatedFlops(spec) : 0;
  Work work{.instructions = 1, .bytes = 0, .flops = flops};
  for (const auto* list : {&spec.inputs, &spec.outputs}) {
    for (const TensorSpec& tensor : *list) {
      // The size of a list is not known.
      if (!ir::IsList(tensor)) work.bytes += static_cast<int64_t>(tensor.num_bytes());
    }
  }
  if (node.kernel != nullptr) work.bytes += static_cast<int64_t>(node.kernel->scratch_bytes());
  return work;
}

std::string BufferString(const ir::MemoryPlan& plan, int number) {
  // In the order of Buffer::Kind. The first four are memory with several values.
  constexpr std::array<const char*, 9> kPrefixes = {"@",    "shared@", "derived@", "bucket@", "own",
                                                    "list", "const",   "feed",     "var"};
  const ir::Buffer& buffer = ir::At(plan.buffers, number);
  const bool has_offset = buffer.kind <= ir::Buffer::Kind::kBucket;
  return absl::StrCat(kPrefixes[static_cast<size_t>(buffer.kind)],
                      has_offset ? buffer.offset : buffer.index);
}

// "@64 = MatMul(feed0, var0)": where an op reads and writes.
std::string Statement(const ir::MemoryPlan& plan, const std::vector<int>& outputs,
                      const std::string& op, const std::vector<int>& inputs) {
  const auto list = [&plan](const std::vector<int>& buffers) {
    return absl::StrJoin(buffers, ", ", [&plan](std::string* out, int number) {
      out->append(BufferString(plan, number));
    });
  };
  return absl::StrCat(list(outputs), " = ", op, "(", list(inputs), ")");
}

// The spec of a node. If an input was prepared for its kernel, the spec has the input itself.
KernelSpec PlainSpecOf(const ir::Module& module, const ir::Node& node) {
  KernelSpec spec = ir::SpecOf(module, node);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ir::Node& producer = module.node(node.inputs[i]);
    // Prepared bytes have no shape, from which the FLOPs could be estimated.
    if (producer.op == ir::kPrepareOp) spec.inputs[i] = module.spec(producer.inputs[0]);
  }
  return spec;
}

using WorkByTier = std::array<Work, kTiers.size()>;

// Appends a line for each instruction in [begin, end), and below that of a loop or a branch those
// of its bodies.
//   indent: before the op.
void AppendInstructions(const CompiledModule& compiled, int begin, int end,
                        const std::string& indent, WorkByTier& by_tier, std::string& text) {
  const auto specs = [](const std::vector<TensorSpec>& list) {
    return absl::StrJoin(list, ", ",
                         [](std::string* out, const TensorSpec& s) { out->append(s.ToString()); });
  };
  for (int i = begin; i < end; ++i) {
    const ir::Instruction& instruction = ir::At(compiled.code.instructions, i);
    const ir::Node& node = compiled.module.node(instruction.node);
    KernelSpec spec = PlainSpecOf(compiled.module, node);
    // A sweep also writes the copies of its variables in bf16, so their bytes count.
    for (const ir::Value& copy : node.copies) spec.outputs.push_back(compiled.module.spec(copy));
    Work work = WorkOf(node, spec);
    if (const RowRange& rows = instruction.rows; rows.end > 0) {
      // A block of rows has its share of the work.
      Shape& shape = spec.outputs[0].shape;
      work.bytes = work.bytes * (rows.end - rows.begin) / shape[0];
      work.flops = work.flops * (rows.end - rows.begin) / shape[0];
      shape.set_dim(0, rows.end - rows.begin);
    }
    const size_t tier = TierOf(node);
    // Derived values are not part of every step.
    if (!node.derived) by_tier[tier] += work;
    const std::string layout =
        node.attrs.has("data_format") ? node.attrs.s("data_format") : std::string("-");
    absl::StrAppendFormat(
        &text, "%5d  %-9s  %-11s %12.1f %12.3f  %s%s  %s  (%s) -> (%s)  %s\n", i, kTiers[tier],
        layout, static_cast<double>(work.bytes) / kKibi, static_cast<double>(work.flops) / kMega,
        indent, node.op, node.name, specs(spec.inputs), specs(spec.outputs),
        Statement(compiled.plan, instruction.outputs, node.op, instruction.inputs));
    const auto* const control_flow = dynamic_cast<const ControlFlowKernel*>(node.kernel.get());
    if (control_flow == nullptr) continue;
    for (const auto& [what, body] : control_flow->bodies()) {
      const int num_derived = static_cast<int>(body->code.derived.size());
      const std::string inner = indent + "  ";
      const auto title = [&](const std::string& line) {
        absl::StrAppend(&text, std::string(kTitleColumn, ' '), inner, line, "\n");
      };
      if (num_derived > 0) {
        title("before the first trip");
        AppendInstructions(*body, 0, num_derived, inner, by_tier, text);
      }
      title(what);
      AppendInstructions(*body, num_derived, static_cast<int>(body->code.instructions.size()),
                         inner, by_tier, text);
    }
  }
}

}  // namespace

std::string Program::Plan() const {
  const ir::Module& module = impl_->module;
  const ir::MemoryPlan& plan = impl_->plan;
  WorkByTier by_tier;
  std::string text = absl::StrCat(
      "plan of ", impl_->name.empty() ? "a program" : impl_->name, ": ", module.feeds.size(),
      " feeds, ", module.fetches.size(), " fetches and ", module.updates.size(), " updates\n",
      absl::StrFormat("%5s  %-9s  %-11s %12s %12s  %s\n", "#", "tier", "layout", "KiB", "MFLOP",
                      "op  node  shapes  memory"));
  const auto append = [&](int begin, int end) {
    AppendInstructions(*impl_, begin, end, "", by_tier, text);
  };
  if (!impl_->code.derived.empty()) {
    absl::StrAppend(&text, "derived from variables: runs when one of them has changed\n");
    append(0, static_cast<int>(impl_->code.derived.size()));
  }
  for (size_t k = 0; k < impl_->code.segments.size(); ++k) {
    const ir::Code::Segment& segment = impl_->code.segments[k];
    absl::StrAppend(&text, "segment ", k, "\n");
    append(segment.begin, segment.end);
    const auto append_sums = [&](const std::vector<Collective>& collectives) {
      for (const Collective& collective : collectives)
        absl::StrAppend(&text, "       all-reduce  ", collective.spec.ToString(), "  ",
                        Statement(plan, {collective.output}, "all-reduce", {collective.input}),
                        "\n");
    };
    for (const CollectiveBucket& bucket : segment.buckets) {
      const int64_t bytes = bucket.count * static_cast<int64_t>(DTypeSize(bucket.dtype));
      absl::StrAppend(&text, "       bucket of ", HumanBytes(bytes), ", ready before ",
                      bucket.ready, "\n");
      append_sums(bucket.collectives);
    }
    append_sums(segment.collectives);
  }
  absl::StrAppend(&text, "updates\n");
  append(impl_->code.updates_begin, static_cast<int>(impl_->code.instructions.size()));
  for (const int u : impl_->schedule.copies) {
    const ir::Update& update = ir::At(module.updates, u);
    absl::StrAppend(&text, "       copy to variable  ", update.name, "  var", update.variable,
                    " = copy(", BufferString(plan, plan.buffer(update.value)), ")\n");
  }
  Work total;
  for (size_t tier = 0; tier < kTiers.size(); ++tier) {
    if (by_tier[tier].instructions == 0) continue;
    total += by_tier[tier];
    absl::StrAppendFormat(&text, "%-9s  %s\n", kTiers[tier], by_tier[tier].ToString());
  }
  absl::StrAppend(&text, "total      ", total.ToString(), "; arena ", HumanBytes(plan.arena_bytes),
                  "\n");
  if (plan.shared_bytes > 0)
    absl::StrAppend(&text, "shared by the replicas ", HumanBytes(plan.shared_bytes), "\n");
  if (!impl_->code.derived.empty()) {
    absl::StrAppend(&text, "derived    ", impl_->code.derived.size(), " instructions, ",
                    HumanBytes(plan.derived_bytes), " kept between steps\n");
  }
  return text;
}

}  // namespace estimator
