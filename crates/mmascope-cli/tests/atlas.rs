//! `mmascope atlas`: wrong arguments, the folder, and the server of this machine.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_mmascope"))
}

fn run(arguments: &[&str]) -> Output {
    program()
        .arg("atlas")
        .args(arguments)
        .output()
        .expect("the program runs")
}

fn refused(arguments: &[&str], part: &str) {
    let output = run(arguments);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    assert!(message.contains(part), "{arguments:?}: {message}");
}

#[test]
fn wrong_arguments_are_refused_before_any_work() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| folder.path().join(name).display().to_string();
    refused(&[], "-o FOLDER");
    let text = place("text.wasm");
    std::fs::write(&text, "no module").expect("a file");
    refused(
        &["-o", &place("site"), "--module", &text],
        "no WebAssembly module",
    );
    refused(
        &["-o", &place("site"), "--module", &place("nothing.wasm")],
        "nothing.wasm",
    );
    // A folder with anything else in it is not replaced.
    std::fs::create_dir(place("mine")).expect("a folder");
    std::fs::write(place("mine/notes.html"), "mine").expect("a file");
    refused(&["-o", &place("mine")], "notes.html");
    assert!(std::fs::read(place("mine/notes.html")).is_ok());
    assert!(!PathBuf::from(place("site")).exists());
}

/// A server that is ended with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a server answers to a request.
fn asked(port: u16, request: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    stream.write_all(request.as_bytes()).expect("a request");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn the_site_is_offered_on_this_machine_alone_and_kept_while_it_is_fresh() {
    // (The folder stays between runs of the tests, as long as the program does: a site that is up to date is not made
    // again.)
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("atlas-plain");
    let changed = |path: PathBuf| std::fs::metadata(path).and_then(|it| it.modified()).ok();
    if changed(folder.join("atlas.json")) < changed(env!("CARGO_BIN_EXE_mmascope").into()) {
        let _ = std::fs::remove_dir_all(&folder);
    }
    let isa = folder.with_extension("txt");
    std::fs::write(
        &isa,
        "arch mychip\ndot | f16 x f16 + f32 -> f32 | m8n8k12 | t-fdpa L=12 F=20 e0=-126 -> rne f32 | open",
    )
    .expect("a file");
    let mut child = program()
        .arg("--isa")
        .arg(&isa)
        .args(["atlas", "--serve=0", "-o"])
        .arg(&folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program runs");
    let out = child.stdout.take().expect("a pipe");
    let server = Server(child);
    let mut line = String::new();
    BufReader::new(out).read_line(&mut line).expect("a line");
    let port = line
        .strip_prefix("http://127.0.0.1:")
        .and_then(|rest| rest.split('/').next());
    let port: u16 = port
        .and_then(|port| port.parse().ok())
        .unwrap_or_else(|| panic!("{line}"));
    let host = format!("Host: 127.0.0.1:{port}\r\n\r\n");
    let get = |target: &str| asked(port, &format!("GET {target} HTTP/1.1\r\n{host}"));
    let index = get("/");
    assert!(
        index.starts_with("HTTP/1.1 200 OK") && index.contains("text/html"),
        "{index}"
    );
    assert!(
        index.contains("<h1>What matrix units compute</h1>") && index.contains("mychip"),
        "the user's unit is there"
    );
    assert_eq!(get("/index.html?q=x"), index);
    // The program finds the module that was built beside it; without one the page says how it is made.
    let module =
        PathBuf::from(env!("CARGO_BIN_EXE_mmascope")).with_file_name("../atlas/mmascope.wasm");
    let expected = match module.is_file() {
        true => "id=\"explorer\"",
        false => "needs its module",
    };
    let explorer = get("/explorer.html");
    assert!(explorer.contains(expected));
    // The explorer computes with the user's units, too.
    assert_eq!(explorer.contains("arch mychip"), module.is_file());
    assert!(
        get("/changes.html").contains("mychip"),
        "the user's unit is a change of the facts"
    );
    for target in [
        "/nothing.html",
        "/../Cargo.toml",
        "/%2e%2e/Cargo.toml",
        "",
        "//etc/passwd",
    ] {
        assert!(get(target).starts_with("HTTP/1.1 404"), "{target}");
    }
    let head = asked(port, &format!("HEAD / HTTP/1.1\r\n{host}"));
    assert!(
        head.starts_with("HTTP/1.1 200 OK") && head.ends_with("\r\n\r\n"),
        "{head}"
    );
    assert!(asked(port, &format!("POST / HTTP/1.1\r\n{host}")).starts_with("HTTP/1.1 405"));
    let other = asked(port, "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n");
    assert!(other.starts_with("HTTP/1.1 403"), "{other}");
    drop(server);
    // The port of a server that runs is refused at once, in words.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port();
    refused(&[&format!("--serve={port}")], "--serve=0");
}
