#include "estimator/graph/tensor.h"

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/node.h"

namespace estimator {

const TensorSpec& Tensor::spec() const {
  static const TensorSpec* const kNone = new TensorSpec();
  return valid() ? node_->outputs()[static_cast<size_t>(output_)] : *kNone;
}

int64_t Tensor::dim(int axis) const {
  if (axis >= -rank() && axis < rank()) return shape().dim(axis);
  if (valid()) {
    graph_->Fail(
        InvalidArgument("there is no axis ", axis, " in '", name(), "', ", spec().ToString()));
  }
  return 1;
}

std::string Tensor::name() const {
  return valid() ? absl::StrCat(node_->name(), ":", output_) : "<invalid>";
}

bool operator<(const Tensor& a, const Tensor& b) {
  const int id_a = a.valid() ? a.node_->id() : -1;
  const int id_b = b.valid() ? b.node_->id() : -1;
  return id_a != id_b ? id_a < id_b : a.output_ < b.output_;
}

std::string Operation::name() const { return valid() ? node_->name() : "<invalid>"; }

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << tensor.name() << " " << tensor.spec().ToString();
}

}  // namespace estimator
