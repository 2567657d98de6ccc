//! eval on a pipe: the process protocol, with a peer that waits for its answers.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;

use super::process::{NAME, answered, command, question};

/// The program on a pipe. Its lines arrive through a channel, so that waiting has an end.
struct Peer {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Peer {
    fn start(arguments: &[&str]) -> Self {
        let mut child = command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                if sender.send(line.expect("UTF-8")).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Self {
            child,
            stdin,
            lines,
        }
    }

    fn write(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().expect("still open");
        stdin.write_all(text.as_bytes()).expect("written");
        stdin.flush().expect("flushed");
    }

    /// The answers up to the empty line.
    fn answers(&self) -> Vec<Value> {
        let mut found = Vec::new();
        loop {
            let line = self.lines.recv_timeout(Duration::from_secs(10));
            let line = line.unwrap_or_else(|error| panic!("{error} after {} answers", found.len()));
            if line.is_empty() {
                return found;
            }
            found.push(serde_json::from_str(&line).expect("JSON"));
        }
    }

    fn end(mut self) -> i32 {
        drop(self.stdin.take());
        let left = self.lines.recv_timeout(Duration::from_secs(10));
        assert!(left.is_err(), "nothing comes after the end: {left:?}");
        self.child
            .wait()
            .expect("it ends")
            .code()
            .expect("no signal")
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn numbered(id: i64, c: &str) -> String {
    question(c).replace("{\"arch\"", &format!("{{\"id\":{id},\"arch\"")) + "\n"
}

#[test]
fn answers_come_before_the_end_of_input() {
    let mut peer = Peer::start(&["eval"]);
    for round in 0..50 {
        let size = [1, 3, 0, 100][round % 4];
        let batch: String = (0..size).map(|id| numbered(id, "3f800000")).collect();
        peer.write(&format!("{batch}\n"));
        let answers = peer.answers();
        assert_eq!(answers.len(), size as usize, "round {round}");
        for (id, answer) in answers.iter().enumerate() {
            assert_eq!(
                (&answer["id"], &answer["d"]),
                (&id.into(), &"40a00000".into())
            );
        }
    }
    assert_eq!(peer.end(), 0);
}

/// A peer that writes the whole batch, and only then reads, must not block; nor one whose whole
/// input is one empty line.
#[test]
fn the_largest_batch_does_not_block() {
    let mut peer = Peer::start(&["eval"]);
    peer.write("\n");
    assert!(peer.answers().is_empty());
    for _ in 0..2 {
        let batch: String = (0..4096)
            .map(|id| numbered(id, &format!("{:08x}", 0x4b00_0000 + id)))
            .collect();
        peer.write(&batch);
        peer.write("\n");
        let answers = peer.answers();
        assert_eq!(answers.len(), 4096);
        for (id, answer) in answers.iter().enumerate() {
            assert_eq!(answer["id"], id);
            assert_eq!(answer["d"], format!("{:08x}", 0x4b00_0004 + id));
        }
    }
    assert_eq!(peer.end(), 0);
}

#[test]
fn errors_stand_in_their_place() {
    let mut peer = Peer::start(&["eval"]);
    let batch = [
        numbered(1, "3f800000"),
        numbered(2, "3f8000"),
        "no JSON\n".to_owned(),
        numbered(4, "00000000").replace("volta", "volt"),
        numbered(5, "00000000").replace("volta", "sm_103"),
        numbered(-6, "00000000").replace("}", ",\"note\":\"é\",\"d\":\"old\"}"),
        numbered(7, "7fc00000"),
    ];
    peer.write(&batch.concat());
    peer.write("\n");
    let answers = peer.answers();
    let column = |key: &str| -> Vec<Value> { answers.iter().map(|a| a[key].clone()).collect() };
    let null = Value::Null;
    let ids = [
        1.into(),
        2.into(),
        null.clone(),
        4.into(),
        5.into(),
        Value::from(-6),
        7.into(),
    ];
    assert_eq!(column("id"), ids);
    let d = column("d");
    let expected = [
        "40a00000".into(),
        null.clone(),
        null.clone(),
        null.clone(),
        null,
    ];
    assert_eq!(d[..5], expected);
    // An old answer that cannot be one is an error as well: it is read before it is replaced.
    assert_eq!(d[6], "7fffffff");
    let errors = column("error");
    for (index, part) in [
        (1, "digits"),
        (2, "not a vector line"),
        (3, "nearest: volta"),
        (4, "not modelled"),
    ] {
        assert!(
            errors[index].as_str().expect("a text").contains(part),
            "{errors:?}"
        );
    }
    // The process goes on after errors, and remembers them in its exit status.
    peer.write(&format!("{}\n", numbered(8, "3f800000")));
    assert_eq!(peer.answers()[0]["d"], "40a00000");
    assert_eq!(peer.end(), 2);
}

#[test]
fn input_may_end_without_an_empty_line() {
    let mut peer = Peer::start(&["eval", "--arch", "volta", "--inst", NAME]);
    peer.write(r#"{"a":"3c003c003c003c00","b":"3c003c003c003c00","c":"3f800000"}"#);
    drop(peer.stdin.take());
    let line = peer
        .lines
        .recv_timeout(Duration::from_secs(10))
        .expect("an answer");
    assert!(line.ends_with(r#""d":"40a00000"}"#), "{line}");
    assert_eq!(peer.end(), 0);
}

/// An interrupt ends it with status 130.
#[test]
fn an_interrupt_is_130() {
    let mut peer = Peer::start(&["eval"]);
    peer.write(&format!("{}\n", numbered(1, "3f800000")));
    assert_eq!(peer.answers().len(), 1);
    let id = peer.child.id().to_string();
    let kill = std::process::Command::new("kill")
        .args(["-INT", &id])
        .status();
    assert!(kill.expect("kill is there").success());
    assert_eq!(peer.child.wait().expect("it ends").code(), Some(130));
}

/// Whoever reads no further still gets the answer as the exit status.
#[test]
fn a_reader_that_leaves_does_not_change_the_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("wrong.jsonl");
    let wrong = answered("3f800000", "12345678") + "\n";
    std::fs::write(&file, wrong.repeat(2000)).expect("a file");
    let file = file.to_string_lossy().into_owned();
    let pair = "volta:mma.m8n8k4.f32.f16.f16.f32,hopper:mma.m16n8k16.f32.f16.f16.f32";
    for arguments in [
        &["check", &file][..],
        &["diff", "--arch", pair, "--family", "boundary", "-n", "200"],
        &["reveal", "model:cdna3:v_mfma_f32_16x16x32_fp8_fp8"],
    ] {
        let mut child = command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        drop(child.stdout.take());
        let status = child.wait().expect("it ends");
        assert_eq!(status.code(), Some(1), "{arguments:?}");
    }
}
