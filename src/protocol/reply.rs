//! Results and rejections, per era.
