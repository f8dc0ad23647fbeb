// All ops that a model calls.
//
// An op takes its tensors first, then the arguments that must be given, in TensorFlow's order.
// Optional arguments are the fields of an options struct, under TensorFlow's names:
//   Gather(table, ids, {.axis = 1, .batch_dims = 1})
//   ReduceSum(x, {1, 2}, {.keepdims = true})
// An op with at most two arguments after its tensors takes them in order: Softmax(x, axis, name).
#ifndef ESTIMATOR_OPS_OPS_H_
#define ESTIMATOR_OPS_OPS_H_

#include "estimator/ops/activations.h"
#include "estimator/ops/batch_norm.h"
#include "estimator/ops/bias.h"
#include "estimator/ops/branches.h"
#include "estimator/ops/categorical.h"
#include "estimator/ops/check_numerics.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/conv.h"
#include "estimator/ops/crf.h"
#include "estimator/ops/cross_replica.h"
#include "estimator/ops/ctc.h"
#include "estimator/ops/custom_gradient.h"
#include "estimator/ops/decompositions.h"
#include "estimator/ops/edit_distance.h"
#include "estimator/ops/einsum.h"
#include "estimator/ops/functional.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/identity_n.h"
#include "estimator/ops/linear_solve.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/meshgrid.h"
#include "estimator/ops/non_max_suppression.h"
#include "estimator/ops/padding.h"
#include "estimator/ops/pooling.h"
#include "estimator/ops/random.h"
#include "estimator/ops/rearrange.h"
#include "estimator/ops/recurrent.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/resize.h"
#include "estimator/ops/scan.h"
#include "estimator/ops/search.h"
#include "estimator/ops/select.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/slicing.h"
#include "estimator/ops/softmax.h"
#include "estimator/ops/sort.h"
#include "estimator/ops/statistics.h"
#include "estimator/ops/strings.h"
#include "estimator/ops/summary.h"
#include "estimator/ops/tensor_array.h"
#include "estimator/ops/while_loop.h"

#endif  // ESTIMATOR_OPS_OPS_H_
