//! Units outside the model space are reported as such.
