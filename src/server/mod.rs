//! The threads that carry a call through the layers.
