#include "estimator/op_def/op_table.h"

#include <utility>
#include <vector>

#include "estimator/op_def/elementwise_flags.h"
#include "estimator/op_def/update_def.h"

namespace estimator {
namespace {

using enum OpTraits::Failure;
using enum OpTraits::Layout;

#define EST_CONV_ATTRS \
  "strides:l padding:s explicit_paddings:l= data_format:s=NHWC! dilations:l=1,1,1,1"
#define EST_POOL_ATTRS "ksize:l strides:l padding:s explicit_paddings:l= data_format:s=NHWC!"
#define EST_RESIZE_ATTRS "align_corners:b=false half_pixel_centers:b=false"
#define EST_MASKS \
  "begin_mask:i=0 end_mask:i=0 ellipsis_mask:i=0 new_axis_mask:i=0 shrink_axis_mask:i=0"
#define EST_RANDOM_ATTRS "T=i0 dtype=o0 seed:i=0 seed2:i=0 dtype:t"

#define EST_SAMPLER                                                                \
  "true_classes -> sampled_candidates true_expected_count sampled_expected_count", \
      "num_true:i num_sampled:i unique:b range_max:i seed:i=0 seed2:i=0"

#define EST_REDUCTION "input reduction_indices", "T=i0 Tidx=i1 keep_dims:b=false"
#define EST_SEGMENTS "data segment_ids num_segments", "T=i0 Tindices=i1 Tnumsegments=i2"
#define EST_ANY "input* -> output*"

// Rows that have the same traits.
struct Group {
  OpTraits traits;
  std::vector<OpDef> rows;
};

// Traits of an op with images, which follows the layout of its inputs.
OpTraits Follows(std::vector<int> image_inputs, std::vector<int> image_outputs) {
  return {.layout = kFollows,
          .image_inputs = std::move(image_inputs),
          .image_outputs = std::move(image_outputs)};
}

std::vector<Group> Groups() {
  const OpTraits not_read{.read_as_is = false}, cut{.not_differentiable = true};
  const OpTraits random{.not_differentiable = true, .stateful = true};
  return {
      // Constants, variables and what a step is made of.
      {{.not_differentiable = true, .read_as_is = false}, {{"Const", "", "dtype=o0"}}},
      {{.not_differentiable = true, .stateful = true, .read_as_is = false},
       {{"Placeholder", "", "dtype=o0"}, {"VariableV2", "-> ref", "dtype=o0"}}},
      {{.not_differentiable = true,
        .stateful = true,
        .read_as_is = false,
        .not_lowered = "it reads a checkpoint, before the first step"},
       {{"Restore", "file_pattern tensor_name", "dt=o0"}}},
      {{.stateful = true, .read_as_is = false},
       {{"Assign", "ref value"},
        {"AssignAdd", "ref value"},
        {"NoOp", "->"},
        {"CrossReplicaSum", "input group_assignment"}}},
      // They run functions: ops/branches.h, ops/while_loop.h.
      {{.stateful = true, .read_as_is = false},
       {{"While", EST_ANY, "-"}, {"If", EST_ANY, "-"}, {"Case", EST_ANY, "-"}}},
      {{.not_differentiable = true,
        .stateful = true,
        .read_as_is = false,
        .written_as = "XlaReplicaId"},
       {{"ReplicaId", ""}}},
      {{.stateful = true, .read_as_is = false, .written_as = "Identity"}, {{"CheckRange", "x"}}},
      {{.stateful = true}, {{"CheckNumerics", "x", "message:s"}}},
      {{.failure = kNever}, {{"Fill", "dims value", "T=i1 index_type=i0"}}},
      {cut,
       {{"Range", "start limit delta", "Tidx=i0"},
        {"LinSpace", "start stop num", "T=i0 Tidx=i2"},
        {"ZerosLike", "x"},
        {"OnesLike", "x"}}},

      // Views and shapes.
      {{.view = true, .failure = kNever},
       {{"Reshape", "tensor shape", "T=i0 Tshape=i1"},
        {"ExpandDims", "input dim", "T=i0 Tdim=i1"},
        {"Squeeze", "input", "squeeze_dims:l="}}},
      {{.view = true, .failure = kNever, .read_as_is = false}, {{"Identity", "input"}}},
      {{.view = true, .failure = kNever, .not_differentiable = true, .read_as_is = false},
       {{"StopGradient", "input"}}},
      {not_read, {{"IdentityN", "input* -> output*", "-"}, {"EnsureShape", "input"}}},
      {cut,
       {{"Shape", "input", "T=i0 out_type=o0 out_type:t=int32"},
        {"Size", "input", "T=i0 out_type=o0 out_type:t=int32"},
        {"Rank", "input"}}},
      {{.failure = kNever}, {{"BroadcastTo", "input shape", "T=i0 Tidx=i1"}}},

      // Convolutions, matrix products and their gradients. Depthwise ones compute too little to pay
      // for a reorder, so they follow their inputs.
      {{.layout = kChooses,
        .image_inputs = {0},
        .image_outputs = {0},
        .factors = {0, 1},
        .on_matrix_unit = true,
        .with_bias = "_FusedConv2D"},
       {{"Conv2D", "input filter", EST_CONV_ATTRS}}},
      {{.layout = kChooses,
        .image_inputs = {2},
        .image_outputs = {0},
        .factors = {1, 2},
        .on_matrix_unit = true},
       {{"Conv2DBackpropInput", "input_sizes filter out_backprop", "T=i1 " EST_CONV_ATTRS}}},
      {{.layout = kChooses,
        .image_inputs = {0, 2},
        .factors = {0, 2},
        .sums_in_float32 = true,
        .on_matrix_unit = true},
       {{"Conv2DBackpropFilter", "input filter_sizes out_backprop", EST_CONV_ATTRS}}},
      {{.layout = kFollows,
        .image_inputs = {0},
        .image_outputs = {0},
        .on_matrix_unit = true,
        .with_bias = "_FusedDepthwiseConv2dNative"},
       {{"DepthwiseConv2dNative", "input filter", EST_CONV_ATTRS}}},
      {{.layout = kFollows, .image_inputs = {2}, .image_outputs = {0}, .on_matrix_unit = true},
       {{"DepthwiseConv2dNativeBackpropInput", "input_sizes filter out_backprop",
         "T=i1 " EST_CONV_ATTRS}}},
      {{.layout = kFollows, .image_inputs = {0, 2}, .on_matrix_unit = true},
       {{"DepthwiseConv2dNativeBackpropFilter", "input filter_sizes out_backprop",
         EST_CONV_ATTRS}}},
      {{.factors = {0, 1},
        .matrix_product = true,
        .sums_in_float32 = true,
        .on_matrix_unit = true,
        .with_bias = "_FusedMatMul"},
       {{"MatMul", "a b", "transpose_a:b=false transpose_b:b=false"}}},
      {{.factors = {0, 1}, .matrix_product = true, .sums_in_float32 = true, .on_matrix_unit = true},
       {{"BatchMatMulV2", "x y", "adj_x:b=false adj_y:b=false"}}},

      // Other ops with images.
      {Follows({0}, {0}),
       {{"MaxPool", "input", EST_POOL_ATTRS},
        {"AvgPool", "value", EST_POOL_ATTRS},
        {"BiasAdd", "value bias", "data_format:s=NHWC!"},
        {"FusedBatchNormV3",
         "x scale offset mean variance -> y batch_mean batch_variance reserve_1 reserve_2 "
         "reserve_3",
         "T=i0 U=i1 epsilon:f=0.0001 is_training:b=true exponential_avg_factor:f=1 "
         "data_format:s=NHWC!"}}},
      {Follows({0, 1, 2}, {0}), {{"MaxPoolGrad", "orig_input orig_output grad", EST_POOL_ATTRS}}},
      {not_read, {{"MaxPoolGradGrad", "orig_input orig_output grad"}}},
      {Follows({1}, {0}), {{"AvgPoolGrad", "orig_input_shape grad", "T=i1 " EST_POOL_ATTRS}}},
      {{.layout = kFollows, .image_inputs = {0}, .sums_in_float32 = true},
       {{"BiasAddGrad", "out_backprop", "data_format:s=NHWC!"}}},
      {Follows({0, 1}, {0}),
       {{"FusedBatchNormGradV3",
         "y_backprop x scale reserve_1 reserve_2 reserve_3 -> "
         "x_backprop scale_backprop offset_backprop reserve_4 reserve_5",
         "T=i0 U=i3 epsilon:f=0.0001 is_training:b=true data_format:s=NHWC!"}}},

      {{},
       {{"ResizeBilinear", "images size", EST_RESIZE_ATTRS},
        {"ResizeBilinearGrad", "grads original_image", "T=i1 " EST_RESIZE_ATTRS},
        {"ResizeNearestNeighbor", "images size", EST_RESIZE_ATTRS},
        {"ResizeNearestNeighborGrad", "grads size", EST_RESIZE_ATTRS}}},

      // Element-wise ops whose operands differ in type or number. elementwise_table.h has the
      // others.
      {{.failure = kNever, .elementwise = true},
       {{"AddN", "inputs*", "T=i0 N=ins"},
        {"SelectV2", "condition t e", "T=i1"},
        {"Cast", "x", "SrcT=i0 DstT=o0 SrcT:t DstT:t Truncate:b=false!"}}},
      {cut, {{"LogicalAnd", "x y", "-"}, {"LogicalOr", "x y", "-"}, {"LogicalNot", "x", "-"}}},

      // Reductions, scans and searches.
      {{.reduction = true, .sums_in_float32 = true},
       {{"Sum", EST_REDUCTION}, {"Mean", EST_REDUCTION}}},
      {{.reduction = true},
       {{"Max", EST_REDUCTION}, {"Min", EST_REDUCTION}, {"Prod", EST_REDUCTION}}},
      {cut,
       {{"All", "input reduction_indices", "Tidx=i1 keep_dims:b=false"},
        {"Any", "input reduction_indices", "Tidx=i1 keep_dims:b=false"},
        {"ArgMax", "input dimension", "T=i0 Tidx=i1 output_type=o0 output_type:t=int64"},
        {"ArgMin", "input dimension", "T=i0 Tidx=i1 output_type=o0 output_type:t=int64"},
        {"InTopKV2", "predictions targets k", "T=i1"}}},
      {{},
       {{"TopKV2", "input k -> values indices",
         "T=i0 Tk=i1 index_type=o1 sorted:b=true index_type:t=int32!"},
        {"L2Loss", "t"},
        {"Cumsum", "x axis", "T=i0 Tidx=i1 exclusive:b=false reverse:b=false"},
        {"Cumprod", "x axis", "T=i0 Tidx=i1 exclusive:b=false reverse:b=false"},
        {"Softmax", "logits"},
        {"LogSoftmax", "logits"},
        {"SoftmaxCrossEntropyWithLogits", "features labels -> loss backprop"},
        {"SparseSoftmaxCrossEntropyWithLogits", "features labels -> loss backprop",
         "T=i0 Tlabels=i1"}}},

      // Moves of elements, and rows by index.
      {{.failure = kNever}, {{"Transpose", "x perm", "T=i0 Tperm=i1"}}},
      {{},
       {{"ConcatV2", "values_and_axis*", "T=i0 N=ins-1 Tidx=last"},
        {"Split", "split_dim value -> output*", "T=i1 num_split=outs num_split:i"},
        {"SplitV", "value size_splits split_dim -> output*",
         "T=i0 Tlen=i1 num_split=outs num_split:i"},
        {"Pack", "values*", "T=i0 N=ins axis:i=0"},
        {"Unpack", "value -> output*", "T=i0 num=outs num:i axis:i=0"},
        {"ReverseV2", "tensor axis", "T=i0 Tidx=i1"},
        {"ReverseSequence", "input seq_lengths", "T=i0 Tlen=i1 seq_dim:i batch_dim:i=0"},
        {"Tile", "input multiples", "T=i0 Tmultiples=i1"},
        {"Slice", "input begin size", "T=i0 Index=i1"},
        {"StridedSlice", "input begin end strides", "T=i0 Index=i1 " EST_MASKS},
        {"StridedSliceGrad", "shape begin end strides dy", "T=last Index=i0 " EST_MASKS},
        {"Pad", "input paddings", "T=i0 Tpaddings=i1"},
        {"PadV2", "input paddings constant_values", "T=i0 Tpaddings=i1"},
        {"MirrorPad", "input paddings", "T=i0 Tpaddings=i1 mode:s"},
        {"MirrorPadGrad", "input paddings", "T=i0 Tpaddings=i1 mode:s"},
        {"GatherV2", "params indices axis", "Tparams=i0 Tindices=i1 Taxis=i2 batch_dims:i=0"},
        {"GatherNd", "params indices", "Tparams=i0 Tindices=i1"},
        {"ScatterNd", "indices updates shape", "T=i1 Tindices=i0"},
        {"TensorScatterUpdate", "tensor indices updates", "T=i0 Tindices=i1"},
        {"TensorScatterAdd", "tensor indices updates", "T=i0 Tindices=i1"},
        {"UnsortedSegmentSum", EST_SEGMENTS},
        {"UnsortedSegmentMax", EST_SEGMENTS},
        {"UnsortedSegmentMin", EST_SEGMENTS}}},
      {cut,
       {{"OneHot", "indices depth on_value off_value", "T=i2 TI=i0 axis:i=-1"},
        {"InvertPermutation", "x"}}},

      // Recurrent layers over all time steps.
      {{},
       {{"BlockLSTM", "seq_len_max x cs_prev h_prev w wci wcf wco b -> i cs f o ci co h",
         "T=i1 forget_bias:f=1 cell_clip:f=3 use_peephole:b=false!"},
        {"BlockLSTMGrad",
         "seq_len_max x cs_prev h_prev w wci wcf wco b i cs f o ci co h cs_grad h_grad -> "
         "x_grad cs_prev_grad h_prev_grad w_grad wci_grad wcf_grad wco_grad b_grad",
         "T=i1 use_peephole:b=false!"},
        {"_BlockGRU", "x h_prev w_ru w_c b_ru b_c -> r u c h"},
        {"_BlockGRUGrad",
         "x h_prev w_ru w_c b_ru b_c r u c h h_grad -> "
         "x_grad h_prev_grad w_ru_grad w_c_grad b_ru_grad b_c_grad"}}},

      // Matrices.
      {{},
       {{"MatrixDiag", "diagonal"},
        {"MatrixDiagPart", "input"},
        {"MatrixBandPart", "input num_lower num_upper", "T=i0 Tindex=i1"},
        {"Cholesky", "input"},
        {"MatrixInverse", "input", "adjoint:b=false"},
        {"MatrixSolve", "matrix rhs", "adjoint:b=false"},
        {"MatrixTriangularSolve", "matrix rhs", "lower:b=true adjoint:b=false"}}},
      {{.host_only = "solve the normal equations with Cholesky, or use Qr"},
       {{"MatrixSolveLs", "matrix rhs l2_regularizer", "fast:b=true"}}},
      {{.host_only = "multiply the diagonal of Cholesky or Qr"}, {{"MatrixDeterminant", "input"}}},
      {{.host_only = "sum the logarithms of the diagonal of Cholesky or Qr"},
       {{"LogMatrixDeterminant", "input -> sign log_abs_determinant"}}},
      {{.not_lowered = "StableHLO has no QR decomposition, and its signs would differ from the "
                       "CPU's: solve by Cholesky or MatrixSolve"},
       {{"Qr", "input -> q r", "full_matrices:b=false"}}},
      {{.not_lowered = "StableHLO has no singular value decomposition: compute it on the host, in "
                       "input_fn or from a prediction"},
       {{"Svd", "input -> s u v", "compute_uv:b=true full_matrices:b=false"}}},
      {{.not_lowered = "StableHLO has no eigenvalue decomposition: compute it on the host, in "
                       "input_fn or from a prediction"},
       {{"SelfAdjointEigV2", "input -> e v", "compute_v:b=true"}}},

      // Boxes of detectors, which are chosen one after another.
      {{.not_differentiable = true,
        .not_lowered = "its boxes are chosen one after another: choose them on the host, from the "
                       "boxes and scores in a prediction or in host_call"},
       {{"NonMaxSuppressionV4",
         "boxes scores max_output_size iou_threshold score_threshold -> selected_indices "
         "valid_outputs",
         "T=i0 T_threshold=i3 pad_to_max_output_size:b=false"}}},
      {{.not_differentiable = true,
        .host_only = "choose the boxes on the host, from a prediction or in host_call",
        .not_lowered = "its boxes are chosen one after another: choose them on the host, from the "
                       "boxes and scores in a prediction or in host_call"},
       {{"NonMaxSuppressionV5",
         "boxes scores max_output_size iou_threshold score_threshold soft_nms_sigma -> "
         "selected_indices selected_scores valid_outputs",
         "T=i0 pad_to_max_output_size:b=false"},
        {"CombinedNonMaxSuppression",
         "boxes scores max_output_size_per_class max_total_size iou_threshold score_threshold -> "
         "nmsed_boxes nmsed_scores nmsed_classes valid_detections",
         "pad_per_class:b=false clip_boxes:b=true -"}}},

      // Sequences of labels. Their paths are summed, or searched, step after step.
      {{.host_only = "train this model on the CPU",
        .not_lowered = "its paths are summed step after step: train this model on the CPU"},
       {{"CTCLoss", "inputs labels_indices labels_values sequence_length -> loss gradient",
         "T=i0 preprocess_collapse_repeated:b=false ctc_merge_repeated:b=true "
         "ignore_longer_outputs_than_inputs:b=false"}}},
      {{.not_differentiable = true,
        .host_only = "decode on the host, from the logits in a prediction, or use CtcGreedyDecoder",
        .not_lowered = "its beams are chosen one after another: decode on the host, from the "
                       "logits in a prediction, or use CtcGreedyDecoder"},
       {{"CTCBeamSearchDecoder", "inputs sequence_length -> output*",
         "T=i0 beam_width:i top_paths:i merge_repeated:b=true"}}},

      // Random numbers, and what stays on the host.
      {random,
       {{"RandomUniform", "shape", EST_RANDOM_ATTRS},
        {"RandomStandardNormal", "shape", EST_RANDOM_ATTRS},
        {"TruncatedNormal", "shape", EST_RANDOM_ATTRS},
        {"RandomUniformInt", "shape minval maxval", "T=i0 Tout=i1 seed:i=0 seed2:i=0"},
        {"RandomShuffle", "value", "seed:i=0 seed2:i=0"}}},
      {{.not_differentiable = true,
        .stateful = true,
        .not_lowered = "it draws by sums in float64, which a TPU lacks: take ArgMax(logits - "
                       "Log(-Log(u))) with u from RandomUniform, which draws from the same "
                       "distribution"},
       {{"Multinomial", "logits num_samples", "seed:i=0 seed2:i=0 output_dtype:t=int64"}}},
      {{.not_differentiable = true,
        .stateful = true,
        .host_only = "draw the classes in input_fn",
        .not_lowered = "it draws until all classes differ: draw them in input_fn"},
       {{"UniformCandidateSampler", EST_SAMPLER}, {"LogUniformCandidateSampler", EST_SAMPLER}}},
      {{.not_differentiable = true,
        .host_only = "format the values on the host: return the tensor in host_call",
        .not_lowered = "strings stay on the host: do this in input_fn or host_call"},
       {{"AsString", "input",
         "precision:i=-1 scientific:b=false shortest:b=false width:i=-1 fill:s="}}},
      {{.not_differentiable = true,
        .read_as_is = false,
        .host_only = "write images on the host: return the tensor in host_call",
        .not_lowered = "images are encoded on the host: do this in host_call"},
       {{"ImageSummary", "tag tensor", "T=i1"}}},

      // Ops that only passes make.
      {{.layout = kChooses, .image_inputs = {0, 3}, .image_outputs = {0}, .factors = {0, 1}},
       {{"_FusedConv2D", EST_ANY}}},
      {{.layout = kChooses, .image_inputs = {0, 1}, .factors = {0, 1}},
       {{"_FusedConv2DBackpropFilter", EST_ANY}}},
      {{.layout = kChooses, .image_inputs = {0}, .image_outputs = {0, 1}, .factors = {0, 1}},
       {{"_FusedConv2DMaxPool", EST_ANY}}},
      {{.layout = kChooses, .image_inputs = {1, 2}, .image_outputs = {0}, .factors = {0, 1}},
       {{"_Conv2DMaxPoolBackpropInput", EST_ANY}}},
      {{.layout = kChooses, .image_inputs = {0, 1, 2}, .factors = {0, 1}},
       {{"_Conv2DMaxPoolBackpropFilter", EST_ANY}}},
      {{.factors = {0, 1}, .matrix_product = true, .sums_in_float32 = true},
       {{"_FusedMatMul", EST_ANY}}},
      {Follows({0, 3}, {0}), {{"_FusedDepthwiseConv2dNative", EST_ANY}}},
      {Follows({0}, {0, 1}), {{"_MaxPoolWithArgmax", EST_ANY}}},
      {Follows({0, 1, 2}, {0}), {{"_MaxPoolGradWithArgmax", EST_ANY}}},
      {Follows({0, 5}, {0}), {{"_FusedBatchNormEx", EST_ANY}}},
      {Follows({0, 1, 7}, {0, 5}), {{"_FusedBatchNormGradEx", EST_ANY}}},
      {{.failure = kNever, .elementwise = true}, {{"_FusedElementwise", EST_ANY}}},
      {{.failure = kNever}, {{"_Copy", EST_ANY}, {"_UpdateSweep", EST_ANY}}},
      {{},
       {{"_FusedElementwiseSum", EST_ANY},
        {"_Reorder", EST_ANY},
        {"_Attention", EST_ANY},
        {"_AttentionGrad", EST_ANY},
        {"_LayerNorm", EST_ANY},
        {"_LayerNormGrad", EST_ANY},
        {"_RandomGreaterEqual", EST_ANY},
        {"_CheckIndices", EST_ANY},
        {"_SumEqualRows", EST_ANY}}},
  };
}

#undef EST_CONV_ATTRS
#undef EST_POOL_ATTRS
#undef EST_RESIZE_ATTRS
#undef EST_MASKS
#undef EST_RANDOM_ATTRS
#undef EST_REDUCTION
#undef EST_SEGMENTS
#undef EST_ANY

// The row of an element-wise op.
OpDef Row(const char* name, const char* operands, int flags) {
  const OpTraits traits{.failure = (flags & kNeverFails) != 0           ? kNever
                                   : (flags & kNeverFailsOfFloats) != 0 ? kNeverOfFloats
                                                                        : kPossible,
                        .elementwise = true,
                        .activation = (flags & kActivation) != 0,
                        .commutative = (flags & kCommutative) != 0,
                        .not_differentiable = (flags & kNoGradient) != 0};
  return {name, operands, (flags & kHasAlpha) != 0 ? "alpha:f=0.2" : "", traits};
}

std::vector<OpDef> MakeTable() {
  std::vector<OpDef> rows = {
#define EST_UNARY(name, x, takes, tiles, flags, ...) Row(#name, #x, flags),
#define EST_BINARY(name, x, y, takes, tiles, flags, ...) Row(#name, #x " " #y, flags),
#define EST_PREDICATE(name, x, ...) Row(#name, #x, kNoGradient),
#define EST_COMPARISON(name, x, y, tiles, ...) Row(#name, #x " " #y, kNoGradient),
#define EST_FUSED_UNARY EST_UNARY
#define EST_FUSED_BINARY EST_BINARY
#include "estimator/op_def/elementwise_table.h"
  };
  for (const Group& group : Groups()) {
    for (const OpDef& row : group.rows) {
      rows.push_back(row);
      rows.back().traits = group.traits;
    }
  }
  for (const UpdateDef& def : UpdateOps())
    // TensorFlow's update ops write their variables in place. Ours return new values, so they are
    // not read as they are.
    rows.push_back({def.op, def.signature, def.attrs, {.failure = kNever, .read_as_is = false}});
  for (OpDef& row : rows) {
    // TensorFlow has private ops with some of these names (_FusedConv2D), whose operands and
    // attributes are not the same.
    if (row.name[0] == '_') row.traits.read_as_is = false;
  }
  return rows;
}

}  // namespace

absl::Span<const OpDef> OpTable() {
  // Never destroyed: rows are handed out by address for the whole life of the process.
  static const auto& rows = *new std::vector<OpDef>(MakeTable());
  return rows;
}

}  // namespace estimator
