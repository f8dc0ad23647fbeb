#include "tpu/rules/layout_rules.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace estimator::tpu {
namespace {

constexpr int64_t kLanes = 128;   // numbers in a row of a tile, and the matrix unit's width
constexpr int64_t kSublanes = 8;  // rows of a tile of 32-bit numbers
constexpr int64_t kMib = int64_t{1} << 20;
constexpr int64_t kGib = int64_t{1} << 30;
// Smaller tensors do not matter, whatever they grow to.
constexpr int64_t kLargeTiledBytes = 32 * kMib;
constexpr double kLargeGrowth = 4;

int64_t RoundUp(int64_t size, int64_t multiple) {
  return (size + multiple - 1) / multiple * multiple;
}

// The sizes of the matrices of a product: [m, k] times [k, n].
struct Product {
  int64_t m = 0, k = 0, n = 0;
};

std::optional<Product> ProductOf(const Node& node) {
  const auto shape = [&](int i) -> const Shape& { return node.input(i).shape(); };
  if (node.op() == "MatMul") {
    const bool transposed = node.attrs().b("transpose_a");
    const Shape& out = node.outputs()[0].shape;
    return Product{out.dim(0), shape(0).dim(transposed ? 0 : 1), out.dim(1)};
  }
  if (node.op() == "BatchMatMulV2") {
    const Shape& out = node.outputs()[0].shape;
    return Product{out.dim(-2), shape(0).dim(node.attrs().b("adj_x") ? -2 : -1), out.dim(-1)};
  }
  if (node.op() == "Conv2D") {  // as the product of patches and filters
    const Shape& out = node.outputs()[0].shape;
    return Product{out.dim(0) * out.dim(1) * out.dim(2), shape(1).dim(2), out.dim(3)};
  }
  return std::nullopt;
}

std::string Mib(int64_t bytes) {
  return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / static_cast<double>(kMib));
}

// One finding for each shape of product: a network repeats its blocks.
void CheckFeatures(const CheckedModel& model, const ProgramNodes& nodes, Report& report) {
  struct Ops {
    const Node* first = nullptr;
    int count = 0;
  };
  std::map<std::string, Ops> by_shape;
  for (const Node* node : nodes.all()) {
    const std::optional<Product> product = ProductOf(*node);
    // The gradients of a product have its sizes, and the cure is the same.
    if (!product.has_value() || nodes.IsGradient(*node)) continue;
    // The rows m do not count here: CheckRows reports the batch.
    if (product->k % kLanes == 0 && product->n % kLanes == 0) continue;
    Ops& ops =
        by_shape[absl::StrCat(node->op(), node->input(0).shape().ToString(),
                              node->input(1).shape().ToString(), node->outputs()[0].ToString())];
    if (ops.count++ == 0) ops.first = node;
  }
  for (const auto& [shape, ops] : by_shape) {
    const Product product = *ProductOf(*ops.first);
    const TensorSpec& out = ops.first->outputs()[0];
    const auto bytes = static_cast<int64_t>(out.num_bytes());
    report.Add(
        "features-not-of-128", model.Where(nodes.NameOf(*ops.first)),
        absl::StrFormat(
            "%sinput features %d and output features %d are padded to %d and %d: the matrix unit "
            "makes %.1f times the multiplications, and the output takes %s for %s",
            ops.count == 1 ? "" : absl::StrCat(ops.count, " ops of these shapes; "), product.k,
            product.n, RoundUp(product.k, kLanes), RoundUp(product.n, kLanes),
            PaddedArithmetic(*ops.first), Mib(TiledBytes(out)), Mib(bytes)),
        absl::StrCat(
            "where the sizes are free, use ", RoundUp(product.k, kLanes), " and ",
            RoundUp(product.n, kLanes),
            ", which cost the same; the sizes of the data and of the classes have to stay"));
  }
}

