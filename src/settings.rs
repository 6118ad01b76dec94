//! The environment as written to checked settings, all errors at once.
