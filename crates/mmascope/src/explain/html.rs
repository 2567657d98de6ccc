//! The page.
use super::{Difference, Trace};
/// x
pub fn page(title: &str, trace: &Trace) -> String {
    format!("{title}{trace}")
}
/// x
pub fn page_against(difference: &Difference<'_>) -> String {
    format!("{difference}")
}
