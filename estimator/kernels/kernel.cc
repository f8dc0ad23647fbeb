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
struct Registration {
  KernelFactory factory;    // null: the tier has no kernel of the op
  KernelPredicate accepts;  // null: the factory is asked
};
using Tiers = std::array<Registration, kNumTiers>;

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
  int AliasInput(int /*output*/) const override { return alias_input_; }

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

std::unique_ptr<Kernel> MakeKernel(std::function<absl::Status(const KernelArgs&)> run,
                                   size_t scratch_bytes, int alias_input) {
  return std::make_unique<FunctionKernel>(std::move(run), scratch_bytes, alias_input);
}

bool RegisterKernel(absl::string_view op, KernelTier tier, KernelFactory factory,
                    KernelPredicate accepts) {
  Registration& slot = Registry()[std::string(op)][static_cast<size_t>(tier)];
  CHECK(!slot.factory) << "kernel of " << op << " registered twice in tier "
                       << static_cast<int>(tier);
  slot = {.factory = std::move(factory), .accepts = std::move(accepts)};
  return true;
}

bool HasKernel(absl::string_view op, KernelTier tier) {
  const Tiers* tiers = FindTiers(op);
  return tiers != nullptr && (*tiers)[static_cast<size_t>(tier)].factory != nullptr;
}

std::vector<std::string> RegisteredKernels(KernelTier tier) {
  std::vector<std::string> names;
  for (const auto& [op, tiers] : Registry()) {
    if (tiers[static_cast<size_t>(tier)].factory) names.push_back(op);
  }
  return names;
}

namespace {

// Asks the factories, not the predicates: to answer, oneDNN's create the same descriptors a second time.
std::unique_ptr<Kernel> CreateIn(const Tiers& tiers, const KernelSpec& spec, int fastest,
                                 int slowest) {
  for (int tier = fastest; tier >= slowest; --tier) {
    const KernelFactory& factory = tiers[static_cast<size_t>(tier)].factory;
    if (!factory) continue;
    if (std::unique_ptr<Kernel> kernel = factory(spec)) {
      kernel->set_tier(static_cast<KernelTier>(tier));
      return kernel;
    }
  }
  return nullptr;
}

std::optional<KernelTier> AcceptingTierIn(const Tiers& tiers, const KernelSpec& spec, int fastest,
                                          int slowest) {
  for (int tier = fastest; tier >= slowest; --tier) {
    const auto& [factory, accepts] = tiers[static_cast<size_t>(tier)];
    if (!factory) continue;
    if (accepts ? accepts(spec) : factory(spec) != nullptr) return static_cast<KernelTier>(tier);
  }
  return std::nullopt;
}

constexpr int kReference = static_cast<int>(KernelTier::kReference);

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CreateKernel(const KernelSpec& spec, KernelTier fastest,
                                                     KernelTier slowest) {
  const Tiers* tiers = FindTiers(spec.op);
  if (tiers == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat(spec.name, ": no kernel of op ", spec.op, " is linked in"));
  }
  const int first = static_cast<int>(fastest), last = static_cast<int>(slowest);
  const int last_fast = std::max(last, kReference + 1);
  if (auto kernel = CreateIn(*tiers, spec, first, last_fast)) return kernel;
  // A fast kernel in float32 is better than plain loops in bfloat16.
  if (const std::optional<KernelSpec> wide = WidenedSpec(spec)) {
    if (auto kernel = CreateIn(*tiers, *wide, first, last_fast))
      return MakeWidened(spec, std::move(kernel));
  }
  if (auto kernel = CreateIn(*tiers, spec, std::min(first, kReference), last)) return kernel;
  return absl::UnimplementedError(absl::StrCat(
      spec.name, ": no kernel of ", spec.op, " takes these types and shapes: ", SpecString(spec)));
}

namespace {

struct Acceptance {
  KernelTier tier = KernelTier::kReference;
  bool widened = false;
};

// What CreateKernel would return; nullopt if it would fail.
std::optional<Acceptance> FindAcceptance(const KernelSpec& spec, KernelTier fastest,
                                         KernelTier slowest) {
  const Tiers* tiers = FindTiers(spec.op);
  if (tiers == nullptr) return std::nullopt;
  const int first = static_cast<int>(fastest), last = static_cast<int>(slowest);
  const int last_fast = std::max(last, kReference + 1);
  if (const auto tier = AcceptingTierIn(*tiers, spec, first, last_fast)) return Acceptance{*tier};
  if (const std::optional<KernelSpec> wide = WidenedSpec(spec)) {
    if (const auto tier = AcceptingTierIn(*tiers, *wide, first, last_fast))
      return Acceptance{*tier, true};
  }
  const auto tier = AcceptingTierIn(*tiers, spec, std::min(first, kReference), last);
  return tier.has_value() ? std::optional<Acceptance>(Acceptance{*tier}) : std::nullopt;
}

}  // namespace

std::optional<KernelTier> AcceptingTier(const KernelSpec& spec, KernelTier fastest,
                                        KernelTier slowest) {
  const std::optional<Acceptance> found = FindAcceptance(spec, fastest, slowest);
  return found.has_value() ? std::optional<KernelTier>(found->tier) : std::nullopt;
}

bool Accepts(const KernelSpec& spec, KernelTier fastest, KernelTier slowest) {
  return FindAcceptance(spec, fastest, slowest).has_value();
}

bool AcceptsUnwidened(const KernelSpec& spec, KernelTier fastest, KernelTier slowest) {
  const std::optional<Acceptance> found = FindAcceptance(spec, fastest, slowest);
  return found.has_value() && !found->widened;
}

absl::StatusOr<std::vector<Array>> RunKernel(const KernelSpec& spec, absl::Span<const Array> inputs,
                                             KernelTier fastest, const StepContext& step) {
  KernelSpec full = spec;
  if (full.inputs.empty()) {
    for (const Array& input : inputs) full.inputs.push_back({input.dtype(), input.shape()});
  }
  if (full.inputs.size() != inputs.size()) {
    return absl::InvalidArgumentError(absl::StrCat(spec.name, ": ", spec.op, " is given ",
                                                   inputs.size(), " inputs, but its spec has ",
                                                   full.inputs.size()));
  }
  std::vector<const void*> in;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorSpec actual{inputs[i].dtype(), inputs[i].shape()};
    if (!(actual == full.inputs[i])) {
      return absl::InvalidArgumentError(
          absl::StrCat(spec.name, ": input ", i, " of ", spec.op, " is ", actual.ToString(),
                       ", but its spec has ", full.inputs[i].ToString()));
    }
    in.push_back(inputs[i].raw());
  }
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
