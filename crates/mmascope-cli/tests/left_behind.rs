//! Whatever a device starts ends with it: after a time-out, a wrong answer, a crash, at the end, and when
//! the program is interrupted.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SIGNATURE: &str = "a=f16 b=f16 c=f32 d=f32 k=4";

/// A device that starts `sleep`, notes its number, and goes on with these statements of a shell.
struct Device {
    folder: tempfile::TempDir,
}

impl Device {
    fn new(statements: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let note = folder.path().join("pid");
        // Written under another name, so that it is there only when it is whole.
        let script = format!(
            "sleep 300 >/dev/null 2>&1 </dev/null &\necho $! > {0}.part\nmv {0}.part {0}\n{statements}\n",
            note.display()
        );
        std::fs::write(folder.path().join("device.sh"), script).expect("the script");
        let line = r#"{"id":0,"a":"3c00000000000000","b":"3c00000000000000","c":"00000000"}"#;
        std::fs::write(folder.path().join("q.jsonl"), format!("{line}\n")).expect("the question");
        Self { folder }
    }

    fn subject(&self) -> String {
        format!("cmd:sh {}", self.folder.path().join("device.sh").display())
    }

    fn ask(&self, subject: &str, timeout: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mmascope"));
        command
            .args(["eval", "--subject", subject, "--signature", SIGNATURE])
            .args(["--timeout", timeout])
            .arg(self.folder.path().join("q.jsonl"));
        command
    }

    fn note(&self) -> PathBuf {
        self.folder.path().join("pid")
    }

    /// What the device started runs no longer.
    fn is_gone(&self) -> bool {
        let pid = std::fs::read_to_string(self.note()).expect("the device ran");
        let command = Path::new("/proc").join(pid.trim()).join("cmdline");
        // An ended process for which nobody waits has an empty command line.
        std::fs::read(command).map_or(true, |text| text.is_empty())
    }
}

fn until(what: &str, done: impl Fn() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < Duration::from_secs(9), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Answers every question with +0.
const ANSWERS: &str = r#"while read line; do
    if [ -z "$line" ]; then echo; else
        id=${line#*\"id\":}; echo "{\"id\":${id%%,*},\"d\":\"00000000\"}"
    fi
done"#;

#[test]
fn nothing_stays_behind_when_a_device_is_done_with() {
    let stays = format!("{ANSWERS}\nsleep 300");
    // (name, statements, exit status, message)
    let cases = [
        ("hangs", "sleep 300", 3, "no answer within 2 s"),
        (
            "hangs and listens to nobody",
            "trap '' TERM INT HUP\nwhile :; do sleep 1; done",
            3,
            "no answer within 2 s",
        ),
        (
            "talks nonsense",
            "echo nonsense; sleep 300",
            3,
            "malformed answer 'nonsense'",
        ),
        ("crashes", "kill -SEGV $$", 3, "signal: 11"),
        ("leaves", "exit 5", 3, "exit status: 5"),
        ("answers", ANSWERS, 0, ""),
        ("answers and stays", &stays, 0, ""),
    ];
    for (name, statements, status, words) in cases {
        let device = Device::new(statements);
        let started = Instant::now();
        // A busy machine may be slow to start a shell.
        let timeout = if words.contains("within 2 s") {
            "2"
        } else {
            "30"
        };
        let output = device
            .ask(&device.subject(), timeout)
            .output()
            .expect("it runs");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{name}: {message}");
        assert!(message.contains(words), "{name}: {message}");
        assert!(started.elapsed() < Duration::from_secs(20), "{name}");
        until(name, || device.is_gone());
    }
}

/// The inner program is asked to end before it is made to, so that it can end its own device.
#[test]
fn devices_of_devices_end_too() {
    let device = Device::new("sleep 300");
    let inner = format!(
        "cmd:{} eval --timeout 300 --signature '{SIGNATURE}' --subject {}",
        shell_words::quote(env!("CARGO_BIN_EXE_mmascope")),
        shell_words::quote(&device.subject())
    );
    let output = device.ask(&inner, "3").output().expect("it runs");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{message}");
    until("the inner device", || device.is_gone());
}

#[test]
fn an_interrupt_ends_devices_too() {
    for (signal, statements) in [
        ("-INT", "sleep 300"),
        ("-TERM", "sleep 300"),
        ("-INT", "trap '' TERM INT HUP\nwhile :; do sleep 1; done"),
    ] {
        let device = Device::new(statements);
        let program = device
            .ask(&device.subject(), "300")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        until("the device runs", || device.note().exists());
        let sent = Command::new("kill")
            .args([signal, &program.id().to_string()])
            .status();
        assert!(sent.is_ok_and(|status| status.success()));
        let output = program.wait_with_output().expect("ended");
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            (output.status.code(), &*message),
            (Some(130), ""),
            "{signal}"
        );
        until(signal, || device.is_gone());
    }
}
