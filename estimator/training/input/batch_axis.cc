#include "estimator/training/input/batch_axis.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/training/input/input_slots.h"

namespace estimator {
namespace {

// Calls fn for every array. `i` is the array's index into the list of axes.
absl::Status ForEach(const Element& element,
                     const std::function<absl::Status(size_t i, ArrayMap Element::*member,
                                                      const std::string& name, const Array&)>& fn) {
  size_t i = 0;
  for (ArrayMap Element::*const member : {&Element::features, &Element::labels}) {
    for (const auto& [name, array] : element.*member)
      EST_RETURN_IF_ERROR(fn(i++, member, name, array));
  }
  return absl::OkStatus();
}

std::string NameOf(ArrayMap Element::*member, const std::string& name) {
  return InputSlot{.is_label = member == &Element::labels, .name = name, .spec = {}}.ToString();
}

bool HasAxis(const Array& array, int64_t axis) { return array.shape().rank() > axis; }

// The number of elements in axes [begin, end).
int64_t Product(const Shape& shape, int64_t begin, int64_t end) {
  int64_t product = 1;
  for (int64_t axis = begin; axis < end; ++axis) product *= shape.dim(static_cast<int>(axis));
  return product;
}

Shape WithSize(Shape shape, int64_t axis, int64_t size) {
  shape.set_dim(static_cast<int>(axis), size);
  return shape;
}

// Copies `count` rows along `axis`.
// REQUIRES: the same dtype, and shapes that differ in `axis` only.
void CopyRows(const Array& from, int64_t from_row, Array& to, int64_t to_row, int64_t count,
              int64_t axis) {
  const int64_t outer = Product(from.shape(), 0, axis);
  const int64_t inner = Product(from.shape(), axis + 1, from.shape().rank());
  const int64_t num_from = from.shape().dim(static_cast<int>(axis));
  const int64_t num_to = to.shape().dim(static_cast<int>(axis));
  // An empty array may have no storage to copy from.
  if (count * inner == 0) return;
  for (int64_t i = 0; i < outer; ++i) {
    const int64_t begin = (i * num_from + from_row) * inner, at = (i * num_to + to_row) * inner;
    // Strings own memory, so their bytes must not be copied.
    if (from.dtype() == DType::kString) {
      std::copy_n(from.data<std::string>() + begin, count * inner, to.data<std::string>() + at);
      continue;
    }
    const auto bytes = static_cast<int64_t>(DTypeSize(from.dtype()));
    std::memcpy(static_cast<char*>(to.raw()) + at * bytes,
                static_cast<const char*>(from.raw()) + begin * bytes,
                static_cast<size_t>(count * inner * bytes));
  }
}

Array SliceAxis(const Array& array, int64_t axis, int64_t begin, int64_t end) {
  // Rows of the first axis lie next to each other, so the part can share the bytes.
  if (axis == 0) return array.Slice(begin, end);
  Array part(array.dtype(), WithSize(array.shape(), axis, end - begin));
  CopyRows(array, begin, part, 0, end - begin, axis);
  return part;
}

Array JoinAxis(const std::vector<Array>& parts, int64_t axis) {
  if (axis == 0) return Concatenate(parts);
  const auto rows = [axis](const Array& part) { return part.shape().dim(static_cast<int>(axis)); };
  int64_t num_rows = 0;
  for (const Array& part : parts) num_rows += rows(part);
  Array joined(parts[0].dtype(), WithSize(parts[0].shape(), axis, num_rows));
  int64_t at = 0;
  for (const Array& part : parts) {
    CopyRows(part, 0, joined, at, rows(part), axis);
    at += rows(part);
  }
  return joined;
}

// Whether the arrays are equal in dtype and in the sizes of all axes but `axis`.
bool Alike(const Array& a, const Array& b, int64_t axis) {
  return HasAxis(a, axis) && HasAxis(b, axis) && a.dtype() == b.dtype() &&
         WithSize(a.shape(), axis, 0) == WithSize(b.shape(), axis, 0);
}

}  // namespace

absl::Status BatchAxis::Check(const Element& element) const {
  if (axes_.empty() || axes_.size() == element.features.size() + element.labels.size())
    return absl::OkStatus();
  // batch_axis has entries for labels too, and kTrain is a mode that has them.
  return InvalidArgument(
      "batch_axis has ", axes_.size(), " entries; it needs one for each array of input_fn, ",
      "features in name order, then labels: ",
      absl::StrJoin(
          SlotsOf(element, Mode::kTrain), ", ",
          [](std::string* out, const InputSlot& slot) { absl::StrAppend(out, slot.ToString()); }));
}

int64_t BatchAxis::NumRows(const Element& element) const {
  return estimator::NumRows(element, axes_);
}

absl::StatusOr<Element> BatchAxis::Slice(const Element& element, int64_t begin, int64_t end,
                                         int64_t num_rows) const {
  Element part;
  EST_RETURN_IF_ERROR(ForEach(
      element,
      [&](size_t i, ArrayMap Element::*member, const std::string& name,
          const Array& array) -> absl::Status {
        const int64_t axis = axes_.empty() ? 0 : axes_[i];
        if (!HasAxis(array, axis) || array.shape().dim(static_cast<int>(axis)) != num_rows) {
          return InvalidArgument(NameOf(member, name), " is ", array.TypeString(),
                                 "; to split it over the replicas, its axis ", axis,
                                 " must be the batch of ", num_rows);
        }
        (part.*member)[name] = SliceAxis(array, axis, begin, end);
        return absl::OkStatus();
      }));
  return part;
}

absl::StatusOr<Element> BatchAxis::Join(const std::vector<Element>& elements) const {
  Element joined;
  EST_RETURN_IF_ERROR(ForEach(
      elements[0],
      [&](size_t i, ArrayMap Element::*member, const std::string& name,
          const Array& first) -> absl::Status {
        const int64_t axis = axes_.empty() ? 0 : axes_[i];
        std::vector<Array> parts;
        for (const Element& element : elements) {
          const auto found = (element.*member).find(name);
          const bool missing = found == (element.*member).end();
          if (missing || !Alike(first, found->second, axis)) {
            return InvalidArgument(
                NameOf(member, name), " is ", first.TypeString(), " in one batch of input_fn and ",
                missing ? "missing" : found->second.TypeString(),
                " in the next; shapes are static: pad or resize every example to one "
                "shape");
          }
          parts.push_back(found->second);
        }
        (joined.*member)[name] = JoinAxis(parts, axis);
        return absl::OkStatus();
      }));
  return joined;
}

}  // namespace estimator
