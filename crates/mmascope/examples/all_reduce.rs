//! The order of an all-reduce across processes: a ring and a tree over local sockets.
//!
//! `cargo run --example all_reduce -- ring 8` starts 8 processes that each hold one summand, and
//! reveals in which order their sum comes about.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command};

use mmascope::reveal::{RevealOptions, SliceSum, reveal};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["rank", kind, rank, ranks, address] => work(kind, rank.parse()?, ranks.parse()?, address),
        [kind @ ("ring" | "tree"), ranks] => start(kind, ranks.parse()?),
        _ => Err("usage: all_reduce ring|tree RANKS".into()),
    }
}

/// Starts the processes, gives each its summand, and reveals the order.
fn start(kind: &str, ranks: usize) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    let mut children: Vec<Child> = Vec::new();
    for rank in 0..ranks {
        let arguments = [
            "rank",
            kind,
            &rank.to_string(),
            &ranks.to_string(),
            &address,
        ];
        children.push(
            Command::new(std::env::current_exe()?)
                .args(arguments)
                .spawn()?,
        );
    }
    // Every process says its rank and where it listens, and is told where the others do.
    let mut streams: Vec<Option<TcpStream>> = (0..ranks).map(|_| None).collect();
    let mut ports = vec![0; ranks];
    for _ in 0..ranks {
        let (mut stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        let rank = read_number(&mut stream)? as usize;
        ports[rank] = read_number(&mut stream)?;
        streams[rank] = Some(stream);
    }
    let mut streams: Vec<TcpStream> = streams.into_iter().flatten().collect();
    for stream in &mut streams {
        for port in &ports {
            stream.write_all(&port.to_le_bytes())?;
        }
    }
    let name = format!("{kind} all-reduce of {ranks} processes");
    let mut subject = SliceSum::new(&name, ranks, |x: &[f32]| {
        // A process that died gives NaN, which no masks accept.
        reduce(&mut streams, x).unwrap_or(f32::NAN)
    });
    let report = reveal(&mut subject, &RevealOptions::default())?;
    println!(
        "{}\n{}\n{}",
        report.tree.pattern(),
        report.tree,
        report.verdict()
    );
    drop(subject);
    drop(streams);
    for child in &mut children {
        child.wait()?;
    }
    Ok(())
}

fn reduce(streams: &mut [TcpStream], x: &[f32]) -> Result<f32> {
    for (stream, x) in streams.iter_mut().zip(x) {
        stream.write_all(&x.to_bits().to_le_bytes())?;
    }
    let mut results = Vec::new();
    for stream in streams {
        results.push(f32::from_bits(read_number(stream)?));
    }
    let same = results
        .iter()
        .all(|result| result.to_bits() == results[0].to_bits());
    if same {
        Ok(results[0])
    } else {
        Err("the processes have different sums".into())
    }
}

fn read_number(stream: &mut TcpStream) -> Result<u32> {
    let mut bytes = [0; 4];
    stream.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

/// One process: connected to a left and a right neighbour (ring), or to a parent and children
/// (binary tree).
fn work(kind: &str, rank: usize, ranks: usize, address: &str) -> Result<()> {
    let own = TcpListener::bind("127.0.0.1:0")?;
    let mut control = TcpStream::connect(address)?;
    control.set_nodelay(true)?;
    control.write_all(&(rank as u32).to_le_bytes())?;
    control.write_all(&u32::from(own.local_addr()?.port()).to_le_bytes())?;
    let mut ports = Vec::new();
    for _ in 0..ranks {
        ports.push(read_number(&mut control)? as u16);
    }
    let connect = |to: usize| -> Result<TcpStream> {
        let stream = TcpStream::connect(("127.0.0.1", ports[to]))?;
        stream.set_nodelay(true)?;
        Ok(stream)
    };
    // To where the partial sum goes, and from where others come, in order of arrival made fixed.
    let (to, from) = match kind {
        "ring" => (
            (rank + 1 < ranks).then_some(rank + 1),
            usize::from(rank > 0),
        ),
        _ => {
            let children = [2 * rank + 1, 2 * rank + 2];
            let count = children.iter().filter(|&&child| child < ranks).count();
            ((rank > 0).then(|| (rank - 1) / 2), count)
        }
    };
    let mut up = to.map(connect).transpose()?;
    if let Some(up) = &mut up {
        up.write_all(&(rank as u32).to_le_bytes())?;
    }
    let mut down = Vec::new();
    for _ in 0..from {
        let (mut stream, _) = own.accept()?;
        stream.set_nodelay(true)?;
        down.push((read_number(&mut stream)?, stream));
    }
    down.sort_by_key(|(rank, _)| *rank);
    loop {
        let Ok(bits) = read_number(&mut control) else {
            return Ok(());
        };
        let mut sum = f32::from_bits(bits);
        for (_, stream) in &mut down {
            sum += f32::from_bits(read_number(stream)?);
        }
        // The last one has the sum; it goes back the way it came.
        if let Some(up) = &mut up {
            up.write_all(&sum.to_bits().to_le_bytes())?;
            sum = f32::from_bits(read_number(up)?);
        }
        for (_, stream) in &mut down {
            stream.write_all(&sum.to_bits().to_le_bytes())?;
        }
        control.write_all(&sum.to_bits().to_le_bytes())?;
    }
}
