// The op While by its parts, for WhileLoop, MapFn, Scan, DynamicRnn and the like.
#ifndef ESTIMATOR_OPS_BUILDING_LOOP_H_
#define ESTIMATOR_OPS_BUILDING_LOOP_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// The node of a loop (attributes and operands of `While`): what WhileLoop, MapFn, Scan and their
// gradients have in common.
//   t = 0; while (t < trips and cond(carried)) { carried, rows = body(carried, elements); t += 1 }
// The elements of trip t are row t of each scanned tensor. The rows are put into row t of the
// stacked results.
struct LoopSpec {
  std::string name = "while";
  // i64 []: the largest number of trips. Invalid: no limit.
  Tensor trips = {};
  // Null: always true.
  std::function<Tensor(const Tensors& carried)> cond = nullptr;
  std::function<Tensors(const Tensors& carried, const Tensors& elements)> body = nullptr;
  Tensors carried = {};
  Tensors scanned = {};
  // The number of rows of the stacked results: at least the number of trips. -1: not known.
  int64_t capacity = -1;
  bool reverse = false;  // trip t has row trips - 1 - t
  // Random ops draw in trip t of step s what TensorFlow's draw in their run s * trips + t. Needs
  // `trips` to be the number of trips.
  bool draws_in_order = false;
};
// The parameters of the body: the carried values, then a row of each scanned tensor.
std::vector<TensorSpec> BodyParameters(const LoopSpec& loop);
// The last carried values, then the stacked results. Empty after an error, which the graph keeps.
Tensors AddLoop(const LoopSpec& loop);

// The number of rows of all `elems`; -1 after an error, which the graph keeps.
//   what: for the message: "MapFn".
int64_t NumRows(Graph& graph, absl::string_view what, const Tensors& elems);

}  // namespace estimator

#endif  // ESTIMATOR_OPS_BUILDING_LOOP_H_
