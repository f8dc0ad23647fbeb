#include "estimator/ops/einsum.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/scan.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

// A tensor whose axes have labels, one character each. The axes of "..." have the labels '0', '1',
// ... counted from the last one, so that operands of different ranks are aligned at the end.
struct Named {
  Tensor tensor;
  std::string labels;

  int64_t size(char label) const { return tensor.dim(static_cast<int>(labels.find(label))); }
};

bool Has(const std::string& labels, char label) { return labels.find(label) != std::string::npos; }

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

template <typename... Parts>
absl::Status Malformed(absl::string_view equation, const Parts&... why) {
  return InvalidArgument("equation '", equation, "': ", why...);
}

// The labels of an operand or of the result. "..." becomes num_ellipsis digits.
absl::StatusOr<std::string> ExpandLabels(absl::string_view equation, absl::string_view part,
                                         int num_ellipsis) {
  std::string labels;
  const size_t dots = part.find("...");
  for (size_t i = 0; i < part.size(); ++i) {
    if (i == dots) {
      for (int axis = num_ellipsis - 1; axis >= 0; --axis) labels += static_cast<char>('0' + axis);
      i += 2;
    } else if (absl::ascii_isalpha(static_cast<unsigned char>(part[i]))) {
      labels += part[i];
    } else {
      return Malformed(equation, "'", part.substr(i, 1), "' is not a letter");
    }
  }
  return labels;
}

absl::StatusOr<Equation> Parse(absl::string_view equation, const std::vector<Tensor>& tensors) {
  std::string text(equation);
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const std::vector<std::string> sides = absl::StrSplit(text, "->");
  if (sides.size() > 2) return Malformed(equation, "more than one '->'");
  const std::vector<std::string> parts = absl::StrSplit(sides[0], ',');
  if (parts.size() != tensors.size()) {
    return Malformed(equation, "names ", parts.size(), " operands, got ", tensors.size());
  }
  Equation result;
  int most_ellipsis = 0;
  std::map<char, int64_t> sizes;
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool dots = absl::StrContains(parts[i], "...");
    const int named = static_cast<int>(parts[i].size()) - (dots ? 3 : 0);
    const int rank = tensors[i].rank();
    if (dots ? rank < named : rank != named) {
      return Malformed(equation, "'", parts[i], "' has ", named, " axes, but operand ", i, " is ",
                       tensors[i].spec().ToString());
    }
    const int num_ellipsis = dots ? rank - named : 0;
    if (num_ellipsis > 10) return Malformed(equation, "'...' represents more than 10 axes");
    most_ellipsis = std::max(most_ellipsis, num_ellipsis);
    EST_ASSIGN_OR_RETURN(std::string labels, ExpandLabels(equation, parts[i], num_ellipsis));
    for (int axis = 0; axis < rank; ++axis) {
      const char label = labels[static_cast<size_t>(axis)];
      const int64_t size = tensors[i].dim(axis);
      const auto [found, is_new] = sizes.emplace(label, size);
      if (is_new || found->second == size) continue;
      // Only the axes of "..." broadcast.
      if (!absl::ascii_isdigit(static_cast<unsigned char>(label)) ||
          (size != 1 && found->second != 1)) {
        return Malformed(equation, "'", std::string(1, label), "' is ", found->second, " and ",
                         size, " (operand ", i, " is ", tensors[i].spec().ToString(), ")");
      }
      found->second = std::max(found->second, size);
    }
    result.inputs.push_back(std::move(labels));
  }
  if (sides.size() == 2) {
    EST_ASSIGN_OR_RETURN(result.output, ExpandLabels(equation, sides[1], most_ellipsis));
    for (const char label : result.output) {
      if (std::count(result.output.begin(), result.output.end(), label) > 1) {
        return Malformed(equation, "'", std::string(1, label),
                         "' occurs twice in the result; use MatrixDiag");
      }
      if (sizes.count(label) > 0) continue;
      return Malformed(equation, "the result has '", std::string(1, label),
                       "', but no operand has it");
    }
    return result;
  }
  for (int axis = most_ellipsis - 1; axis >= 0; --axis)
    result.output += static_cast<char>('0' + axis);
  for (const auto& [label, size] : sizes) {
    if (absl::ascii_isdigit(static_cast<unsigned char>(label))) continue;
    int64_t count = 0;
    for (const std::string& labels : result.inputs) {
      count += std::count(labels.begin(), labels.end(), label);
    }
    if (count == 1) result.output += label;
  }
  return result;
}