void CheckTensors(const CheckedModel& model, const ProgramNodes& nodes, Report& report) {
  for (const Node* node : nodes.all()) {
    for (const TensorSpec& spec : node->outputs()) {
      if (!spec.shape.fully_known()) continue;  // loop-without-bound reports it
      const auto bytes = static_cast<int64_t>(spec.num_bytes());
      const int64_t tiled = TiledBytes(spec);
      if (tiled > model.core_memory_gib * kGib) {
        report.Add("tensor-too-large", model.Where(nodes.NameOf(*node)),
                   absl::StrFormat("%s takes %.1f GiB of the %d GiB of a core", spec.ToString(),
                                   static_cast<double>(tiled) / static_cast<double>(kGib),
                                   model.core_memory_gib),
                   "use a smaller batch or smaller layers, or more cores");
      } else if (tiled >= kLargeTiledBytes &&
                 static_cast<double>(tiled) >= kLargeGrowth * static_cast<double>(bytes)) {
        report.Add("tiled-size", model.Where(nodes.NameOf(*node)),
                   absl::StrFormat("%s has %s and takes %s, %.1f times as much", spec.ToString(),
                                   Mib(bytes), Mib(tiled),
                                   static_cast<double>(tiled) / static_cast<double>(bytes)),
                   "join small dimensions with Reshape, so that one is 128 or more and another 8 "
                   "or more");
      }
    }
  }
}

void CheckRows(const CheckedModel& model, Report& report) {
  const std::string where = absl::StrCat(ModeName(model.mode), ": batch");
  const int64_t cores = model.num_replicas;
  if (model.rows <= 0 || model.rows % kSublanes == 0) return;
  const int64_t rows = RoundUp(model.rows, kSublanes);
  const std::string cure =
      absl::StrCat("use a global batch of ", model.broadcast ? rows : rows * cores, ", which is ",
                   rows, " rows on each of ", cores, " cores; 128 rows a core are best");
  if (model.rows < kSublanes) {
    report.Add("few-rows", where,
               absl::StrCat("a core has ", model.rows, " rows of ",
                            model.broadcast ? model.rows : model.rows * cores,
                            ", so each tile of 8 rows has ", kSublanes - model.rows, " empty ones"),
               cure);
  } else {
    report.Add("rows-not-of-8", where,
               absl::StrCat("a core has ", model.rows, " rows, which are padded to ", rows), cure);
  }
}

}  // namespace

int64_t TiledBytes(const TensorSpec& spec) {
  const auto size = static_cast<int64_t>(DTypeSize(spec.dtype));
  const Shape& shape = spec.shape;
  if (size == 0 || shape.num_elements() == 0) return 0;
  const int64_t elements = shape.num_elements();
  // A vector has no second axis that could be padded to the rows of a tile.
  if (shape.rank() < 2) return RoundUp(elements, kLanes) * size;
  // Numbers of less than 32 bits are packed, several rows to one of the tile.
  const int64_t sublanes = kSublanes * std::max<int64_t>(1, 4 / size);
  // The compiler chooses the two axes that are tiled. The cheapest pair gives a lower bound.
  int64_t least = 0;
  for (int lane = 0; lane < shape.rank(); ++lane) {
    for (int sublane = 0; sublane < shape.rank(); ++sublane) {
      if (lane == sublane) continue;
      const int64_t padded = elements / shape.dim(lane) / shape.dim(sublane) *
                             RoundUp(shape.dim(lane), kLanes) *
                             RoundUp(shape.dim(sublane), sublanes);
      if (least == 0 || padded < least) least = padded;
    }
  }
  return least * size;
}

double PaddedArithmetic(const Node& node) {
  const std::optional<Product> product = ProductOf(node);
  if (!product.has_value() || product->m <= 0 || product->k <= 0 || product->n <= 0) return 1;
  const auto growth = [](int64_t size, int64_t multiple) {
    return static_cast<double>(RoundUp(size, multiple)) / static_cast<double>(size);
  };
  return growth(product->m, kSublanes) * growth(product->k, kLanes) * growth(product->n, kLanes);
}

void CheckLayoutRules(const CheckedModel& model, Report& report) {
  const ProgramNodes nodes(model);
  CheckRows(model, report);
  CheckFeatures(model, nodes, report);
  CheckTensors(model, nodes, report);
}

}  // namespace estimator::tpu
