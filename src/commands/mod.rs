//! What the program can be asked to do: one module a command.
