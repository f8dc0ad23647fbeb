#include "estimator/kernels/kernel.h"

#include <algorithm>
#include <array>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/kernels/widened.h"
#include "glog/logging.h"

namespace estimator {
namespace {

constexpr int kNumTiers = static_cast<int>(KernelTier::kNative) + 1;
using Tiers = std::array<KernelFactory, kNumTiers>;  // null: the tier has no kernel of the op

// It is filled before main and only read afterwards, so it needs no lock. It is never destroyed,
// because destructors of static objects may create kernels.
std::map<std::string, Tiers, std::less<>>& Registry() {
  static auto& registry = *new std::map<std::string, Tiers, std::less<>>();
  return registry;
}

const Tiers* FindTiers(absl::string_view op) {
  const auto it = Registry().find(std::string(op));
  return it == Registry().end() ? nullptr : &it->second;
}

class FunctionKernel : public Kernel {
 public:
  FunctionKernel(std::function<absl::Status(const KernelArgs&)> run, size_t scratch_bytes,
                 int alias_input)
      : run_(std::move(run)), scratch_bytes_(scratch_bytes), alias_input_(alias_input) {}
  absl::Status Run(const KernelArgs& args) override { return run_(args); }
  size_t scratch_bytes() const override { return scratch_bytes_; }
  int AliasInput(int output) const override { return output == 0 ? alias_input_ : -1; }

