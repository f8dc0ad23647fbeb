"""Writes goldens.h: TensorFlow's results of the neural network ops on small inputs.

Command: python generate.py > goldens.h   (TensorFlow 2.15.1, tensorflow-cpu)
"""
import numpy as np
import tensorflow as tf

raw = tf.raw_ops


def pattern(shape, seed=0):
    """Eighths in [-5/8, 5/8], exact in every floating type. The same as pattern.h."""
    i = np.arange(int(np.prod(shape)), dtype=np.int64)
    return (((i * 7 + seed * 5) % 11 - 5) / 8.0).astype(np.float32).reshape(shape)


def emit(name, value):
    value = np.asarray(value, dtype=np.float64).ravel()
    print("inline const std::vector<float> %s = {" % name)
    numbers = ["%.9g" % np.float32(v) for v in value]
    numbers = [n if "." in n or "e" in n or "n" in n else n + ".0" for n in numbers]
    for start in range(0, len(numbers), 8):
        print("    " + ", ".join(n + "f" for n in numbers[start : start + 8]) + ",")
    print("};")


def convolutions():
    x, f = pattern([2, 5, 4, 3], 1), pattern([3, 2, 3, 4], 2)
    cases = {
        "Same": dict(strides=[1, 1, 1, 1], padding="SAME"),
        "Strided": dict(strides=[1, 2, 2, 1], padding="SAME"),
        "Valid": dict(strides=[1, 1, 2, 1], padding="VALID"),
    }
    for name, options in cases.items():
        y = raw.Conv2D(input=x, filter=f, **options)
        emit("kConv" + name, y)
        g = pattern(y.shape, 3)
        emit("kConv%sInput" % name, raw.Conv2DBackpropInput(input_sizes=x.shape, filter=f, out_backprop=g, **options))
        emit("kConv%sFilter" % name, raw.Conv2DBackpropFilter(input=x, filter_sizes=f.shape, out_backprop=g, **options))
    emit("kConvDilated", raw.Conv2D(input=x, filter=f, strides=[1] * 4, padding="SAME", dilations=[1, 2, 2, 1]))
    emit("kConvExplicit", tf.nn.conv2d(np.pad(x, [[0, 0], [1, 0], [2, 1], [0, 0]]), f, 1, "VALID"))
    f = pattern([3, 2, 3, 2], 2)
    for name, options in cases.items():
        if name == "Valid":
            options = dict(strides=[1, 2, 2, 1], padding="VALID")
        y = raw.DepthwiseConv2dNative(input=x, filter=f, **options)
        emit("kDepthwise" + name, y)
        g = pattern(y.shape, 3)
        emit("kDepthwise%sInput" % name,
             raw.DepthwiseConv2dNativeBackpropInput(input_sizes=x.shape, filter=f, out_backprop=g, **options))
        emit("kDepthwise%sFilter" % name,
             raw.DepthwiseConv2dNativeBackpropFilter(input=x, filter_sizes=f.shape, out_backprop=g, **options))


def pools():
    x = pattern([2, 5, 4, 3], 1)
    cases = {
        "Valid": dict(ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID"),
        "Same": dict(ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="SAME"),
        "Overlap": dict(ksize=[1, 3, 2, 1], strides=[1, 1, 1, 1], padding="SAME"),
    }
    for name, options in cases.items():
        y = raw.MaxPool(input=x, **options)
        emit("kMaxPool" + name, y)
        g = pattern(y.shape, 3)
        emit("kMaxPool%sGrad" % name, raw.MaxPoolGrad(orig_input=x, orig_output=y, grad=g, **options))
        emit("kAvgPool" + name, raw.AvgPool(value=x, **options))
        emit("kAvgPool%sGrad" % name, raw.AvgPoolGrad(orig_input_shape=x.shape, grad=g, **options))


def activations():
    x = np.float32([-100, -7, -2.5, -1, -0.25, 0, 0.25, 1, 3, 6, 7, 100])
    emit("kActivationInputs", x)
    functions = dict(Relu=tf.nn.relu, Relu6=tf.nn.relu6, Elu=tf.nn.elu, Selu=tf.nn.selu, Softplus=tf.nn.softplus,
                     Softsign=tf.nn.softsign, Sigmoid=tf.nn.sigmoid, Tanh=tf.nn.tanh, Swish=tf.nn.swish,
                     LeakyRelu=tf.nn.leaky_relu, Gelu=tf.nn.gelu,
                     GeluApproximate=lambda v: tf.nn.gelu(v, approximate=True))
    for name, function in functions.items():
        v = tf.constant(x)
        with tf.GradientTape() as tape:
            tape.watch(v)
            y = function(v)
        emit("k" + name, y)
        emit("k%sGrad" % name, tape.gradient(y, v))


def softmaxes():
    logits = pattern([3, 4], 1) * 8
    labels = np.float32([[1, 0, 0, 0], [0, 0.5, 0.25, 0.25], [0, 0, 0, 1]])
    emit("kSoftmax", tf.nn.softmax(logits))
    emit("kSoftmaxAxis0", tf.nn.softmax(logits, axis=0))
    emit("kLogSoftmax", tf.nn.log_softmax(logits))
    loss, backprop = raw.SoftmaxCrossEntropyWithLogits(features=logits, labels=labels)
    emit("kCrossEntropy", loss)
    emit("kCrossEntropyBackprop", backprop)
    emit("kSparseCrossEntropy", tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[2, 0, 3], logits=logits))
    emit("kSigmoidCrossEntropy", tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))


