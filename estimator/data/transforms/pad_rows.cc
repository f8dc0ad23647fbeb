#include "estimator/data/transforms/pad_rows.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/padding_value.h"
#include "estimator/data/pipeline/rows.h"

namespace estimator {
namespace {

// Copies `from`, of shape `shape`, to the first corner of a dense block of shape `padded`.
// REQUIRES: both have the same rank, and it is at least 1.
template <typename T>
void CopyToCorner(const T* from, const Shape& shape, T* to, const Shape& padded) {
  const std::vector<int64_t> strides = padded.strides();
  const int64_t run = shape[-1];
  const int64_t runs = run == 0 ? 0 : shape.num_elements() / run;
  for (int64_t r = 0; r < runs; ++r) {
    int64_t rest = r, offset = 0;
    for (int axis = shape.rank() - 2; axis >= 0; --axis) {
      offset += rest % shape[axis] * strides[static_cast<size_t>(axis)];
      rest /= shape[axis];
    }
    std::copy(from + r * run, from + (r + 1) * run, to + offset);
  }
}

// Checks that an element, or a spec, has every array that an option names.
template <typename ElementOrSpec>
absl::Status CheckNamesOfOptions(const ElementOrSpec& row, const PaddedBatchOptions& options) {
  const auto check = [&](absl::string_view option, const auto& by_name) -> absl::Status {
    for (const auto& [name, value] : by_name) {
      if (row.features.count(name) > 0 || row.labels.count(name) > 0) continue;
      return InvalidArgument(option, " names \"", name, "\", but the elements are ",
                             row.ToString());
    }
    return absl::OkStatus();
  };
  EST_RETURN_IF_ERROR(check("padded_shapes", options.padded_shapes));
  return check("padding_values", options.padding_values);
}

// Checks that row 0 has every array that an option names and that another row has. Otherwise the
// array would be lost.
absl::Status CheckNames(absl::Span<const Element> rows, const PaddedBatchOptions& options,
                        const std::function<std::string(size_t)>& where) {
  const Element& first = rows[0];
  EST_RETURN_IF_ERROR(CheckNamesOfOptions(first, options));
  for (size_t i = 1; i < rows.size(); ++i) {
    for (const auto member : {&Element::features, &Element::labels}) {
      for (const auto& [name, array] : rows[i].*member) {
        if ((first.*member).count(name) > 0) continue;
        return InvalidArgument(where(i), " has ", QuotedArray(member, name), ", but ", where(0),
                               " of the batch does not; every element needs the same names");
      }
    }
  }
  return absl::OkStatus();
}

// The padded shape of an array, from the options and the largest row.
absl::StatusOr<Shape> PaddedShape(absl::Span<const Element> rows, ArrayMap Element::*member,
                                  const std::string& name, const PaddedBatchOptions& options,
                                  const std::function<std::string(size_t)>& where) {
  const Shape& first = (rows[0].*member).at(name).shape();
  Shape padded(std::vector<int64_t>(static_cast<size_t>(first.rank()), Shape::kUnknownDim));
  if (const auto asked = options.padded_shapes.find(name); asked != options.padded_shapes.end()) {
    padded = asked->second;
  }
  Shape largest = padded;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto found = (rows[i].*member).find(name);
    if (found == (rows[i].*member).end()) {
      return InvalidArgument(where(i), ": there is no ", QuotedArray(member, name),
                             ", but others in the batch have one");
    }
    const Array& array = found->second;
    if (array.dtype() != (rows[0].*member).at(name).dtype() ||
        array.shape().rank() != padded.rank()) {
      return InvalidArgument(where(i), ": ", QuotedArray(member, name), " is ", array.TypeString(),
                             ", but ", (rows[0].*member).at(name).TypeString(), " in ", where(0),
                             "; padded to ", padded.ToString());
    }
    for (int axis = 0; axis < padded.rank(); ++axis) {
      const int64_t size = array.shape()[axis];
      if (padded[axis] == Shape::kUnknownDim) {
        largest.set_dim(axis, std::max(largest[axis], size));
      } else if (size > padded[axis]) {
        return InvalidArgument(where(i), ": ", QuotedArray(member, name), " is ",
                               array.TypeString(), ", larger than the padded shape ",
                               padded.ToString(), " in axis ", axis,
                               "; raise that size in padded_shapes, or cut the array in Map");
      }
    }
  }
  return largest;
}

Array PadAndStack(absl::Span<const Element> rows, ArrayMap Element::*member,
                  const std::string& name, const Shape& padded, const Array& padding) {
  const DType dtype = (rows[0].*member).at(name).dtype();
  Array out(dtype, WithAxis(static_cast<int64_t>(rows.size()), padded));
  const int64_t row_elements = padded.num_elements();
  const auto fill = [&](auto* to) {
    for (size_t i = 0; i < rows.size(); ++i) {
      const Array& row = (rows[i].*member).at(name);
      auto* const begin = to + static_cast<int64_t>(i) * row_elements;
      const auto* const from = static_cast<decltype(begin)>(const_cast<void*>(row.raw()));
      if (padded.rank() == 0) {
        *begin = *from;
      } else {
        CopyToCorner(from, row.shape(), begin, padded);
      }
    }
  };
  if (dtype == DType::kString) fill(out.data<std::string>());
  VisitNumeric(dtype, [&](auto tag) {
    using T = decltype(tag);
    T* const to = out.data<T>();
    // A new array is zero already.
    if (padding.AsDouble() != 0) std::fill(to, to + out.num_elements(), padding.scalar<T>());
    fill(to);
  });
  return out;
}

}  // namespace

