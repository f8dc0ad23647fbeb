// The kernels of single element-wise ops and of chains of them (elementwise.h).
#include <memory>

#include "estimator/kernels/fused/broadcast.h"
#include "estimator/kernels/fused/elementwise.h"

namespace estimator::fused {
namespace {

std::unique_ptr<Kernel> CreateBinary(const KernelSpec& spec) {
  if (std::unique_ptr<Kernel> kernel = ElementwiseKernel::CreateSingle(spec)) return kernel;
  return MakeBroadcastKernel(spec);
}

#define EST_REGISTER_SINGLE(name) \
  EST_REGISTER_KERNEL(name, KernelTier::kFused, ElementwiseKernel::CreateSingle)
#define EST_REGISTER_BINARY(name) EST_REGISTER_KERNEL(name, KernelTier::kFused, CreateBinary)
EST_REGISTER_BINARY("AddV2");
EST_REGISTER_BINARY("Sub");
EST_REGISTER_BINARY("Mul");
EST_REGISTER_BINARY("RealDiv");
EST_REGISTER_BINARY("Maximum");
EST_REGISTER_BINARY("Minimum");
EST_REGISTER_BINARY("Pow");
EST_REGISTER_BINARY("SquaredDifference");
EST_REGISTER_SINGLE("Neg");
EST_REGISTER_SINGLE("Abs");
EST_REGISTER_SINGLE("Square");
EST_REGISTER_SINGLE("Sqrt");
EST_REGISTER_SINGLE("Rsqrt");
EST_REGISTER_SINGLE("Reciprocal");
EST_REGISTER_SINGLE("Exp");
EST_REGISTER_SINGLE("Log");
EST_REGISTER_SINGLE("Tanh");
EST_REGISTER_SINGLE("Sigmoid");
EST_REGISTER_SINGLE("Erf");
EST_REGISTER_SINGLE("Relu");
EST_REGISTER_SINGLE("Relu6");
EST_REGISTER_SINGLE("ReluGrad");
EST_REGISTER_SINGLE("Relu6Grad");
EST_REGISTER_SINGLE("TanhGrad");
EST_REGISTER_SINGLE("SigmoidGrad");
EST_REGISTER_SINGLE("Elu");
EST_REGISTER_SINGLE("EluGrad");
EST_REGISTER_SINGLE("Selu");
EST_REGISTER_SINGLE("SeluGrad");
EST_REGISTER_SINGLE("LeakyRelu");
EST_REGISTER_SINGLE("LeakyReluGrad");
EST_REGISTER_SINGLE("Softplus");
EST_REGISTER_SINGLE("SoftplusGrad");
EST_REGISTER_SINGLE("Softsign");
EST_REGISTER_SINGLE("SoftsignGrad");
EST_REGISTER_SINGLE("_Gelu");
EST_REGISTER_SINGLE("_GeluGrad");
EST_REGISTER_SINGLE("_GeluApproximate");
EST_REGISTER_SINGLE("_GeluApproximateGrad");
EST_REGISTER_SINGLE("SelectV2");
#undef EST_REGISTER_BINARY
#undef EST_REGISTER_SINGLE
EST_REGISTER_KERNEL("_FusedElementwise", KernelTier::kFused, ElementwiseKernel::Create);

}  // namespace
}  // namespace estimator::fused
