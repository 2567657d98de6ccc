//! Drives headless Chromium by its own protocol, over two pipes: what a person does at the keyboard and with the mouse.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// How long the browser may take for one answer.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    session: Option<String>,
    next: u64,
    /// Errors that pages reported.
    pub(crate) complaints: Vec<String>,
}

/// A browser's program, or `None`.
fn program() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|program| program.is_file())
}

impl Browser {
    /// Starts a browser with a page; `None`, printed, where there is none.
    pub(crate) fn start(profile: &Path, width: u32, height: u32) -> Option<Self> {
        let Some(program) = program() else {
            println!("skipped: no Chromium here");
            return None;
        };
        // The protocol's pipes are 3 and 4; the shell makes them of this process's two.
        let mut child = Command::new("sh")
            .args([
                "-c",
                "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1",
                "sh",
            ])
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
            ])
            .args([
                "--remote-debugging-pipe",
                "--disable-dev-shm-usage",
                "--no-first-run",
            ])
            .arg(format!("--window-size={width},{height}"))
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let (to, out) = (
            child.stdin.take().expect("a pipe"),
            child.stdout.take().expect("a pipe"),
        );
        let (send, from) = channel();
        thread::spawn(move || {
            let mut reader = BufReader::new(out);
            let mut message = Vec::new();
            while reader
                .read_until(0, &mut message)
                .is_ok_and(|length| length > 0)
            {
                message.pop();
                if let Ok(value) = serde_json::from_slice(&message)
                    && send.send(value).is_err()
                {
                    break;
                }
                message.clear();
            }
        });
        let mut browser = Self {
            child,
            to,
            from,
            session: None,
            next: 0,
            complaints: Vec::new(),
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attached = browser.call(
            "Target.attachToTarget",
            json!({"targetId": target["targetId"], "flatten": true}),
        );
        browser.session = Some(
            attached["sessionId"]
                .as_str()
                .expect("a session")
                .to_owned(),
        );
        for domain in ["Page.enable", "Runtime.enable", "Log.enable", "DOM.enable"] {
            browser.call(domain, json!({}));
        }
        Some(browser)
    }

    /// Asks for something and waits for the answer.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.next += 1;
        let id = self.next;
        let mut message = json!({"id": id, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let text = message.to_string();
        self.to
            .write_all(text.as_bytes())
            .expect("the browser listens");
        self.to.write_all(&[0]).expect("the browser listens");
        self.to.flush().expect("the browser listens");
        loop {
            let answer = self
                .from
                .recv_timeout(PATIENCE)
                .unwrap_or_else(|error| panic!("{method}: {error}"));
            if answer["id"] == id {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.note(&answer);
        }
    }

    fn note(&mut self, event: &Value) {
        let parameters = &event["params"];
        match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => self
                .complaints
                .push(parameters["exceptionDetails"].to_string()),
            Some("Log.entryAdded") if parameters["entry"]["level"] == "error" => {
                self.complaints.push(parameters["entry"].to_string());
            }
            _ => {}
        }
    }

    /// The value of an expression in the page.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let answer = self.call(
            "Runtime.evaluate",
            json!({"expression": expression, "returnByValue": true, "awaitPromise": true}),
        );
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {}",
            answer["exceptionDetails"]
        );
        answer["result"]["value"].clone()
    }

    /// A text in the page.
    pub(crate) fn text(&mut self, expression: &str) -> String {
        let value = self.value(expression);
        value
            .as_str()
            .unwrap_or_else(|| panic!("{expression}: {value}"))
            .to_owned()
    }

    /// Waits until an expression holds.
    pub(crate) fn until(&mut self, expression: &str) {
        for _ in 0..600 {
            if self.value(expression) == json!(true) {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("never: {expression}");
    }

    /// Opens an address and waits until its page is complete.
    pub(crate) fn open(&mut self, address: &str) {
        self.call("Page.navigate", json!({"url": "about:blank"}));
        self.call("Page.navigate", json!({"url": address}));
        self.until(&format!(
            "location.href.split('#')[0].split('?')[0] === {} && document.readyState === 'complete'",
            json!(address.split(['#', '?']).next())
        ));
    }

    /// The middle of an element on the screen.
    fn place(&mut self, selector: &str) -> (f64, f64) {
        let found = self.value(&format!(
            "(() => {{ const it = document.querySelector({0}); it.scrollIntoView({{block: 'center', behavior: 'instant'}}); \
             const box = it.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()",
            json!(selector)
        ));
        let number = |at: usize| {
            found[at]
                .as_f64()
                .unwrap_or_else(|| panic!("{selector}: {found}"))
        };
        (number(0), number(1))
    }

    /// Clicks with the mouse.
    pub(crate) fn click(&mut self, selector: &str) {
        let (x, y) = self.place(selector);
        for kind in ["mousePressed", "mouseReleased"] {
            self.call(
                "Input.dispatchMouseEvent",
                json!({"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}),
            );
        }
    }

    /// Presses a key: `Tab`, `Enter`, `ArrowRight`, `Space`, …
    pub(crate) fn press(&mut self, key: &str) {
        let (key, text, code) = match key {
            "Space" => (" ", Some(" "), 32),
            "Enter" => ("Enter", Some("\r"), 13),
            "Tab" => ("Tab", None, 9),
            "Escape" => ("Escape", None, 27),
            "ArrowLeft" => ("ArrowLeft", None, 37),
            "ArrowUp" => ("ArrowUp", None, 38),
            "ArrowRight" => ("ArrowRight", None, 39),
            "ArrowDown" => ("ArrowDown", None, 40),
            other => panic!("{other}: no such key"),
        };
        let mut down =
            json!({"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": code});
        if let Some(text) = text {
            down["text"] = json!(text);
        }
        self.call("Input.dispatchKeyEvent", down);
        self.call(
            "Input.dispatchKeyEvent",
            json!({"type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": code}),
        );
    }

    /// Types a text where the cursor is, in place of what is there.
    pub(crate) fn write(&mut self, selector: &str, text: &str) {
        self.click(selector);
        self.value(&format!(
            "document.querySelector({}).select()",
            json!(selector)
        ));
        self.call("Input.insertText", json!({"text": text}));
    }

    /// Drops files on an element.
    pub(crate) fn drop_files(&mut self, selector: &str, files: &[&Path]) {
        let (x, y) = self.place(selector);
        let files: Vec<String> = files
            .iter()
            .map(|file| file.display().to_string())
            .collect();
        let data = json!({"items": [], "files": files, "dragOperationsMask": 1});
        for kind in ["dragEnter", "dragOver", "drop"] {
            self.call(
                "Input.dispatchDragEvent",
                json!({"type": kind, "x": x, "y": y, "data": data}),
            );
        }
    }

    /// Sets the size of the window, and light or dark.
    pub(crate) fn look(&mut self, width: u32, height: u32, dark: bool) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}),
        );
        let scheme = if dark { "dark" } else { "light" };
        self.call(
            "Emulation.setEmulatedMedia",
            json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]}),
        );
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Its own process and no other: the shell became it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
