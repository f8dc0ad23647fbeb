// Functions over the first axis: map, scan and fold. Each is one loop (while_loop.h) with as many
// trips as the elements have rows, except for VectorizedMap.
#ifndef ESTIMATOR_OPS_FUNCTIONAL_H_
#define ESTIMATOR_OPS_FUNCTIONAL_H_

#include <functional>

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// fn(row) for each row of the elements, stacked: [N, ...] -> [N, ...].
//   elems: [N, ...] each, N > 0. fn gets one row of each, without the first axis.
// Gradients() inside of `fn` gives the gradients of one example.
// Errors: INVALID_ARGUMENT if elems have no or different first axes; those of WhileLoop.
// Source: TF 2.15 tf.map_fn.
Tensors MapFn(const std::function<Tensors(const Tensors& row)>& fn, const Tensors& elems,
              StringArg name = "map");
Tensor MapFn(const std::function<Tensor(const Tensor& row)>& fn, const Tensor& elems,
             StringArg name = "map");

// The same without a loop: each op of the function is replaced by one op for all rows. It is faster
// where one row is little work, and needs memory for what all rows compute. fn is called once.
// Errors: also UNIMPLEMENTED naming an op that has no form for all rows, as random ops, loops and
// the gradient of a convolution's filter. MapFn takes such a function.
// Source: TF 2.15 tf.vectorized_map.
Tensors VectorizedMap(const std::function<Tensors(const Tensors& row)>& fn, const Tensors& elems,
                      StringArg name = "vectorized_map");
Tensor VectorizedMap(const std::function<Tensor(const Tensor& row)>& fn, const Tensor& elems,
                     StringArg name = "vectorized_map");

struct ScanOptions {
  bool reverse = false;  // begins with the last row
  std::string name = "scan";
};
// Runs acc = fn(acc, row) over the rows, and returns every acc, stacked: [N, ...].
//   initializer: the first acc. fn returns tensors of the same types.
// Source: TF 2.15 tf.scan.
using ScanFunction = std::function<Tensors(const Tensors& acc, const Tensors& row)>;
Tensors Scan(const ScanFunction& fn, const Tensors& elems, const Tensors& initializer,
             const ScanOptions& options = {});
Tensor Scan(const std::function<Tensor(const Tensor& acc, const Tensor& row)>& fn,
            const Tensor& elems, const Tensor& initializer, const ScanOptions& options = {});

// The last acc of acc = fn(acc, row): from the first row to the last, or the other way.
// Source: TF 2.15 tf.foldl, tf.foldr.
Tensors Foldl(const ScanFunction& fn, const Tensors& elems, const Tensors& initializer,
              StringArg name = "foldl");
Tensor Foldl(const std::function<Tensor(const Tensor& acc, const Tensor& row)>& fn,
             const Tensor& elems, const Tensor& initializer, StringArg name = "foldl");
Tensors Foldr(const ScanFunction& fn, const Tensors& elems, const Tensors& initializer,
              StringArg name = "foldr");
Tensor Foldr(const std::function<Tensor(const Tensor& acc, const Tensor& row)>& fn,
             const Tensor& elems, const Tensor& initializer, StringArg name = "foldr");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_FUNCTIONAL_H_
