//! Structure and code points of arguments, before anything looks at what they mean.
