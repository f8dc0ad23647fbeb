#include "estimator/runtime/passes/choose_layouts.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/kernels/layout.h"
#include "estimator/op_def/op_def.h"

namespace estimator::ir {
namespace {

// The number of f32 in an AVX-512 vector. With AVX2 oneDNN chooses blocks of 8, which gain nothing.
constexpr int64_t kBlock = 16;
// Images with at most this many channels are the network's input, and are not blocked.
constexpr int64_t kMostInputChannels = 3;

// The operands of an op that are activations, and whether the op chooses a layout or follows its
// inputs.
struct Images {
  std::vector<int> inputs;
  std::vector<int> outputs;
  bool chooses = false;
};

// The operands that the node has, of those with these indices.
std::vector<int> Within(const std::vector<int>& indices, size_t size) {
  std::vector<int> within = indices;
  std::erase_if(within, [size](int i) { return i >= static_cast<int>(size); });
  return within;
}

// Nullopt for ops that support only NHWC.
std::optional<Images> ImagesOf(const Module& module, const Node& node) {
  const OpTraits& traits = TraitsOf(node.op);
  if (traits.layout != OpTraits::Layout::kNhwc) {
    return Images{.inputs = Within(traits.image_inputs, node.inputs.size()),
                  .outputs = Within(traits.image_outputs, node.outputs.size()),
                  .chooses = traits.layout == OpTraits::Layout::kChooses};
  }
  if (!traits.elementwise) return std::nullopt;
  Images images;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Shape& shape = module.spec(node.inputs[i]).shape;
    if (shape == node.outputs[0].shape) {
      images.inputs.push_back(static_cast<int>(i));
    } else if (shape.num_elements() != 1) {
      // An operand that is broadcast along some axes only has no form in blocks.
      return std::nullopt;
    }
  }
  for (size_t o = 0; o < node.outputs.size(); ++o) images.outputs.push_back(static_cast<int>(o));
  return images;
}

Attrs ReorderTo(const char* format) { return {{"to", std::string(format)}}; }

// The plain ops of `node` with reorders before and after them, so that --check_kernels can check
// it.
std::shared_ptr<const Origin> OriginInBlocks(const Node& node, const KernelSpec& plain,
                                             const KernelSpec& blocked, const Images& images) {
  auto origin = std::make_shared<Origin>();
  const auto reorder = [&](Value from, const char* to, const TensorSpec& result) {
    origin->steps.push_back({.op = kReorderOp,
                             .name = node.name,
                             .attrs = ReorderTo(to),
                             .inputs = {from},
                             .outputs = {result}});
    return Value{static_cast<int>(origin->steps.size()) - 1, 0};
  };
  std::vector<Value> inputs = OwnInputs(node);
  for (const int i : images.inputs)
    At(inputs, i) = reorder({-1, i}, kPlainFormat, At(plain.inputs, i));
  origin->outputs = AppendSteps(node, inputs, *origin);
  for (const int o : images.outputs)
    At(origin->outputs, o) =
        reorder(At(origin->outputs, o), kBlockedFormat, At(blocked.outputs, o));
  return origin;
}

class LayoutChooser {
 public:
  LayoutChooser(Module& module, KernelTier fastest) : module_(module), fastest_(fastest) {}

  void Run() {
    if (MostKnowOnlyNhwc()) return;
    for (int n = 0; n < module_.num_nodes(); ++n) {
      if (!VisitBlocked(n)) VisitPlain(n);
    }
    // The user and the variables know only NHWC.
    for (Value& fetch : module_.fetches) fetch = Plain(fetch);
    for (Update& update : module_.updates) update.value = Plain(update.value);
    module_.nodes = std::move(nodes_);
    Compact(module_);
  }

 private:
  Value Add(Node node) {
    nodes_.push_back(std::move(node));
    return {static_cast<int>(nodes_.size()) - 1, 0};
  }

