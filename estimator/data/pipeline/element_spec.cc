#include "estimator/data/pipeline/element_spec.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"

namespace estimator {
namespace {

// It runs for every element, so it allocates nothing.
bool MayEqual(const std::optional<Shape>& a, const Shape& b) {
  if (!a) return true;
  if (a->rank() != b.rank()) return false;
  for (int axis = 0; axis < b.rank(); ++axis) {
    const int64_t x = a->dim(axis), y = b.dim(axis);
    if (x != y && x != Shape::kUnknownDim && y != Shape::kUnknownDim) return false;
  }
  return true;
}

// Whether the arrays have the spec. It runs for every element, so it makes no messages.
bool HasSpec(const ArrayMap& arrays, const ArraySpecMap& specs, bool shapes) {
  if (arrays.size() != specs.size()) return false;
  auto spec = specs.begin();
  for (const auto& [name, array] : arrays) {
    if (name != spec->first || array.dtype() != spec->second.dtype) return false;
    if (shapes && !MayEqual(spec->second.shape, array.shape())) return false;
    ++spec;
  }
  return true;
}

std::optional<Shape> CommonShape(const std::optional<Shape>& a, const std::optional<Shape>& b) {
  if (!a || !b || a->rank() != b->rank()) return std::nullopt;
  Shape common = *a;
  for (int axis = 0; axis < common.rank(); ++axis) {
    if (common[axis] != b->dim(axis)) common.set_dim(axis, Shape::kUnknownDim);
  }
  return common;
}

}  // namespace

std::string ArraySpec::ToString() const {
  return absl::StrCat(DTypeShortName(dtype),
                      shape ? absl::StrCat(" ", shape->ToString()) : " of unknown rank");
}

std::string ElementSpec::ToString() const {
  std::vector<std::string> parts;
  ForEachKind(
      *this, *this, [&](const ArraySpecMap& specs, const ArraySpecMap&, absl::string_view kind) {
        for (const auto& [name, spec] : specs) {
          parts.push_back(
              absl::StrCat(name.empty() ? kind : absl::string_view(name), " ", spec.ToString()));
        }
      });
  return JoinSome(parts, kShownNames);
}

std::string QuotedComponent(absl::string_view kind, absl::string_view name) {
  return name.empty() ? std::string(kind) : absl::StrCat(kind, "[\"", name, "\"]");
}

ElementSpec SpecOf(const Element& element) {
  ElementSpec spec;
  ForEachKind(element, spec, [](const ArrayMap& arrays, ArraySpecMap& specs, absl::string_view) {
    for (const auto& [name, array] : arrays) {
      specs.emplace(name, ArraySpec{.dtype = array.dtype(), .shape = array.shape()});
    }
  });
  return spec;
}

absl::Status CheckSpec(const ElementSpec& expected, absl::string_view where_expected,
                       const ElementSpec& actual, absl::string_view where_actual,
                       CompareShapes shapes) {
  absl::Status status;
  ForEachKind(
      expected, actual,
      [&](const ArraySpecMap& wanted, const ArraySpecMap& found, absl::string_view kind) {
        const auto report = [&](const std::string& name, const std::string& what) {
          if (!status.ok()) return;
          status = InvalidArgument(QuotedComponent(kind, name), " is ", what);
        };
        for (const auto& [name, spec] : wanted) {
          const auto other = found.find(name);
          if (other == found.end()) {
            report(name,
                   absl::StrCat(spec.ToString(), " in ", where_expected, ", but ", where_actual,
                                " does not have it; it has ", actual.ToString()));
          } else if (spec.dtype != other->second.dtype ||
                     (shapes == CompareShapes::kYes && other->second.shape &&
                      !MayEqual(spec.shape, *other->second.shape))) {
            report(name, absl::StrCat(spec.ToString(), " in ", where_expected, ", but ",
                                      other->second.ToString(), " in ", where_actual));
          }
        }
        for (const auto& [name, spec] : found) {
          if (wanted.count(name) > 0) continue;
          report(name, absl::StrCat(spec.ToString(), " in ", where_actual, ", but ", where_expected,
                                    " does not have it; it has ", expected.ToString()));
        }
      });
  return status;
}

ElementSpec MostGeneral(const ElementSpec& a, const ElementSpec& b) {
  ElementSpec general = a;
  ForEachKind(general, b, [](ArraySpecMap& specs, const ArraySpecMap& others, absl::string_view) {
    for (auto& [name, spec] : specs) spec.shape = CommonShape(spec.shape, others.at(name).shape);
  });
  return general;
}

Shape WithAxis(int64_t size, const Shape& row) {
  std::vector<int64_t> dims = {size};
  dims.insert(dims.end(), row.dims().begin(), row.dims().end());
  return Shape(std::move(dims));
}

ElementSpec WithBatchAxis(const ElementSpec& row, int64_t size) {
  ElementSpec batch = row;
  ForEachKind(batch, row, [size](ArraySpecMap& specs, const ArraySpecMap&, absl::string_view) {
    for (auto& [name, spec] : specs) {
      if (spec.shape) spec.shape = WithAxis(size, *spec.shape);
    }
  });
  return batch;
}

ElementSpec WithoutBatchAxis(const ElementSpec& batch) {
  ElementSpec row = batch;
  ForEachKind(row, batch, [](ArraySpecMap& specs, const ArraySpecMap&, absl::string_view) {
    for (auto& [name, spec] : specs) {
      if (spec.shape) spec.shape = Shape(absl::MakeConstSpan(spec.shape->dims()).subspan(1));
    }
  });
  return row;
}

SpecGuard::SpecGuard(std::optional<ElementSpec> declared) : declared_(declared.has_value()) {
  if (declared) std::call_once(first_, [&] { spec_ = *std::move(declared); });
}

absl::Status SpecGuard::Check(const Element& element) const {
  std::call_once(first_, [&] { spec_ = SpecOf(element); });
  if (HasSpec(element.features, spec_.features, declared_) &&
      HasSpec(element.labels, spec_.labels, declared_)) {
    return absl::OkStatus();
  }
  return CheckSpec(spec_, declared_ ? "output_signature" : "the first element", SpecOf(element),
                   "this element", declared_ ? CompareShapes::kYes : CompareShapes::kNo);
}

}  // namespace estimator
