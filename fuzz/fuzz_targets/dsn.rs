#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp_server_suite::postgres::dsn::fuzz::strings(data));