  // The new value for an old one, in either format. Adds a reorder if that format is missing.
  Value Plain(Value value) {
    const auto it = plain_.find(value);
    if (it != plain_.end()) return it->second;
    return plain_[value] =
               Reorder(value, blocked_.at(value).second, kPlainFormat, module_.spec(value));
  }
  Value Blocked(Value value, int64_t block) {
    const auto it = blocked_.find(value);
    if (it != blocked_.end() && it->second.first == block) return it->second.second;
    const TensorSpec& plain = module_.spec(value);
    const Value result = Reorder(value, Plain(value), kBlockedFormat,
                                 {plain.dtype, BlockedShape(plain.shape, block)});
    blocked_[value] = {block, result};
    return result;
  }
  Value Reorder(Value old, Value from, const char* to, const TensorSpec& spec) {
    const std::string name = absl::StrCat(module_.node(old).name, "/", to);
    // With one channel both layouts have the same order of elements.
    if (module_.spec(old).shape[3] == 1) return Add(MakeReshape(from, spec, name));
    return Add({.op = kReorderOp,
                .name = name,
                .attrs = ReorderTo(to),
                .inputs = {from},
                .outputs = {spec}});
  }

  // Gives the tensor the shape of blocks. Returns their size, or 0 if it cannot be blocked.
  static int64_t PutInBlocks(TensorSpec& tensor, int64_t block, bool may_be_input) {
    Shape& shape = tensor.shape;
    if (shape.rank() != 4 || shape.num_elements() == 0) return 0;
    if (shape[3] % block != 0) {
      if (!may_be_input || shape[3] > kMostInputChannels) return 0;
      // Blocks of one channel are NCHW, which the first convolution of a network reads.
      block = 1;
    }
    shape = BlockedShape(shape, block);
    return block;
  }

  bool VisitBlocked(int n) {
    const Node& node = module_.node(n);
    // A random op must draw its numbers in the order of the plain layout.
    if (node.kind != Node::Kind::kOp || node.stateful) return false;
    if (node.attrs.has("data_format") && node.attrs.s("data_format") != kPlainFormat) return false;
    const std::optional<Images> images = ImagesOf(module_, node);
    if (!images.has_value() || images->inputs.empty()) return false;
    // Our own kernels are as fast in NHWC, so they need no reorder and follow their inputs.
    const bool native = images->chooses && IsNative(node);
    if (images->chooses && !native) return Build(n, *images, kBlock, KernelTier::kReference);
    for (const int i : images->inputs) {
      const auto it = made_in_blocks_.find(At(node.inputs, i));
      if (it == made_in_blocks_.end()) continue;
      return Build(n, *images, it->second, native ? KernelTier::kNative : KernelTier::kReference);
    }
    return false;
  }

  // Whether blocks would put a reorder between most convolutions: more of them have kernels of our
  // own for NHWC only than would choose blocks.
  bool MostKnowOnlyNhwc() const {
    int only_nhwc = 0, others = 0;
    for (const Node& node : module_.nodes) {
      if (node.kind != Node::Kind::kOp || TraitsOf(node.op).layout != OpTraits::Layout::kChooses)
        continue;
      if (!IsNative(node)) {
        ++others;
      } else if (!IsNativeInBlocks(node)) {
        ++only_nhwc;
      }
    }
    return only_nhwc > others;
  }

  bool IsNativeInBlocks(const Node& node) const {
    KernelSpec spec = SpecOf(module_, node);
    const OpTraits& traits = TraitsOf(node.op);
    const auto set_blocks = [](std::vector<TensorSpec>& operands, const std::vector<int>& images) {
      for (const int i : Within(images, operands.size()))
        PutInBlocks(At(operands, i), kBlock, /*may_be_input=*/true);
    };
    set_blocks(spec.inputs, traits.image_inputs);
    set_blocks(spec.outputs, traits.image_outputs);
    spec.attrs.Set("data_format", std::string(kBlockedFormat));
    return HasNative(spec);
  }

