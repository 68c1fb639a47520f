//! The command line of cssc.
fn main() {}
