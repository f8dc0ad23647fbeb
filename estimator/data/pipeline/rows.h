// Builds batches: stacks elements, or gathers rows of arrays, into the arrays of one batch.
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

// The name of an array in messages: "features[\"x\"]", or "labels" for an array without a name.
std::string QuotedArray(ArrayMap Element::*member, absl::string_view name);

// Stacks elements along a new axis 0. REQUIRES: at least one row.
//   where(i): the origin of row i, for messages.
// Errors: INVALID_ARGUMENT if names, dtypes or shapes differ, with the name, both types and both
// origins.
absl::StatusOr<Element> StackRows(absl::Span<const Element> rows,
                                  const std::function<std::string(size_t)>& where);

// A new batch of the rows `indices` of every array. It equals StackRows of these rows, but only
// copies memory.
// REQUIRES: indices in [0, rows).
Element GatherRows(const Element& columns, absl::Span<const int64_t> indices);

// Row `index` of every array; shares the bytes.
Element RowOf(const Element& columns, int64_t index);

// Whether the names, dtypes and shapes of `row` are those of a row of `columns`.
bool IsRowOf(const Element& row, const Element& columns);

// Copies `row` into row `index` of `columns`. Thread-safe for different rows.
// REQUIRES: IsRowOf(row, columns).
void CopyRow(const Element& row, int64_t index, Element& columns);

// An array for a batch. Large arrays reuse the memory of batches that were freed, so that a steady
// pipeline neither allocates nor clears pages. The values of numbers are unspecified.
Array BatchArray(DType dtype, const Shape& shape);

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PIPELINE_ROWS_H_
