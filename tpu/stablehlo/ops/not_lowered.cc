// The ops of the registry that are not lowered, and why.
#include "tpu/stablehlo/op_lowering.h"

namespace estimator::tpu::stablehlo {
namespace {

EST_REGISTER_NO_STABLEHLO("AsString", "strings stay on the host: do this in input_fn or host_call");
EST_REGISTER_NO_STABLEHLO("ImageSummary",
                          "images are encoded on the host: do this in host_call");
EST_REGISTER_NO_STABLEHLO("Multinomial",
                          "it draws by sums in float64, which a TPU lacks: take ArgMax(logits - "
                          "Log(-Log(u))) with u from RandomUniform, which draws from the same "
                          "distribution");
EST_REGISTER_NO_STABLEHLO("Qr",
                          "StableHLO has no QR decomposition, and its signs would differ from the "
                          "CPU's: solve by Cholesky or MatrixSolve");
EST_REGISTER_NO_STABLEHLO("Restore", "it reads a checkpoint, before the first step");
EST_REGISTER_NO_STABLEHLO("Svd",
                          "StableHLO has no singular value decomposition: compute it on the host, "
                          "in input_fn or from a prediction");
EST_REGISTER_NO_STABLEHLO("SelfAdjointEigV2",
                          "StableHLO has no eigenvalue decomposition: compute it on the host, in "
                          "input_fn or from a prediction");

}  // namespace
}  // namespace estimator::tpu::stablehlo
