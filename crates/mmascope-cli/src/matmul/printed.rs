//! The report of `mmascope matmul`, for people and as JSON.

use std::io::Write;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::Readings;
use crate::report::{self, Failure};
use crate::table::Table;
use crate::terminal;
use mmascope::array::ArrayReading;
use mmascope::dpa::{Addends, Unit};
use mmascope::gemm::{ErrorStatistics, Matrices, Schedule, Summary};
use mmascope::isa::Instruction;

/// What is printed.
pub(super) struct Report<'a> {
    pub(super) row: &'a Instruction,
    /// The operand types that it is the default of, when no instruction was named.
    pub(super) default_of: Option<String>,
    pub(super) unit: &'a Unit,
    pub(super) schedule: &'a Schedule,
    /// How it was computed.
    pub(super) method: String,
    pub(super) readings: Readings,
    pub(super) matrices: &'a Matrices,
    pub(super) given_k: usize,
    pub(super) time: Duration,
    pub(super) statistics: Option<ErrorStatistics>,
    pub(super) output: Option<&'a str>,
}

impl Report<'_> {
    fn steps(&self) -> usize {
        self.matrices.k() / self.unit.signature().k
    }

    fn products_per_second(&self) -> f64 {
        let products = self.matrices.outputs() as f64 * self.given_k as f64;
        products / self.time.as_secs_f64().max(1e-9)
    }

    pub(super) fn print(&self) -> Result<(), Failure> {
        let mut out = terminal::out();
        let (m, n, k) = (self.matrices.m(), self.matrices.n(), self.matrices.k());
        let signature = self.unit.signature();
        let row = self.row;
        let default = match &self.default_of {
            Some(types) => format!(" (the default of {types})"),
            None => String::new(),
        };
        writeln!(
            out,
            "instruction  {}:{}{default}",
            row.architecture, row.name
        )?;
        writeln!(out, "types        {signature}")?;
        for (argument, reading) in &self.readings {
            let ArrayReading {
                name, dtype, words, ..
            } = reading;
            let words = report::with_options(words);
            writeln!(out, "{argument:<12} {name}: {dtype}, {words}")?;
        }
        let padding = match k - self.given_k {
            0 => String::new(),
            zeros => format!(", of which {zeros} padding"),
        };
        let shape = self.matrices.d_shape();
        let batch = match shape[..] {
            [batch, _, _] => format!("{batch} products, "),
            _ => String::new(),
        };
        let steps = match self.steps() {
            1 => "1 step".to_owned(),
            steps => format!("{steps} steps"),
        };
        writeln!(
            out,
            "shape        {batch}M={m} N={n} K={k}{padding}; {steps} of K={}",
            signature.k
        )?;
        if !self.schedule.is_chain() {
            writeln!(out, "schedule     {}", self.schedule)?;
        }
        let format = self.schedule.format(self.unit);
        writeln!(
            out,
            "time         {:.3?}, {:.3e} products/s",
            self.time,
            self.products_per_second()
        )?;
        let size: Vec<String> = shape.iter().map(usize::to_string).collect();
        writeln!(
            out,
            "output       {}: {} {}",
            self.output.unwrap_or("D, not written"),
            size.join(" × "),
            format
        )?;
        if let Some(statistics) = &self.statistics {
            let terms = match self.unit.program().addends() {
                Addends::Product => "Σ|a·b|",
                _ => "Σ|a| + |b|",
            };
            print_statistics(&mut out, statistics, terms, format.name)?;
        }
        Ok(())
    }

    pub(super) fn json(&self) -> Map<String, Value> {
        let (m, n, k) = (self.matrices.m(), self.matrices.n(), self.matrices.k());
        let signature = self.unit.signature();
        let body = json!({
            "arch": self.row.architecture,
            "inst": self.row.name,
            "default_of": self.default_of,
            "a": signature.a.name,
            "b": signature.b.name,
            "c": signature.c.name,
            "d": self.schedule.format(self.unit).name,
            "schedule": self.schedule.to_string(),
            "method": self.method,
            "read": self.readings.iter().map(reading_json).collect::<Vec<_>>(),
            "batch": self.matrices.batch(),
            "m": m,
            "n": n,
            "k": self.given_k,
            "padded_k": k,
            "steps": self.steps(),
            "seconds": self.time.as_secs_f64(),
            "products_per_second": self.products_per_second(),
            "output": self.output,
            "statistics": self.statistics.as_ref().map(statistics_json),
        });
        match body {
            Value::Object(body) => body,
            _ => Map::new(),
        }
    }
}

fn reading_json((argument, reading): &(&'static str, ArrayReading)) -> Value {
    json!({
        "argument": argument,
        "file": reading.name,
        "dtype": reading.dtype,
        "as": reading.words,
        "warning": reading.warning,
    })
}

fn print_statistics(
    out: &mut impl Write,
    statistics: &ErrorStatistics,
    terms: &str,
    format: &str,
) -> Result<(), Failure> {
    let ErrorStatistics {
        outputs, sampled, ..
    } = statistics;
    writeln!(out, "\nErrors of {sampled} of {outputs} outputs:")?;
    let mut table = Table::new(&["error", "max", "mean", "median", "outputs"]);
    for (name, summary) in [
        ("relative to |exact|".to_owned(), statistics.relative),
        (
            format!("relative to {terms}"),
            statistics.relative_to_products,
        ),
        (format!("ULPs of {format}"), statistics.ulps),
    ] {
        let Summary {
            count,
            max,
            mean,
            median,
        } = summary;
        let [max, mean, median] = [max, mean, median].map(|error| match count {
            0 => "–".to_owned(),
            _ => format!("{error:.3e}"),
        });
        table.add_row([name, max, mean, median, count.to_string()]);
    }
    writeln!(out, "{}", table)?;
    writeln!(
        out,
        "exact result 0: {} ({} missed); exact result not finite: {}; exact result finite, result not: {}",
        statistics.exact_zeros,
        statistics.missed_zeros,
        statistics.exact_not_finite,
        statistics.result_not_finite
    )?;
    Ok(())
}

pub(crate) fn statistics_json(statistics: &ErrorStatistics) -> Value {
    let summary = |summary: &Summary| {
        // No error is not an error of 0.
        let of = |error: f64| (summary.count > 0).then_some(error);
        json!({
            "count": summary.count,
            "max": of(summary.max),
            "mean": of(summary.mean),
            "median": of(summary.median),
        })
    };
    json!({
        "outputs": statistics.outputs,
        "sampled": statistics.sampled,
        "exact_zeros": statistics.exact_zeros,
        "missed_zeros": statistics.missed_zeros,
        "exact_not_finite": statistics.exact_not_finite,
        "result_not_finite": statistics.result_not_finite,
        "relative": summary(&statistics.relative),
        "relative_to_products": summary(&statistics.relative_to_products),
        "ulps": summary(&statistics.ulps),
    })
}