 private:
  const std::function<absl::Status(const KernelArgs&)> run_;
  const size_t scratch_bytes_;
  const int alias_input_;
};

std::string SpecString(const KernelSpec& spec) {
  const auto format = [](std::string* out, const TensorSpec& s) { out->append(s.ToString()); };
  return absl::StrCat("(", absl::StrJoin(spec.inputs, ", ", format), ") -> (",
                      absl::StrJoin(spec.outputs, ", ", format), ")");
}

}  // namespace

uint64_t TripKey(uint64_t outer, int64_t row) {
  // The multiplier of SplitMix64. The key is never 0, which stands for "no loop".
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  return (outer * kMultiplier + static_cast<uint64_t>(row) + 1) | (uint64_t{1} << 63);
}

KernelPlan MakeKernel(std::function<absl::Status(const KernelArgs&)> run, size_t scratch_bytes,
                      int alias_input) {
  // A plan is built once, and what `run` holds may be large.
  return [run = std::move(run), scratch_bytes, alias_input]() mutable {
    return std::make_unique<FunctionKernel>(std::move(run), scratch_bytes, alias_input);
  };
}

bool RegisterKernel(absl::string_view op, KernelTier tier, KernelFactory factory) {
  KernelFactory& slot = Registry()[std::string(op)][static_cast<size_t>(tier)];
  // The order of static initializers depends on the linker, so neither of two registrations may
  // silently win.
  CHECK(!slot) << "kernel of " << op << " registered twice in tier " << static_cast<int>(tier);
  slot = std::move(factory);
  return true;
}

bool RegisterExactKernel(absl::string_view op, const KernelFactory& factory) {
  return RegisterKernel(op, KernelTier::kReference, factory) &&
         RegisterKernel(op, KernelTier::kFused, factory);
}

bool HasKernel(absl::string_view op, KernelTier tier) {
  const Tiers* tiers = FindTiers(op);
  return tiers != nullptr && (*tiers)[static_cast<size_t>(tier)] != nullptr;
}

std::vector<std::string> RegisteredKernels(KernelTier tier) {
  std::vector<std::string> names;
  for (const auto& [op, tiers] : Registry()) {
    if (tiers[static_cast<size_t>(tier)]) names.push_back(op);
  }
  return names;
}

namespace {

constexpr int kReference = static_cast<int>(KernelTier::kReference);

// How a spec is computed.
struct Choice {
  KernelPlan plan;
  KernelTier tier = KernelTier::kReference;
  std::optional<KernelSpec> wide = {};  // the spec of `plan`, if that is widened
};

// Calls take(Choice) for the tiers that accept the spec, the fastest one first, until it returns
// true. Returns whether it did.
template <typename Take>
bool VisitChoices(const Tiers& tiers, const KernelSpec& spec, int fastest, int slowest,
                  Take&& take) {
  const auto visit = [&](const KernelSpec& asked, int from, int to,
                         const std::optional<KernelSpec>& wide) {
    for (int tier = from; tier >= to; --tier) {
      const KernelFactory& factory = tiers[static_cast<size_t>(tier)];
      if (!factory) continue;
      KernelPlan plan = factory(asked);
      if (plan && take(Choice{std::move(plan), static_cast<KernelTier>(tier), wide})) return true;
    }
    return false;
  };
  // The reference tier comes last, after the widened spec: it takes bfloat16 itself, so nothing
  // would ever be widened if it came before.
  const int slowest_fast = std::max(slowest, kReference + 1);
  if (visit(spec, fastest, slowest_fast, std::nullopt)) return true;
  // A fast kernel in float32 is better than plain loops in bfloat16.
  const std::optional<KernelSpec> wide = WidenedSpec(spec);
  if (wide.has_value() && visit(*wide, fastest, slowest_fast, wide)) return true;
  // The reference kernel gets the spec as it is, because it defines what bfloat16 gives.
  return visit(spec, std::min(fastest, kReference), slowest, std::nullopt);
}

// The first choice; nullopt if there is none.
std::optional<Choice> FirstChoice(const KernelSpec& spec, KernelTier fastest, KernelTier slowest) {
  std::optional<Choice> first;
  if (const Tiers* tiers = FindTiers(spec.op)) {
    VisitChoices(*tiers, spec, static_cast<int>(fastest), static_cast<int>(slowest),
                 [&first](Choice choice) {
                   first = std::move(choice);
                   return true;
                 });
  }
  return first;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CreateKernel(const KernelSpec& spec, KernelTier fastest,
                                                     KernelTier slowest) {
  const Tiers* tiers = FindTiers(spec.op);
  if (tiers == nullptr) {
    return Unimplemented(spec.name, ": no kernel of op ", spec.op, " is linked in");
  }
  std::unique_ptr<Kernel> kernel;
  const auto build = [&kernel, &spec](Choice choice) {
    kernel = std::move(choice.plan).Build();
    // A system that refuses memory for generated code leaves the spec to the next tier.
    if (kernel == nullptr) return false;
    kernel->set_tier(choice.tier);
    if (choice.wide.has_value()) kernel = MakeWidened(spec, std::move(kernel));
    return true;
  };
  if (VisitChoices(*tiers, spec, static_cast<int>(fastest), static_cast<int>(slowest), build))
    return kernel;
  return Unimplemented(spec.name, ": no kernel of ", spec.op,
                       " takes these types and shapes: ", SpecString(spec));
}

std::optional<KernelTier> AcceptingTier(const KernelSpec& spec, KernelTier fastest,
                                        KernelTier slowest) {
  const std::optional<Choice> choice = FirstChoice(spec, fastest, slowest);
  return choice.has_value() ? std::optional<KernelTier>(choice->tier) : std::nullopt;
}

bool Accepts(const KernelSpec& spec, KernelTier fastest, KernelTier slowest) {
  return FirstChoice(spec, fastest, slowest).has_value();
}

bool AcceptsUnwidened(const KernelSpec& spec, KernelTier fastest, KernelTier slowest) {
  const std::optional<Choice> choice = FirstChoice(spec, fastest, slowest);
  return choice.has_value() && !choice->wide.has_value();
}

absl::StatusOr<std::vector<Array>> RunKernel(const KernelSpec& spec, absl::Span<const Array> inputs,
                                             KernelTier fastest, const StepContext& step) {
  KernelSpec full = spec;
  // A spec without inputs is that of the arrays. One with inputs says how many bytes the kernel
  // reads, so the arrays must agree with it.
  if (full.inputs.empty()) {
    for (const Array& input : inputs) full.inputs.push_back({input.dtype(), input.shape()});
  }
  if (full.inputs.size() != inputs.size()) {
    return InvalidArgument(spec.name, ": ", spec.op, " is given ", inputs.size(),
                           " inputs, but its spec has ", full.inputs.size());
  }
  std::vector<const void*> in;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorSpec actual{inputs[i].dtype(), inputs[i].shape()};
    if (!(actual == full.inputs[i])) {
      return InvalidArgument(spec.name, ": input ", i, " of ", spec.op, " is ", actual.ToString(),
                             ", but its spec has ", full.inputs[i].ToString());
    }
    in.push_back(inputs[i].raw());
  }
  // Here all values are known before the kernel is built. Factories that need axes or paddings as
  // constants would refuse the spec without them.
  if (full.constants.empty()) full.constants.assign(inputs.begin(), inputs.end());
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<Kernel> kernel, CreateKernel(full, fastest));
  std::vector<Array> outputs;
  std::vector<void*> out;
  for (const TensorSpec& output : full.outputs) {
    outputs.emplace_back(output.dtype, output.shape);
    out.push_back(outputs.back().raw());
  }
  Array scratch(DType::kUint8, Shape{static_cast<int64_t>(kernel->scratch_bytes())});
  EST_RETURN_IF_ERROR(
      Annotate(kernel->Run({.inputs = in, .outputs = out, .scratch = scratch.raw(), .step = step}),
               spec.name));
  return outputs;
}

absl::StatusOr<std::vector<Array>> RunReferenceKernel(const KernelSpec& spec,
                                                      absl::Span<const Array> inputs,
                                                      const StepContext& step) {
  return RunKernel(spec, inputs, KernelTier::kReference, step);
}

}  // namespace estimator
