//! Writes the result as `infer --json` prints it, and questions as vector lines.

use serde_json::{Map, Value, json};

use super::row::{algorithm, parameters};
use super::{Found, Inference, InferenceExample, Outcome};
use crate::dpa::OperandWords;
use crate::dpa::Signature;
use crate::infer::answer_text;
use crate::vector::{Answer, question};

/// A case as a vector line of a device that is no row.
pub(crate) fn line(signature: &Signature, case: &OperandWords, answer: Option<Answer>) -> String {
    let mut line = question(
        "dut",
        &signature.to_string(),
        &[],
        signature,
        &case.operands(),
    );
    if let Some(answer) = answer {
        line.pop();
        line += &format!(",\"d\":\"{}\"}}", answer_text(answer, signature));
    }
    line
}

impl Inference {
    /// The result as `infer --json` gives it.
    #[must_use]
    pub fn json(&self) -> Map<String, Value> {
        let (outcome, reason) = match &self.outcome {
            Outcome::Model(_) => ("model", None),
            Outcome::NoModel { .. } => ("no-model", Some("no model in the space fits")),
            Outcome::Noise { .. } => ("noise", Some("the same input gave different answers")),
        };
        // Every key is there, whatever came out.
        let mut value = json!({
            "subject": self.subject,
            "signature": self.signature.to_string(),
            "outcome": outcome,
            "row": null,
            "algorithm": null,
            "parameters": {},
            "equivalent": [],
            "unobservable": [],
            "rejected": [],
            "rejected_count": 0,
            "verified": {"trials": self.trials, "mismatches": 0},
            "confirmed": {"trials": self.confirmed, "mismatches": 0},
            "queries": self.queries,
            "seconds": self.seconds,
            "reached_limit": self.reached_limit,
        });
        if let Some(reason) = reason {
            value["reason"] = reason.into();
        }
        match &self.outcome {
            Outcome::Model(found) => found.add_to(&mut value, &self.subject),
            Outcome::NoModel {
                nearest,
                agreeing,
                example,
            } => {
                value["nearest"] = nearest.as_ref().map(ToString::to_string).into();
                value["agreeing"] = (*agreeing).into();
                let example = example.as_ref();
                value["verified"]["mismatches"] = u64::from(example.is_some()).into();
                value["counter_example"] = example.map(|e| e.json(&self.signature)).into();
            }
            Outcome::Noise { case, answers } => {
                value["counter_example"] = json!({
                    "input": line(&self.signature, case, None),
                    "answers": answers.map(|answer| answer_text(answer, &self.signature)),
                });
            }
        }
        match value {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }
}

impl InferenceExample {
    /// The example as JSON.
    #[must_use]
    pub fn json(&self, signature: &Signature) -> Value {
        json!({
            "input": line(signature, &self.case, None),
            "device": answer_text(self.device, signature),
            "model": answer_text(Answer::Word(self.model), signature),
        })
    }
}

impl Found {
    fn add_to(&self, value: &mut Value, subject: &str) {
        let unobservable = self
            .unobservable
            .iter()
            .map(|open| json!({"parameter": open.parameter, "values": open.values}));
        let rejected = self
            .rejected
            .iter()
            .map(|rejected| json!({"row": rejected.row, "input": rejected.input}));
        value["row"] = self.row(subject).into();
        value["notation"] = self.program.to_string().into();
        value["algorithm"] = algorithm(&self.program).into();
        value["parameters"] = parameters(&self.program).into();
        value["equivalent"] = self.equivalent.clone().into();
        value["unobservable"] = unobservable.collect();
        value["rejected"] = rejected.collect();
        value["rejected_count"] = self.rejected_count.into();
    }
}
