// One pixel in hue, saturation and value.
#ifndef ESTIMATOR_IMAGE_HSV_H_
#define ESTIMATOR_IMAGE_HSV_H_

namespace estimator::image {

// Both change three floats, RGB, in place. They are TensorFlow's kernels AdjustSaturation and
// AdjustHue, in their order of operations. A pixel that is not finite gives an unspecified pixel.
void ScaleSaturation(float* rgb, float factor);
// `delta`: in [-1, 1].
void ShiftHue(float* rgb, float delta);

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_HSV_H_