  // Whether a kernel of our own takes the node in NHWC.
  bool IsNative(const Node& node) const {
    return fastest_ >= KernelTier::kNative && HasNative(SpecOf(module_, node));
  }

  // A native kernel for f32 on widened operands does not count: oneDNN has kernels for bf16.
  static bool HasNative(const KernelSpec& spec) {
    return AcceptsUnwidened(spec, KernelTier::kNative, KernelTier::kNative);
  }

  // Adds node n in blocks, if a kernel of a tier from `slowest` accepts that.
  bool Build(int n, const Images& images, int64_t block, KernelTier slowest) {
    const Node& node = module_.node(n);
    const KernelSpec plain = SpecOf(module_, node);
    KernelSpec spec = plain;
    std::map<int, int64_t> input_block;
    for (const int i : images.inputs) {
      const size_t k = static_cast<size_t>(i);
      if ((input_block[i] = PutInBlocks(spec.inputs[k], block, images.chooses)) == 0) return false;
      // A constant has the plain layout; the blocked kernel must not read its value.
      spec.constants[k] = std::nullopt;
    }
    for (const int o : images.outputs) {
      if (PutInBlocks(At(spec.outputs, o), block, images.chooses) == 0) return false;
    }
    // An element-wise op computes blocks as it does any other shape.
    if (!TraitsOf(node.op).elementwise) spec.attrs.Set("data_format", std::string(kBlockedFormat));
    if (spec.attrs.has("input_shape")) {
      spec.attrs.Set("input_shape",
                     BlockedShape(Shape(spec.attrs.ints("input_shape")), block).dims());
    }
    // A bf16 convolution in NHWC is faster than one in blocks that is computed in f32.
    if (images.chooses ? !AcceptsUnwidened(spec, fastest_, slowest)
                       : !Accepts(spec, fastest_, slowest))
      return false;

    Node blocked = node;
    blocked.attrs = spec.attrs;
    blocked.outputs = spec.outputs;
    blocked.slowest = slowest;
    blocked.origin = OriginInBlocks(node, plain, spec, images);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const auto it = input_block.find(static_cast<int>(i));
      blocked.inputs[i] =
          it == input_block.end() ? Plain(node.inputs[i]) : Blocked(node.inputs[i], it->second);
    }
    const int index = Add(std::move(blocked)).node;
    for (int o = 0; o < static_cast<int>(node.outputs.size()); ++o) {
      if (std::count(images.outputs.begin(), images.outputs.end(), o) > 0) {
        const int64_t made = At(spec.outputs, o).shape[4];
        made_in_blocks_[{n, o}] = made;
        blocked_[{n, o}] = {made, {index, o}};
      } else {
        plain_[{n, o}] = {index, o};
      }
    }
    return true;
  }

  void VisitPlain(int n) {
    Node node = module_.node(n);
    for (Value& input : node.inputs) input = Plain(input);
    const int num_outputs = static_cast<int>(node.outputs.size());
    const int index = Add(std::move(node)).node;
    for (int o = 0; o < num_outputs; ++o) plain_[{n, o}] = {index, o};
  }

  Module& module_;
  const KernelTier fastest_;
  std::vector<Node> nodes_;                  // of the new module
  std::map<Value, int64_t> made_in_blocks_;  // old value -> block size of its node's output
  std::map<Value, Value> plain_;             // old value -> new value in NHWC
  std::map<Value, std::pair<int64_t, Value>> blocked_;  // old value -> block size, new value
};

}  // namespace

void ChooseLayouts(Module& module, KernelTier fastest) {
  // The gradient of a filter reads images and writes none.
  const bool trains = std::any_of(module.nodes.begin(), module.nodes.end(), [](const Node& node) {
    const OpTraits& traits = TraitsOf(node.op);
    return traits.layout == OpTraits::Layout::kChooses && traits.image_outputs.empty();
  });
  if (trains && fastest >= KernelTier::kOneDnn) LayoutChooser(module, fastest).Run();
}

}  // namespace estimator::ir
