// Branches: conditionals that run one of several functions.
//
// Updates of variables take effect at the end of the step, as everywhere.
//
// A function may read any tensor and any variable from outside, and may create variables. It has no
// parameters. Only the chosen one runs; Where (select.h) computes both sides.
#ifndef ESTIMATOR_OPS_BRANCHES_H_
#define ESTIMATOR_OPS_BRANCHES_H_

#include <functional>
#include <utility>
#include <vector>

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// The results of `true_fn` if `predicate` is true, else those of `false_fn`.
//   predicate: bool []. Both functions must return the same number of tensors, of the same types.
// Errors: INVALID_ARGUMENT if the types differ; UNIMPLEMENTED if a function adds a loss or writes a
// summary.
// Source: TF 2.15 tf.cond.
Tensors Cond(const Tensor& predicate, const std::function<Tensors()>& true_fn,
             const std::function<Tensors()>& false_fn, StringArg name = "cond");
Tensor Cond(const Tensor& predicate, const std::function<Tensor()>& true_fn,
            const std::function<Tensor()>& false_fn, StringArg name = "cond");
// The same for functions that update variables: Cond(p, [&] { return adam.Minimize(loss); }, ...).
// The operation is the update of every variable that one of the functions updates; in the other
// one the variable keeps its value. Update ops that a function adds to the graph (the moving
// averages of batch normalization) run with every step, in each form of Cond. On replicas the loss
// must be computed outside: its gradients are then computed and summed outside, in every step.
Operation Cond(const Tensor& predicate, const std::function<Operation()>& true_fn,
               const std::function<Operation()>& false_fn, StringArg name = "cond");

// The result of the function of the first true predicate, or of `default_fn` if none is true. The
// functions are called in order, the default last, so that variables get TensorFlow's names.
//   predicates: bool []. All functions must return the same type.
// Source: TF 2.15 tf.case.
Tensor Case(const std::vector<std::pair<Tensor, std::function<Tensor()>>>& predicates,
            const std::function<Tensor()>& default_fn, StringArg name = "case");

// The results of branches[index]; of the last branch if there is no such branch.
//   index: i32 []. All functions must return the same number of tensors, of the same types.
// Source: TF 2.15 tf.switch_case.
Tensors SwitchCase(const Tensor& index, const std::vector<std::function<Tensors()>>& branches,
                   StringArg name = "switch_case");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_BRANCHES_H_
