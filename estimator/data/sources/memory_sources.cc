// Sources in memory: arrays, ranges, generators.
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/nodes.h"
#include "estimator/data/pipeline/rows.h"
#include "estimator/data/pipeline/transform.h"
#include "estimator/data/pipeline/user_function.h"

namespace estimator {
namespace {

class Slices final : public RandomAccess {
 public:
  Slices(Element arrays, int64_t size, std::string source)
      : arrays_(std::move(arrays)), size_(size), source_(std::move(source)) {}
  int64_t size() const override { return size_; }
  absl::StatusOr<Element> Get(int64_t index) const override { return RowOf(arrays_, index); }
  absl::StatusOr<Element> Gather(absl::Span<const int64_t> indices) const override {
    return GatherRows(arrays_, indices);
  }
  std::string Where(int64_t index) const override {
    return absl::StrCat("element ", index, " of ", source_);
  }
  bool in_memory() const override { return true; }

 private:
  Element arrays_;
  int64_t size_;
  std::string source_;
};

class OneElement final : public RandomAccess {
 public:
  explicit OneElement(Element element) : element_(std::move(element)) {}
  int64_t size() const override { return 1; }
  absl::StatusOr<Element> Get(int64_t) const override { return element_; }
  std::string Where(int64_t) const override { return "the only element"; }

 private:
  Element element_;
};

class Numbers final : public RandomAccess {
 public:
  Numbers(int64_t begin, int64_t end) : begin_(begin), end_(end) {}
  int64_t size() const override {
    int64_t size = 0;
    if (begin_ >= end_) return 0;
    return __builtin_sub_overflow(end_, begin_, &size) ? std::numeric_limits<int64_t>::max() : size;
  }
  absl::StatusOr<Element> Get(int64_t index) const override {
    return Element{.features = Array::Scalar<int64_t>(begin_ + index), .labels = {}};
  }
  std::string Where(int64_t index) const override {
    return absl::StrCat("element ", index, " of Range(", begin_, ", ", end_, ")");
  }

 private:
  int64_t begin_, end_;
};

std::string GeneratorElement(int64_t index) {
  return absl::StrCat("element ", index, " of FromGenerator");
}

class SizedGenerator final : public RandomAccess {
 public:
  SizedGenerator(GeneratorFn fn, int64_t size) : fn_(std::move(fn)), size_(size) {}
  int64_t size() const override { return size_; }
  absl::StatusOr<Element> Get(int64_t index) const override {
    absl::StatusOr<std::optional<Element>> element = CallUserFunction(fn_, index);
    if (!element.ok()) return Annotate(element.status(), GeneratorElement(index));
    if (!element->has_value()) {
      return InvalidArgument(GeneratorElement(index),
                             ": the generator ended, but its size was given as ", size_);
    }
    return **std::move(element);
  }
  std::string Where(int64_t index) const override { return GeneratorElement(index); }
  bool may_wait() const override { return true; }

 private:
  GeneratorFn fn_;
  int64_t size_;
};

class GeneratorIterator final : public NodeIterator {
 public:
  explicit GeneratorIterator(GeneratorFn fn) : fn_(std::move(fn)) {}
  absl::StatusOr<std::optional<Element>> Next() override {
    absl::StatusOr<std::optional<Element>> element = CallUserFunction(fn_, position_);
    if (!element.ok()) return Annotate(element.status(), GeneratorElement(position_));
    if (element->has_value()) ++position_;
    return element;
  }
  absl::Status Save(StateWriter& state) const override { return SaveFields(state, position_); }
  absl::Status Restore(StateReader& state) override { return RestoreFields(state, position_); }
  std::string Where() const override { return GeneratorElement(position_ - 1); }

 private:
  GeneratorFn fn_;
  int64_t position_ = 0;
};

class UnsizedGeneratorNode final : public DatasetNode {
 public:
  UnsizedGeneratorNode(GeneratorFn fn, std::optional<ElementSpec> spec)
      : fn_(std::move(fn)), spec_(std::move(spec)) {}
  std::string Label() const override { return "Generator"; }
  bool may_wait() const override { return true; }
  int64_t Cardinality() const override { return -1; }
  std::optional<ElementSpec> element_spec() const override { return spec_; }
  absl::StatusOr<IteratorPtr> NewIterator(const IterationContext&) const override {
    return std::make_unique<GeneratorIterator>(fn_);
  }

 private:
  GeneratorFn fn_;
  std::optional<ElementSpec> spec_;
};

// fn, with the check of SpecGuard after each call.
GeneratorFn Guarded(GeneratorFn fn, const std::optional<ElementSpec>& output_signature) {
  return [fn = std::move(fn), guard = std::make_shared<const SpecGuard>(output_signature)](
             int64_t index) -> absl::StatusOr<std::optional<Element>> {
    absl::StatusOr<std::optional<Element>> element = fn(index);
    if (element.ok() && element->has_value()) EST_RETURN_IF_ERROR(guard->Check(**element));
    return element;
  };
}

}  // namespace

NodePtr SlicesNode(Element arrays, std::string label, std::string source) {
  std::string first_name;
  int64_t size = 0;
  for (const auto member : {&Element::features, &Element::labels}) {
    for (const auto& [name, array] : arrays.*member) {
      if (!array.valid() || array.shape().rank() == 0) {
        return ErrorNode(InvalidArgument(
            source, ": ", QuotedArray(member, name), " is ",
            array.valid() ? absl::StrCat("a scalar, ", array.TypeString(),
                                         "; it needs one row for each example, on "
                                         "axis 0")
                          : "an empty array, default-constructed; Array::Of and "
                            "FromSpan return one if the number of values is not that "
                            "of the shape"));
      }
      if (!first_name.empty() && array.shape()[0] != size) {
        return ErrorNode(
            InvalidArgument(source, ": ", QuotedArray(member, name), " has ", array.shape()[0],
                            " rows (", array.TypeString(), "), but ", first_name, " has ", size,
                            "; every array needs one row for each example, on axis 0"));
      }
      first_name = QuotedArray(member, name);
      size = array.shape()[0];
    }
  }
  if (first_name.empty()) {
    return ErrorNode(InvalidArgument(source, ": there are no arrays"));
  }
  ElementSpec spec = WithoutBatchAxis(SpecOf(arrays));
  return IndexedNode(std::move(label),
                     std::make_shared<Slices>(std::move(arrays), size, std::move(source)),
                     std::move(spec));
}

NodePtr TensorsNode(Element element) {
  ElementSpec spec = SpecOf(element);
  return IndexedNode("Tensors", std::make_shared<OneElement>(std::move(element)), std::move(spec));
}

NodePtr RangeNode(int64_t begin, int64_t end) {
  return IndexedNode(absl::StrCat("Range(", begin, ", ", end, ")"),
                     std::make_shared<Numbers>(begin, end),
                     ElementSpec{.features = {{DType::kInt64, Shape{}}}});
}

NodePtr GeneratorNode(GeneratorFn fn, std::optional<int64_t> size,
                      std::optional<ElementSpec> output_signature) {
  fn = Guarded(std::move(fn), output_signature);
  if (!size) {
    return std::make_shared<UnsizedGeneratorNode>(std::move(fn), std::move(output_signature));
  }
  if (*size < 0) {
    return ErrorNode(
        InvalidArgument("FromGenerator: the size is ", *size, "; it must not be negative"));
  }
  return IndexedNode("Generator", std::make_shared<SizedGenerator>(std::move(fn), *size),
                     std::move(output_signature));
}

}  // namespace estimator