absl::StatusOr<Element> PadRows(absl::Span<const Element> rows, const PaddedBatchOptions& options,
                                const std::function<std::string(size_t)>& where) {
  EST_RETURN_IF_ERROR(CheckNames(rows, options, where));
  Element batch;
  for (const auto member : {&Element::features, &Element::labels}) {
    for (const auto& [name, array] : rows[0].*member) {
      EST_ASSIGN_OR_RETURN(const Shape padded, PaddedShape(rows, member, name, options, where));
      const auto value = options.padding_values.find(name);
      const absl::StatusOr<Array> padding =
          PaddingValue(value == options.padding_values.end() ? 0 : value->second, array.dtype());
      if (!padding.ok()) return Annotate(padding.status(), QuotedArray(member, name));
      (batch.*member)[name] = PadAndStack(rows, member, name, padded, *padding);
    }
  }
  return batch;
}

absl::StatusOr<ElementSpec> PaddedSpec(const ElementSpec& rows, const PaddedBatchOptions& options) {
  EST_RETURN_IF_ERROR(CheckNamesOfOptions(rows, options));
  ElementSpec padded = rows;
  absl::Status status;
  const auto pad = [&](ArraySpecMap& specs, const ArraySpecMap&, absl::string_view kind) {
    for (auto& [name, spec] : specs) {
      const auto refuse = [&, &name = name](absl::string_view what) {
        status = InvalidArgument(QuotedComponent(kind, name), what);
      };
      if (const auto value = options.padding_values.find(name);
          value != options.padding_values.end()) {
        const absl::StatusOr<Array> padding = PaddingValue(value->second, spec.dtype);
        if (!padding.ok()) return refuse(absl::StrCat(": ", padding.status().message()));
      }
      const auto asked = options.padded_shapes.find(name);
      if (asked == options.padded_shapes.end()) continue;
      Shape shape = asked->second;
      if (spec.shape && spec.shape->rank() != shape.rank()) {
        return refuse(absl::StrCat(" is ", spec.ToString(), " of rank ", spec.shape->rank(),
                                   ", but its padded shape ", shape.ToString(), " has rank ",
                                   shape.rank()));
      }
      for (int axis = 0; spec.shape && axis < shape.rank(); ++axis) {
        const int64_t size = spec.shape->dim(axis);
        if (shape[axis] == Shape::kUnknownDim) {
          shape.set_dim(axis, size);
        } else if (size > shape[axis]) {
          return refuse(absl::StrCat(
              " is ", spec.ToString(), ", larger than the padded shape ", shape.ToString(),
              " in axis ", axis, "; raise that size in padded_shapes, or cut the array in Map"));
        }
      }
      spec.shape = std::move(shape);
    }
  };
  ForEachKind(padded, rows, pad);
  EST_RETURN_IF_ERROR(status);
  return padded;
}

}  // namespace estimator