// Transposes x so that its axes are in the order of `labels`.
Named Ordered(const Named& x, const std::string& labels) {
  if (x.labels == labels) return x;
  std::vector<int64_t> perm;
  for (const char label : labels) perm.push_back(static_cast<int64_t>(x.labels.find(label)));
  return {Transpose(x.tensor, perm), labels};
}

// Takes the diagonal of axes that have the same label, so that every label occurs once.
Named Diagonals(Named x) {
  for (size_t last = 1; last < x.labels.size();) {
    const size_t first = x.labels.find(x.labels[last]);
    if (first == last) {
      ++last;
      continue;
    }
    std::vector<int64_t> perm;
    std::string labels;
    for (size_t axis = 0; axis < x.labels.size(); ++axis) {
      if (axis == first || axis == last) continue;
      perm.push_back(static_cast<int64_t>(axis));
      labels += x.labels[axis];
    }
    perm.push_back(static_cast<int64_t>(first));
    perm.push_back(static_cast<int64_t>(last));
    labels += x.labels[last];
    x = {MatrixDiagPart(Transpose(x.tensor, perm)), labels};
    last = 1;
  }
  return x;
}

// Sums over the axes of x that are not in `keep`.
Named SumOthers(const Named& x, const std::string& keep) {
  std::vector<int64_t> axes;
  std::string labels;
  for (size_t axis = 0; axis < x.labels.size(); ++axis) {
    if (Has(keep, x.labels[axis])) {
      labels += x.labels[axis];
    } else {
      axes.push_back(static_cast<int64_t>(axis));
    }
  }
  if (axes.empty()) return x;
  return {ReduceSum(x.tensor, axes), labels};
}

// Removes the axes of size 1 that are larger in `other` and so would be broadcast. Then they are
// free axes of `other`.
Named DropStretched(const Named& x, const Named& other) {
  std::vector<int64_t> axes;
  std::string labels;
  for (size_t axis = 0; axis < x.labels.size(); ++axis) {
    const char label = x.labels[axis];
    if (x.tensor.dim(static_cast<int>(axis)) == 1 && Has(other.labels, label) &&
        other.size(label) != 1) {
      axes.push_back(static_cast<int64_t>(axis));
    } else {
      labels += label;
    }
  }
  if (axes.empty()) return x;
  return {Squeeze(x.tensor, axes), labels};
}

int64_t Product(const Named& x, const std::string& labels) {
  int64_t product = 1;
  for (const char label : labels) product *= x.size(label);
  return product;
}

// Multiplies two operands and sums over the labels that are not in `keep`.
Named Combine(Named a, Named b, const std::string& keep) {
  a = DropStretched(SumOthers(a, keep + b.labels), b);
  b = DropStretched(SumOthers(b, keep + a.labels), a);
  // Labels that both operands have are batch axes if they are kept, and are summed if not.
  std::string batch, summed, free_a, free_b;
  for (const char label : a.labels) {
    std::string& group = !Has(b.labels, label) ? free_a : Has(keep, label) ? batch : summed;
    group += label;
  }
  for (const char label : b.labels) {
    if (!Has(a.labels, label)) free_b += label;
  }
  // MatMul can take an operand transposed, which avoids a Transpose op.
  const bool transpose_a =
      a.labels == batch + summed + free_a && !summed.empty() && !free_a.empty();
  const bool transpose_b =
      b.labels == batch + free_b + summed && !summed.empty() && !free_b.empty();
  a = Ordered(a, transpose_a ? batch + summed + free_a : batch + free_a + summed);
  b = Ordered(b, transpose_b ? batch + free_b + summed : batch + summed + free_b);
  const int64_t rows = Product(a, free_a), inner = Product(a, summed), columns = Product(b, free_b);
  const auto matrices = [&](const Named& x, int64_t first, int64_t second) {
    Shape shape;
    if (!batch.empty()) shape.push_back(Product(a, batch));
    shape.push_back(first);
    shape.push_back(second);
    return x.tensor.shape() == shape ? x.tensor : Reshape(x.tensor, shape);
  };
  const Tensor product =
      MatMul(transpose_a ? matrices(a, inner, rows) : matrices(a, rows, inner),
             transpose_b ? matrices(b, columns, inner) : matrices(b, inner, columns),
             {.transpose_a = transpose_a, .transpose_b = transpose_b});
  Shape shape;
  for (const char label : batch + free_a) shape.push_back(a.size(label));
  for (const char label : free_b) shape.push_back(b.size(label));
  const std::string labels = batch + free_a + free_b;
  return {product.shape() == shape ? product : Reshape(product, shape), labels};
}

}  // namespace

