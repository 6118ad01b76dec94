//! TEMP.
crate::tools::files::temp_tool!(SystemMetrics, std::path::PathBuf);
