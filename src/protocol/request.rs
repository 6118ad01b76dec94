//! The closed set of MCP messages a client may send, per era.
