// Enumerate: a Zip with a range of numbers, as in TensorFlow. It is indexed if the input is.
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/nodes.h"

namespace estimator {
namespace {

// start, start + 1, ... as a feature.
class Counter final : public RandomAccess {
 public:
  Counter(int64_t start, std::string name) : start_(start), name_(std::move(name)) {}
  int64_t size() const override {
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    return start_ <= 0 ? kMost : kMost - start_;
  }
  absl::StatusOr<Element> Get(int64_t index) const override {
    return Element{.features = {{name_, Array::Scalar<int64_t>(start_ + index)}}, .labels = {}};
  }
  std::string Where(int64_t index) const override { return absl::StrCat("element ", index); }
  bool in_memory() const override { return true; }

 private:
  int64_t start_;
  std::string name_;
};

class Enumerate final : public DatasetNode {
 public:
  Enumerate(NodePtr input, int64_t start, NodePtr zip)
      : input_(std::move(input)), start_(start), zip_(std::move(zip)) {}
  std::string Label() const override { return absl::StrCat("Enumerate(", start_, ")"); }
  std::vector<NodePtr> inputs() const override { return {input_}; }
  std::optional<ElementSpec> element_spec() const override { return zip_->element_spec(); }
  SourcePtr random_access() const override { return zip_->random_access(); }
  int64_t Cardinality() const override { return input_->Cardinality(); }
  absl::StatusOr<IteratorPtr> NewIterator(const IterationContext& context) const override {
    return zip_->MakeIterator(context);
  }

 private:
  NodePtr input_;
  int64_t start_;
  NodePtr zip_;
};

}  // namespace

NodePtr EnumerateNode(NodePtr input, int64_t start, std::string name) {
  const std::optional<ElementSpec> spec = input->element_spec();
  if (spec && spec->features.count(name) > 0) {
    return ErrorNode(InvalidArgument("Enumerate: ", QuotedComponent("features", name), " is ",
                                     spec->features.at(name).ToString(),
                                     " in the elements; give the numbers another name"));
  }
  NodePtr counter = IndexedNode("Counter", std::make_shared<Counter>(start, name),
                                ElementSpec{.features = {{name, {DType::kInt64, Shape{}}}}});
  // The input is first, because messages name the element of the first part.
  NodePtr zip = ZipNode({input, std::move(counter)}, /*second_is_labels=*/false);
  if (!zip->status().ok()) return zip;
  return std::make_shared<Enumerate>(std::move(input), start, std::move(zip));
}

}  // namespace estimator
