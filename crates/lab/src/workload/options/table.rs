//! The options as the manual's table shows them.
