// Rows and batches: stacking elements, and gathering rows of arrays, into the arrays of one batch.
#ifndef ESTIMATOR_DATA_PIPELINE_ROWS_H_
#define ESTIMATOR_DATA_PIPELINE_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "estimator/data/pipeline/element.h"

namespace estimator {

// For messages: an array of an element's features or labels. "features[\"x\"]", and "labels" for
// one without a name.
std::string QuotedArray(ArrayMap Element::*member, absl::string_view name);

// Stacks elements along a new axis 0. REQUIRES: at least one row.
//   where(i): names the origin of row i in messages.
// Errors: INVALID_ARGUMENT if names, dtypes or shapes differ: the name, both types, both origins.
absl::StatusOr<Element> StackRows(absl::Span<const Element> rows,
                                  const std::function<std::string(size_t)>& where);

// Rows `indices` of every array, in a new batch: as StackRows of the rows, at the speed of memcpy.
// REQUIRES: indices in [0, rows).
Element GatherRows(const Element& columns, absl::Span<const int64_t> indices);

// Row i of every array; shares the bytes.
Element RowOf(const Element& columns, int64_t index);

// Copies `row` into row i of `columns`. REQUIRES: the same names, dtypes and shapes.
void CopyRow(const Element& row, int64_t index, Element& columns);

// Memory for a batch. Large arrays reuse the memory of batches that are gone, so that a steady
// pipeline neither asks the system for pages nor clears them. Contents of numbers are unspecified.
Array BatchArray(DType dtype, const Shape& shape);

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PIPELINE_ROWS_H_