Tensor Einsum(StringArg equation, const std::vector<Tensor>& inputs, StringArg name) {
  Graph& graph = GraphFor(inputs);
  for (const Tensor& input : inputs) {
    if (!input.valid()) return graph.AddOp("Identity", {input}, {}, name);  // keeps the first error
  }
  const NameScope scope(name, graph);
  const absl::StatusOr<Equation> parsed = Parse(equation, inputs);
  if (!parsed.ok()) return graph.Fail(parsed.status());
  Named result = Diagonals({inputs[0], parsed->inputs[0]});
  for (size_t i = 1; i < inputs.size(); ++i) {
    std::string keep = parsed->output;
    for (size_t later = i + 1; later < inputs.size(); ++later) keep += parsed->inputs[later];
    result = Combine(result, Diagonals({inputs[i], parsed->inputs[i]}), keep);
    if (!result.tensor.valid()) return result.tensor;
  }
  return Ordered(SumOthers(result, parsed->output), parsed->output).tensor;
}

Tensor Tensordot(const Tensor& a, const Tensor& b, const std::vector<int64_t>& a_axes,
                 const std::vector<int64_t>& b_axes, StringArg name) {
  Graph& graph = GraphFor({a, b});
  if (!a.valid() || !b.valid()) return graph.AddOp("Identity", {a.valid() ? b : a}, {}, name);
  const NameScope scope(name, graph);
  if (a_axes.size() != b_axes.size()) {
    return graph.Fail(InvalidArgument(a_axes.size(), " axes of a, but ", b_axes.size(), " of b"));
  }
  Named left{a, {}}, right{b, {}};
  for (int axis = 0; axis < a.rank(); ++axis) left.labels += static_cast<char>('A' + axis);
  for (int axis = 0; axis < b.rank(); ++axis) right.labels += static_cast<char>('a' + axis);
  for (size_t i = 0; i < a_axes.size(); ++i) {
    const int64_t x = a_axes[i] < 0 ? a_axes[i] + a.rank() : a_axes[i];
    const int64_t y = b_axes[i] < 0 ? b_axes[i] + b.rank() : b_axes[i];
    if (x < 0 || x >= a.rank() || y < 0 || y >= b.rank()) {
      return graph.Fail(InvalidArgument("axes ", a_axes[i], " and ", b_axes[i],
                                        " are not both in range (", a.spec().ToString(), " and ",
                                        b.spec().ToString(), ")"));
    }
    if (a.dim(static_cast<int>(x)) != b.dim(static_cast<int>(y))) {
      return graph.Fail(InvalidArgument("axis ", x, " of a has ", a.dim(static_cast<int>(x)),
                                        " elements, axis ", y, " of b has ",
                                        b.dim(static_cast<int>(y)), " (", a.spec().ToString(),
                                        " and ", b.spec().ToString(), ")"));
    }
    right.labels[static_cast<size_t>(y)] = left.labels[static_cast<size_t>(x)];
  }
  std::string output;
  for (const char label : left.labels) {
    if (!Has(right.labels, label)) output += label;
  }
  for (const char label : right.labels) {
    if (!Has(left.labels, label)) output += label;
  }
  return Ordered(Combine(left, right, output), output).tensor;
}

Tensor Tensordot(const Tensor& a, const Tensor& b, int num_axes, StringArg name) {
  std::vector<int64_t> a_axes, b_axes;
  for (int i = 0; i < num_axes; ++i) {
    a_axes.push_back(a.rank() - num_axes + i);
    b_axes.push_back(i);
  }
  return Tensordot(a, b, a_axes, b_axes, name);
}

}  // namespace estimator
