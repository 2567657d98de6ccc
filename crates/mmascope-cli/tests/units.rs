//! Units in C, behind the plugin ABI and the process protocol: `infer` says what they are, and the row that
//! it prints gives their bits.

#[path = "units/device.rs"]
mod device;

use std::collections::HashMap;

use device::{Device, Interface};
use serde_json::Value;

/// Settings of examples/devices/unit.c with the parameters to be found.
const UNITS: &str = include_str!("units/units.txt");

/// Settings and expected parameters of every unit.
fn units() -> Vec<(&'static str, Vec<(&'static str, String)>)> {
    let lines = UNITS.lines().filter(|line| !line.starts_with('#'));
    let lines = lines.filter(|line| !line.trim().is_empty());
    lines
        .map(|line| {
            let (settings, expected) = line.split_once('|').expect("settings | parameters");
            let expected = expected.split_whitespace().map(|word| {
                let (name, value) = word.split_once('=').expect("NAME=VALUE");
                (name, value.replace('_', " "))
            });
            (settings.trim(), expected.collect())
        })
        .collect()
}

/// Whether a list of values, some of them ranges, has this one.
fn has(values: &Value, value: &str) -> bool {
    let within = |text: &str| {
        let (low, high) = text.split_once("..")?;
        let number = |text: &str| text.parse::<i64>().ok();
        Some((number(low)?..=number(high)?).contains(&number(value)?))
    };
    values.as_array().is_some_and(|values| {
        let mut texts = values.iter().filter_map(Value::as_str);
        texts.any(|text| text == value || within(text) == Some(true))
    })
}

/// What is wrong with a result of `infer --json`, if anything.
fn wrong(found: &Value, expected: &[(&str, String)]) -> Vec<String> {
    if found["outcome"] != "model" {
        return vec![format!("no model; nearest {}", found["nearest"])];
    }
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let open: HashMap<&str, &Value> = found["unobservable"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|open| Some((open["parameter"].as_str()?, &open["values"])))
        .collect();
    let differs = |(name, wanted): &&(&str, String)| {
        let own = match *name {
            "algorithm" => text(&found["algorithm"]),
            name => text(&found["parameters"][name]),
        };
        let own = own.strip_prefix("k=").unwrap_or(&own);
        let is_stated = own == wanted || own.split(' ').next() == Some(wanted);
        !is_stated && !open.get(name).is_some_and(|values| has(values, wanted))
    };
    let wrong = expected.iter().filter(differs);
    wrong
        .map(|(name, wanted)| format!("{name} is not {wanted}"))
        .collect()
}

/// Every `of`-th unit from `first` on is recovered through an interface.
fn recovered(interface: Interface, first: usize, of: usize) {
    let Some(device) = Device::compiled(interface) else {
        return;
    };
    let only = std::env::var("MMASCOPE_UNIT").ok();
    let mut failures = Vec::new();
    for (settings, expected) in units().into_iter().skip(first).step_by(of) {
        if only.as_ref().is_some_and(|only| !settings.contains(only)) {
            continue;
        }
        let found = device.infer(settings);
        let mut wrong = wrong(&found, &expected);
        // A process answers the same questions with the same code: its row is the plugin's.
        if wrong.is_empty() && interface == Interface::Plugin {
            wrong.extend(device.mismatch(settings, &found));
        }
        println!(
            "{settings}: {} queries, {:.2} s: {}",
            found["queries"], found["seconds"], found["notation"]
        );
        if !wrong.is_empty() {
            failures.push(format!(
                "{settings}: {}: {}",
                wrong.join(", "),
                found["notation"]
            ));
        }
    }
    assert!(
        failures.is_empty(),
        "{} failures\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn there_are_enough_units() {
    let units = units();
    assert!(units.len() >= 50, "{}", units.len());
    assert!(units.iter().all(|(_, expected)| !expected.is_empty()));
}

// Halves, so that two run at once.
#[test]
fn plugins_are_recovered() {
    recovered(Interface::Plugin, 0, 2);
}

#[test]
fn other_plugins_are_recovered() {
    recovered(Interface::Plugin, 1, 2);
}

#[test]
fn processes_are_recovered() {
    recovered(Interface::Process, 0, 2);
}

#[test]
fn other_processes_are_recovered() {
    recovered(Interface::Process, 1, 2);
}

#[test]
fn a_unit_that_says_nothing_sensible_is_refused() {
    for interface in [Interface::Plugin, Interface::Process] {
        let Some(device) = Device::compiled(interface) else {
            return;
        };
        let output = device.run("L=4 speed=11", &["infer"], &[]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{message}");
        assert!(message.contains("speed"), "{message}");
    }
}
