//! A web server for one site and the browsers of this machine.
//!
//! It listens on 127.0.0.1 alone, knows nothing but the files that it was given, and answers GET and HEAD.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::interrupt;
use crate::report::{Failure, Status};
use crate::terminal;
use mmascope_atlas::File;

/// The longest head of a request in bytes.
const LONGEST_HEAD: u64 = 16 << 10;
/// How long a browser may take to ask or to read.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often Ctrl-C is looked for.
const STEP: Duration = Duration::from_millis(50);

/// A port that is open, and not answered yet.
pub(super) struct Listener {
    listener: TcpListener,
    port: u16,
}

/// What browsers may ask for.
struct Site {
    files: HashMap<String, Vec<u8>>,
    port: u16,
}

impl Listener {
    /// Opens a port of this machine; 0 is any that is free.
    pub(super) fn open(port: u16) -> Result<Self, Failure> {
        let opened = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).and_then(|listener| {
            // So that Ctrl-C is seen between two browsers.
            listener.set_nonblocking(true)?;
            let port = listener.local_addr()?.port();
            Ok(Self { listener, port })
        });
        opened.map_err(|error| {
            Failure::Input(format!(
                "--serve={port}: {error}; --serve=0 takes any port that is free"
            ))
        })
    }

    /// Answers until Ctrl-C.
    pub(super) fn serve(self, files: Vec<File>) -> Result<Status, Failure> {
        let cancel = interrupt::deferred();
        let site = Arc::new(Site {
            files: files
                .into_iter()
                .map(|file| (file.name, file.bytes))
                .collect(),
            port: self.port,
        });
        let mut out = terminal::out();
        writeln!(out, "http://127.0.0.1:{}/ until Ctrl-C", self.port)?;
        out.flush()?;
        drop(out);
        while !cancel.load(std::sync::atomic::Ordering::SeqCst) {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    let site = Arc::clone(&site);
                    // A browser that goes away is no affair of ours.
                    let answered = thread::Builder::new().spawn(move || site.answer(&stream));
                    drop(answered);
                }
                Err(_) => thread::sleep(STEP),
            }
        }
        Err(Failure::Interrupted)
    }
}

impl Site {
    fn answer(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut lines = BufReader::new(stream.take(LONGEST_HEAD)).lines();
        let first = lines.next().transpose()?.unwrap_or_default();
        let mut host = String::new();
        for line in lines {
            let line = line?;
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("host")
            {
                host = value.trim().to_owned();
            }
        }
        let mut words = first.split(' ');
        let (method, target) = (words.next(), words.next().unwrap_or_default());
        // A page of another site that calls itself this machine has another name for it.
        let names = [
            format!("127.0.0.1:{}", self.port),
            format!("localhost:{}", self.port),
        ];
        if !host.is_empty() && !names.contains(&host) {
            return send(
                stream,
                "403 Forbidden",
                "text/plain",
                b"another host\n",
                true,
            );
        }
        let with_body = match method {
            Some("GET") => true,
            Some("HEAD") => false,
            _ => {
                return send(
                    stream,
                    "405 Method Not Allowed",
                    "text/plain",
                    b"GET or HEAD\n",
                    true,
                );
            }
        };
        let path = target.split(['?', '#']).next().unwrap_or_default();
        let name = match path.strip_prefix('/') {
            Some("") => "index.html",
            Some(name) => name,
            None => "",
        };
        match self.files.get(name) {
            Some(bytes) => send(stream, "200 OK", kind(name), bytes, with_body),
            None => send(
                stream,
                "404 Not Found",
                "text/plain",
                b"no such page\n",
                with_body,
            ),
        }
    }
}

fn send(
    mut stream: &TcpStream,
    status: &str,
    kind: &str,
    bytes: &[u8],
    with_body: bool,
) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nX-Content-Type-Options: nosniff\r\n\
         Cache-Control: no-cache\r\nConnection: close\r\n\r\n",
        bytes.len()
    );
    stream.write_all(head.as_bytes())?;
    if with_body {
        stream.write_all(bytes)?;
    }
    stream.flush()
}

/// The type of a file by its ending.
fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    }
}
