//! `conformance.md` §7: every NaN in C gives one NaN: 7FFFFFFF, and 7FFF for f16 results.

use super::case::{group, only_c};
use super::subject::{rows_to_f16, rows_to_f32};

#[test]
fn nans_of_f32() {
    group("§7 NaN in an f32 C", |group| {
        for row in rows_to_f32() {
            // Payloads of one bit, the largest, and every 16,411th (a prime): both signs.
            let payloads = (0..23).map(|bit| 1 << bit).chain([0x007f_ffff]);
            let spread = (1..0x0080_0000_u32).step_by(16_411);
            for payload in payloads.chain(spread) {
                for sign in [0x7f80_0000, 0xff80_0000] {
                    let case = only_c(&format!("#{:08x}", sign | payload));
                    group.check(&row.subject, &case, "#7fffffff");
                }
            }
        }
    });
}

#[test]
fn nans_of_f16() {
    group("§7 NaN in an f16 C", |group| {
        for row in rows_to_f16() {
            for payload in 1..0x0400_u32 {
                for sign in [0x7c00, 0xfc00] {
                    let case = only_c(&format!("#{:04x}", sign | payload));
                    group.check(&row.subject, &case, "#7fff");
                }
            }
        }
    });
}