def batch_norms():
    x, scale, offset = pattern([2, 2, 2, 3], 1), np.float32([1, 2, 0.5]), np.float32([0.5, 0, -1])
    mean, variance = np.float32([0.25, 0, -0.5]), np.float32([1, 2, 0.25])
    g = pattern(x.shape, 3)
    for name, training in (("Training", True), ("Inference", False)):
        out = raw.FusedBatchNormV3(x=x, scale=scale, offset=offset, mean=[] if training else mean,
                                   variance=[] if training else variance, epsilon=1e-3, is_training=training)
        emit("kBatchNorm%sY" % name, out.y)
        emit("kBatchNorm%sMean" % name, out.batch_mean)
        emit("kBatchNorm%sVariance" % name, out.batch_variance)
        saved = (out.reserve_space_1, out.reserve_space_2) if training else (mean, variance)
        d = raw.FusedBatchNormGradV3(y_backprop=g, x=x, scale=scale, reserve_space_1=saved[0], reserve_space_2=saved[1],
                                     reserve_space_3=out.reserve_space_3, epsilon=1e-3, is_training=training)
        emit("kBatchNorm%sDx" % name, d.x_backprop)
        emit("kBatchNorm%sDscale" % name, d.scale_backprop)
        emit("kBatchNorm%sDoffset" % name, d.offset_backprop)
    out = raw.FusedBatchNormV3(x=x, scale=scale, offset=offset, mean=mean, variance=variance, epsilon=1e-3,
                               is_training=True, exponential_avg_factor=0.25)
    emit("kBatchNormMovingMean", out.batch_mean)
    emit("kBatchNormMovingVariance", out.batch_variance)
    layer = tf.keras.layers.LayerNormalization(epsilon=1e-3)
    layer.build([None, 3])
    layer.set_weights([scale, offset])
    emit("kLayerNorm", layer(pattern([4, 3], 1)))
    emit("kL2Normalize", tf.math.l2_normalize(pattern([4, 3], 1), axis=-1))


def optimizers():
    """Two steps each, from slots at half, so that every term shows."""
    shape = [6]
    grads = [pattern(shape, 3), pattern(shape, 4) * 2]

    def run(name, num_slots, step):
        state = [tf.Variable(pattern(shape, 1))] + [tf.Variable(tf.fill(shape, 0.5)) for _ in range(num_slots)]
        for t, grad in enumerate(grads):
            step([v.handle for v in state], t, grad)
        emit("kApply" + name, np.concatenate([v.numpy() for v in state]))

    run("GradientDescent", 0, lambda s, t, g: raw.ResourceApplyGradientDescent(var=s[0], alpha=0.1, delta=g))
    for nesterov in (False, True):
        suffix = "Nesterov" if nesterov else ""
        run("Momentum" + suffix, 1,
            lambda s, t, g: raw.ResourceApplyMomentum(var=s[0], accum=s[1], lr=0.1, grad=g, momentum=0.9,
                                                      use_nesterov=nesterov))
        run("Adam" + suffix, 2,
            lambda s, t, g: raw.ResourceApplyAdam(var=s[0], m=s[1], v=s[2], beta1_power=0.9 ** (t + 1),
                                                  beta2_power=0.99 ** (t + 1), lr=0.1, beta1=0.9, beta2=0.99,
                                                  epsilon=1e-3, grad=g, use_nesterov=nesterov))
    run("RMSProp", 2, lambda s, t, g: raw.ResourceApplyRMSProp(var=s[0], ms=s[1], mom=s[2], lr=0.1, rho=0.9,
                                                               momentum=0.5, epsilon=1e-3, grad=g))
    run("CenteredRMSProp", 3,
        lambda s, t, g: raw.ResourceApplyCenteredRMSProp(var=s[0], mg=s[1], ms=s[2], mom=s[3], lr=0.1, rho=0.9,
                                                         momentum=0.5, epsilon=1e-3, grad=g))
    run("Adagrad", 1, lambda s, t, g: raw.ResourceApplyAdagrad(var=s[0], accum=s[1], lr=0.1, grad=g))
    run("Adadelta", 2, lambda s, t, g: raw.ResourceApplyAdadelta(var=s[0], accum=s[1], accum_update=s[2], lr=0.1,
                                                                 rho=0.9, epsilon=1e-3, grad=g))
    for name, power in (("Ftrl", -0.5), ("FtrlPower", -0.75)):
        run(name, 2, lambda s, t, g: raw.ResourceApplyFtrl(var=s[0], accum=s[1], linear=s[2], grad=g, lr=0.1, l1=0.25,
                                                           l2=0.5, lr_power=power))
    for name, power in (("FtrlV2", -0.5), ("FtrlV2Power", -0.75)):
        run(name, 2, lambda s, t, g: raw.ResourceApplyFtrlV2(var=s[0], accum=s[1], linear=s[2], grad=g, lr=0.1, l1=0.25,
                                                             l2=0.5, l2_shrinkage=0.3, lr_power=power))
    run("ProximalAdagrad", 1, lambda s, t, g: raw.ResourceApplyProximalAdagrad(var=s[0], accum=s[1], lr=0.1, l1=0.25,
                                                                               l2=0.5, grad=g))


print("""// Made by generate.py beside this file, from TensorFlow %s: do not edit.
#ifndef ESTIMATOR_OPS_TESTDATA_NEURAL_OPS_GOLDENS_H_
#define ESTIMATOR_OPS_TESTDATA_NEURAL_OPS_GOLDENS_H_

#include <vector>

namespace estimator::goldens {

// clang-format off""" % tf.__version__)
for write in (convolutions, pools, activations, softmaxes, batch_norms, optimizers):
    write()
print("""// clang-format on

}  // namespace estimator::goldens

#endif  // ESTIMATOR_OPS_TESTDATA_NEURAL_OPS_GOLDENS_H_""")
