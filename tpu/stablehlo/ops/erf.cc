// Erf and Erfc, which StableHLO lacks, by rational functions:
//   |x| < 1:  erf(x)  = x * T(x^2) / U(x^2)
//   x >= 1:   erfc(x) = exp(-x^2) * P(x) / Q(x) below 8, and with R and S from there on
// Source of the coefficients: Cephes, ndtr.c (S. Moshier), accurate to float64.
#include "tpu/stablehlo/ops/number.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

constexpr double kT[] = {9.60497373987051638749e0, 9.00260197203842689217e1,
                         2.23200534594684319226e3, 7.00332514112805075473e3,
                         5.55923013010394962768e4};
constexpr double kU[] = {1.0,
                         3.35617141647503099647e1,
                         5.21357949780152679795e2,
                         4.59432382970980127987e3,
                         2.26290000613890934246e4,
                         4.92673942608635921086e4};
constexpr double kP[] = {
    2.46196981473530512524e-10, 5.64189564831068821977e-1, 7.46321056442269912687e0,
    4.86371970985681366614e1,   1.96520832956077098242e2,  5.26445194995477358631e2,
    9.34528527171957607540e2,   1.02755188689515710272e3,  5.57535335369399327526e2};
constexpr double kQ[] = {1.0,
                         1.32281951154744992508e1,
                         8.67072140885989742329e1,
                         3.54937778887819891062e2,
                         9.75708501743205489753e2,
                         1.82390916687909736289e3,
                         2.24633760818710981792e3,
                         1.65666309194161350182e3,
                         5.57535340817727675546e2};
constexpr double kR[] = {5.64189583547755073984e-1, 1.27536670759978104416e0,
                         5.01905042251180477414e0,  6.16021097993053585195e0,
                         7.40974269950448939160e0,  2.97886665372100240670e0};
constexpr double kS[] = {1.0,
                         2.26052863220117276590e0,
                         9.39603524938001434673e0,
                         1.20489539808096656605e1,
                         1.70814450747565897222e1,
                         9.60896809063285878198e0,
                         3.36907645100081516050e0};

Number Ratio(const Number& x, absl::Span<const double> above, absl::Span<const double> below) {
  return {x.w, x.w->Div(Polynomial(*x.w, x.v, above), Polynomial(*x.w, x.v, below))};
}

// erf(x) for |x| < 1.
Number ErfOfSmall(const Number& x) { return x * Ratio(x * x, kT, kU); }

// erfc(|x|) for |x| >= 1. From 28 on it is 0 even in float64; powers of larger numbers overflow.
Number ErfcOfLarge(const Number& magnitude) {
  const Number a = Min(magnitude, magnitude.Of(28));
  return Exp(-(a * a)) * Select(a < 8, Ratio(a, kP, kQ), Ratio(a, kR, kS));
}

}  // namespace

Number Erf(const Number& x) {
  const Number magnitude = Abs(x), large = Sign(x) * (1 - ErfcOfLarge(magnitude));
  return Select(magnitude < 1, ErfOfSmall(x), large);
}

Number Erfc(const Number& x) {
  const Number magnitude = Abs(x), tail = ErfcOfLarge(magnitude);
  return Select(magnitude < 1, 1 - ErfOfSmall(x), Select(x < 0, 2 - tail, tail));
}

}  // namespace estimator::tpu::stablehlo
