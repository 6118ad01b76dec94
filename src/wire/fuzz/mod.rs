//! Fuzz targets for bytes that come in and go out. Like every target they run on any bytes and panic on a find.

pub mod frames;
pub mod json;
pub mod ascii;
