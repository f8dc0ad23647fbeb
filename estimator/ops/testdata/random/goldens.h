// Written by generate.py with TensorFlow 2.15.1: graph seed 87, op seed 5.
#ifndef ESTIMATOR_OPS_TESTDATA_RANDOM_GOLDENS_H_
#define ESTIMATOR_OPS_TESTDATA_RANDOM_GOLDENS_H_

#include <cstdint>
#include <vector>

#include "estimator/array/dtype.h"

namespace estimator::goldens {

// FNV-1a of the bytes that a run drew: these need no function of the C library, so all bits agree.
struct DrawHash {
  const char* op;
  DType dtype;
  int n;
  int run;
  uint64_t hash;
};
inline const std::vector<DrawHash> kDrawHashes = {
    {"RandomUniform", DType::kFloat32, 1, 0, 0x0f71ec9356f29a21u},
    {"RandomUniform", DType::kFloat32, 1, 1, 0x1427a63b7f448eebu},
    {"RandomUniform", DType::kFloat32, 7, 0, 0x058a74dea2647c78u},
    {"RandomUniform", DType::kFloat32, 7, 1, 0xbf323f9db221d476u},
    {"RandomUniform", DType::kFloat32, 1000, 0, 0xd64090b61159f0dbu},
    {"RandomUniform", DType::kFloat32, 1000, 1, 0x4e2a831e5b598feeu},
    {"RandomUniform", DType::kFloat64, 1, 0, 0xc92de55630a82b01u},
    {"RandomUniform", DType::kFloat64, 1, 1, 0x7a12ec8a7ff2ec63u},
    {"RandomUniform", DType::kFloat64, 7, 0, 0xa296db47a6e9afeau},
    {"RandomUniform", DType::kFloat64, 7, 1, 0x724053f60827534eu},
    {"RandomUniform", DType::kFloat64, 1000, 0, 0x8a59184f14729d2eu},
    {"RandomUniform", DType::kFloat64, 1000, 1, 0x28c5c09458ec4c38u},
    {"RandomUniform", DType::kBfloat16, 1, 0, 0x08328c07b4eb76b9u},
    {"RandomUniform", DType::kBfloat16, 1, 1, 0x07da0907b4a0224au},
    {"RandomUniform", DType::kBfloat16, 7, 0, 0xa612eb5329c122e9u},
    {"RandomUniform", DType::kBfloat16, 7, 1, 0x5fc2ed927a62df7eu},
    {"RandomUniform", DType::kBfloat16, 1000, 0, 0x966573c4050b52d8u},
    {"RandomUniform", DType::kBfloat16, 1000, 1, 0x76220d66cacd23f8u},
    {"RandomUniform", DType::kFloat16, 1, 0, 0x08398b07b4f193b4u},
    {"RandomUniform", DType::kFloat16, 1, 1, 0x098d0607b611b1b1u},
    {"RandomUniform", DType::kFloat16, 7, 0, 0x03c912c216795454u},
    {"RandomUniform", DType::kFloat16, 7, 1, 0x8bac244e480e186fu},
    {"RandomUniform", DType::kFloat16, 1000, 0, 0xd7971bb9f80adcd8u},
    {"RandomUniform", DType::kFloat16, 1000, 1, 0xb27af56b0e67e963u},
    {"RandomUniformInt", DType::kInt32, 1, 0, 0xacd58afcaaf42074u},
    {"RandomUniformInt", DType::kInt32, 1, 1, 0x4d50163cec202f6du},
    {"RandomUniformInt", DType::kInt32, 7, 0, 0xc6d9f4318c8a8958u},
    {"RandomUniformInt", DType::kInt32, 7, 1, 0x3eed7fb99f15493du},
    {"RandomUniformInt", DType::kInt32, 1000, 0, 0xe05e200a878819ccu},
    {"RandomUniformInt", DType::kInt32, 1000, 1, 0xda2a6299e3d8b971u},
    {"RandomUniformInt", DType::kInt64, 1, 0, 0xe04016622c9a90ceu},
    {"RandomUniformInt", DType::kInt64, 1, 1, 0xf564bdddf7dcba38u},
    {"RandomUniformInt", DType::kInt64, 7, 0, 0x4a42f5d1504b602bu},
    {"RandomUniformInt", DType::kInt64, 7, 1, 0xbe10acdc4e8f64bcu},
    {"RandomUniformInt", DType::kInt64, 1000, 0, 0x88905bdc9ec0c0a6u},
    {"RandomUniformInt", DType::kInt64, 1000, 1, 0xe56af680a1213db5u},
};

// The last of n numbers: these go through log, sin and cos, whose last bit differs between
// libraries.
struct DrawLast {
  const char* op;
  DType dtype;
  int n;
  int run;
  double last;
};
inline const std::vector<DrawLast> kDrawLast = {
    {"RandomStandardNormal", DType::kFloat32, 1, 0, -2.5914559364318848},
    {"RandomStandardNormal", DType::kFloat32, 1, 1, -1.0856413841247559},
    {"RandomStandardNormal", DType::kFloat32, 7, 0, 0.86884486675262451},
    {"RandomStandardNormal", DType::kFloat32, 7, 1, -0.49648571014404297},
    {"RandomStandardNormal", DType::kFloat32, 1000, 0, 1.1322340965270996},
    {"RandomStandardNormal", DType::kFloat32, 1000, 1, -1.2726728916168213},
    {"RandomStandardNormal", DType::kFloat64, 1, 0, -1.4000866180021279},
    {"RandomStandardNormal", DType::kFloat64, 1, 1, 0.088259612552147565},
    {"RandomStandardNormal", DType::kFloat64, 7, 0, -0.31234979810864077},
    {"RandomStandardNormal", DType::kFloat64, 7, 1, 1.1000407102171827},
    {"RandomStandardNormal", DType::kFloat64, 1000, 0, -2.3118605247715291},
    {"RandomStandardNormal", DType::kFloat64, 1000, 1, 1.1804208979130799},
    {"RandomStandardNormal", DType::kBfloat16, 1, 0, -2.59375},
    {"RandomStandardNormal", DType::kBfloat16, 1, 1, -1.0859375},
    {"RandomStandardNormal", DType::kBfloat16, 7, 0, 0.8671875},
    {"RandomStandardNormal", DType::kBfloat16, 7, 1, -0.49609375},
    {"RandomStandardNormal", DType::kBfloat16, 1000, 0, 1.1328125},
    {"RandomStandardNormal", DType::kBfloat16, 1000, 1, -1.2734375},
    {"RandomStandardNormal", DType::kFloat16, 1, 0, -2.591796875},
    {"RandomStandardNormal", DType::kFloat16, 1, 1, -1.0859375},
    {"RandomStandardNormal", DType::kFloat16, 7, 0, 0.86865234375},
    {"RandomStandardNormal", DType::kFloat16, 7, 1, -0.49658203125},
    {"RandomStandardNormal", DType::kFloat16, 1000, 0, 1.1318359375},
    {"RandomStandardNormal", DType::kFloat16, 1000, 1, -1.2724609375},
    {"TruncatedNormal", DType::kFloat32, 1, 0, -0.58283472061157227},
    {"TruncatedNormal", DType::kFloat32, 1, 1, -1.0856413841247559},
    {"TruncatedNormal", DType::kFloat32, 7, 0, 0.0095547614619135857},
    {"TruncatedNormal", DType::kFloat32, 7, 1, 0.46882054209709167},
    {"TruncatedNormal", DType::kFloat32, 1000, 0, 1.9435883760452271},
    {"TruncatedNormal", DType::kFloat32, 1000, 1, 0.39587587118148804},
    {"TruncatedNormal", DType::kFloat64, 1, 0, -1.4000866180021279},
    {"TruncatedNormal", DType::kFloat64, 1, 1, 0.088259612552147565},
    {"TruncatedNormal", DType::kFloat64, 7, 0, -1.3270955894199228},
    {"TruncatedNormal", DType::kFloat64, 7, 1, -1.2121676569103077},
    {"TruncatedNormal", DType::kFloat64, 1000, 0, -1.3564005536782242},
    {"TruncatedNormal", DType::kFloat64, 1000, 1, -0.35995600617986406},
    {"TruncatedNormal", DType::kBfloat16, 1, 0, -0.58203125},
    {"TruncatedNormal", DType::kBfloat16, 1, 1, -1.0859375},
    {"TruncatedNormal", DType::kBfloat16, 7, 0, 0.00958251953125},
    {"TruncatedNormal", DType::kBfloat16, 7, 1, 0.46875},
    {"TruncatedNormal", DType::kBfloat16, 1000, 0, 1.9453125},
    {"TruncatedNormal", DType::kBfloat16, 1000, 1, 0.396484375},
    {"TruncatedNormal", DType::kFloat16, 1, 0, -0.5830078125},
    {"TruncatedNormal", DType::kFloat16, 1, 1, -1.0859375},
    {"TruncatedNormal", DType::kFloat16, 7, 0, 0.009552001953125},
    {"TruncatedNormal", DType::kFloat16, 7, 1, 0.46875},
    {"TruncatedNormal", DType::kFloat16, 1000, 0, 1.943359375},
    {"TruncatedNormal", DType::kFloat16, 1000, 1, 0.39599609375},
};

// tf.nn.dropout(ones([64]), rate=0.4): which elements stay, in two runs.
inline const std::vector<std::vector<int>> kDropoutKept = {
    {0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1,
     0, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1,
     0, 0, 0, 1, 0, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0},
    {1, 1, 1, 1, 0, 0, 1, 0, 1, 0, 0, 0, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1,
     0, 1, 0, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 0,
     0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0},
};

}  // namespace estimator::goldens

#endif  // ESTIMATOR_OPS_TESTDATA_RANDOM_GOLDENS_H_
