//! The five revisions, the two eras, and everything that differs between them.
