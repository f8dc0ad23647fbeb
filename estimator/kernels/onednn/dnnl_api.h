// oneDNN's C++ interface, as oneDNN 2 and oneDNN 3 both have it: what differs between the two is
// only in this file. Include it in place of <dnnl.hpp>.
#ifndef ESTIMATOR_KERNELS_ONEDNN_DNNL_API_H_
#define ESTIMATOR_KERNELS_ONEDNN_DNNL_API_H_

#include <dnnl.hpp>

namespace estimator::onednn {

inline constexpr bool kOneDnn3 = DNNL_VERSION_MAJOR >= 3;

// A descriptor of a primitive that has no hint.
//   arguments: those of the operation, from the kind of propagation or the first layout on.
// Throws dnnl::error.
template <typename Primitive, typename... Arguments>
typename Primitive::primitive_desc Describe(const dnnl::engine& engine,
                                            const dnnl::primitive_attr& attributes,
                                            const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, arguments..., attributes};
#else
  return {typename Primitive::desc(arguments...), attributes, engine};
#endif
}

// A descriptor of a convolution's gradient, for which oneDNN requires that of the forward pass.
template <typename Desc, typename... Arguments>
Desc DescribeGradient(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
                      const dnnl::convolution_forward::primitive_desc& forward,
                      const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, arguments..., forward, attributes};
#else
  return {{arguments...}, attributes, engine, forward};
#endif
}

inline dnnl::memory::dims DimsOf(const dnnl::memory::desc& layout) {
#if DNNL_VERSION_MAJOR >= 3
  return layout.get_dims();
#else
  return layout.dims();
#endif
}

inline dnnl::memory::data_type DataTypeOf(const dnnl::memory::desc& layout) {
#if DNNL_VERSION_MAJOR >= 3
  return layout.get_data_type();
#else
  return layout.data_type();
#endif
}

inline void AppendEltwise(dnnl::post_ops& post_ops, dnnl::algorithm algorithm, float alpha,
                          float beta) {
#if DNNL_VERSION_MAJOR >= 3
  post_ops.append_eltwise(algorithm, alpha, beta);
#else
  post_ops.append_eltwise(1.0f, algorithm, alpha, beta);
#endif
}

// Whether oneDNN may use the instructions of `isa` here. The numbers of ISAs are sets of bits, so
// an ISA that only a later oneDNN knows includes those that it extends.
inline bool HasIsa(dnnl::cpu_isa isa) {
  const unsigned wanted = static_cast<unsigned>(isa);
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & wanted) == wanted;
}

}  // namespace estimator::onednn

#endif  // ESTIMATOR_KERNELS_ONEDNN_DNNL_API_H_
