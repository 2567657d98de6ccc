//! The report of a probe: features with their tests, as values, JSON and a page.

use serde_json::{Map, Value, json};

use crate::dpa::Signature;

/// The message for a device that answers the same question differently.
pub const NOISE: &str = "noise: the same input gave different answers; no other finding is certain";

/// A feature with the tests behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Feature {
    /// A short name.
    pub name: &'static str,
    /// Section of the probing specification, §1.
    pub section: u32,
    /// The name for people.
    pub title: String,
    /// The finding in a word or number.
    pub value: String,
    /// The finding in words.
    pub conclusion: String,
    /// The questions and answers.
    pub tests: Vec<Test>,
}

impl Feature {
    /// What it is about, in a word or two.
    #[must_use]
    pub fn topic(&self) -> &'static str {
        match self.section {
            1 => "subnormals",
            2 => "products",
            3 => "order",
            4 => "width",
            5 => "rounding",
            6 => "normalisation",
            7 => "monotonicity",
            8 => "smallest exponent",
            9 => "overflow and special values",
            _ => "result",
        }
    }

    /// The inputs and outputs, open; nothing for what is concluded from other features.
    fn questions(&self) -> String {
        if self.tests.is_empty() {
            return String::new();
        }
        let tests: String = self.tests.iter().map(Test::row).collect();
        let count = match self.tests.len() {
            1 => "1 test".to_owned(),
            many => format!("{many} tests"),
        };
        format!(
            "<details open><summary>{count}</summary><div class=\"scroll\"><table><tr><th>input</th><th>output</th>\
             <th>value</th></tr>\n{tests}</table></div></details>"
        )
    }
}

/// One question and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// The input in words.
    pub what: String,
    /// The input as a vector line.
    pub input: String,
    /// The word that came back.
    pub output: String,
    /// Its value.
    pub reading: String,
}

/// Every feature of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Features {
    /// The subject as the user named it.
    pub subject: String,
    /// Its formats and K.
    pub signature: Signature,
    /// The features, in the order of the specification.
    pub features: Vec<Feature>,
    /// Queries asked.
    pub queries: u64,
}

impl Features {
    /// The finding of a feature.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        let feature = self.features.iter().find(|feature| feature.name == name);
        feature.map(|feature| &*feature.value)
    }

    /// Whether the device gave different answers to the same question.
    #[must_use]
    pub fn is_noisy(&self) -> bool {
        self.value("repeated") == Some("noise")
    }

    /// The report as `probe --json` gives it.
    #[must_use]
    pub fn json(&self) -> Map<String, Value> {
        let features: Vec<Value> = self
            .features
            .iter()
            .map(|feature| {
                let tests: Vec<Value> = feature
                    .tests
                    .iter()
                    .map(|test| {
                        json!({
                            "what": test.what,
                            "input": test.input,
                            "output": test.output,
                            "reading": test.reading,
                        })
                    })
                    .collect();
                json!({
                    "feature": feature.name,
                    "section": feature.section,
                    "title": feature.title,
                    "value": feature.value,
                    "conclusion": feature.conclusion,
                    "tests": tests,
                })
            })
            .collect();
        let value = json!({
            "subject": self.subject,
            "signature": self.signature.to_string(),
            "features": features,
            "queries": self.queries,
            "noise": self.is_noisy(),
        });
        match value {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }

    /// A page for a browser, complete in itself.
    #[must_use]
    pub fn page(&self) -> String {
        let body = format!(
            "<p>{}; {} queries</p>\n{}{}",
            escaped(&self.signature.to_string()),
            self.queries,
            self.warning(),
            self.table()
        );
        page(&format!("Features of {}", self.subject), &body)
    }

    /// The warning above the table of a noisy device.
    fn warning(&self) -> String {
        match self.is_noisy() {
            true => format!("<p><b>{NOISE}</b></p>\n"),
            false => String::new(),
        }
    }

    fn table(&self) -> String {
        let mut body = String::new();
        for feature in &self.features {
            body += &format!(
                "<tr><td>{}</td><td>{}</td><td><b>{}</b></td><td>{}{}</td></tr>\n",
                feature.topic(),
                escaped(&feature.title),
                escaped(&feature.value),
                escaped(&feature.conclusion),
                feature.questions(),
            );
        }
        format!(
            "<div class=\"scroll\"><table class=\"features\"><tr><th>about</th><th>feature</th><th>value</th><th>conclusion</th></tr>\n\
             {body}</table></div>\n"
        )
    }
}

impl Test {
    fn row(&self) -> String {
        let cells = [&self.what, &self.output, &self.reading];
        let cells: String = cells
            .iter()
            .map(|text| format!("<td>{}</td>", escaped(text)))
            .collect();
        format!("<tr title=\"{}\">{cells}</tr>\n", escaped(&self.input))
    }
}

/// Two devices side by side, and the reports of both.
#[must_use]
pub fn page_of_both(left: &Features, right: &Features) -> String {
    let mut rows = String::new();
    let only_right = |feature: &&Feature| left.value(feature.name).is_none();
    let features = left.features.iter();
    for feature in features.chain(right.features.iter().filter(only_right)) {
        let own = left.value(feature.name).unwrap_or("-");
        let other = right.value(feature.name).unwrap_or("-");
        let mark = if other == own {
            ""
        } else {
            " class=\"differs\""
        };
        rows += &format!(
            "<tr{mark}><td>{}</td><td>{}</td><td>{}</td></tr>\n",
            escaped(&feature.title),
            escaped(own),
            escaped(other)
        );
    }
    let (l, r) = (escaped(&left.subject), escaped(&right.subject));
    let body = format!(
        "<table><tr><th>feature</th><th>{l}</th><th>{r}</th></tr>\n{rows}</table>\n\
         <h2>{l}</h2>\n{}{}<h2>{r}</h2>\n{}{}",
        left.warning(),
        left.table(),
        right.warning(),
        right.table()
    );
    page(&format!("{} and {}", left.subject, right.subject), &body)
}

fn page(title: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{title}</title>\n<style>{STYLE}</style></head>\n<body><h1>{title}</h1>\n{body}</body></html>\n"
    )
}

const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;\
color:#1c2330;background:#fff}table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;\
padding:.3rem .6rem;border-bottom:1px solid #d9dee6}details table{font:13px ui-monospace,monospace}\
summary{color:#5a6577;cursor:pointer}h1,h2{overflow-wrap:anywhere}.scroll{overflow-x:auto}.differs td{font-weight:600;background:#fff3d6}@media(prefers-color-scheme:dark){body{color:#dfe5ee;background:#12161d}\
td,th{border-color:#2c3542}summary{color:#9aa5b4}.differs td{background:#3a2f12}}\
@media(max-width:700px){h1{font-size:1.4rem}.features>tbody>tr,.features>tbody>tr>td{display:block;border:0}\
.features>tbody>tr{border-bottom:1px solid #8a8f9a;padding:.4rem 0}.features>tbody>tr:first-child{display:none}}";

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
