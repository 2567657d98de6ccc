//! Files made by hand, byte by byte.

/// An `.npy` file of version 1.0.
pub(crate) fn npy(descr: &str, fortran: bool, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    npy_with_header(1, &text, bytes)
}

/// An `.npy` file of that version with any header.
pub(crate) fn npy_with_header(version: u8, text: &str, bytes: &[u8]) -> Vec<u8> {
    let mut file = b"\x93NUMPY".to_vec();
    file.extend([version, 0]);
    let length = text.len() as u32;
    match version {
        1 => file.extend((length as u16).to_le_bytes()),
        _ => file.extend(length.to_le_bytes()),
    }
    file.extend(text.bytes());
    file.extend(bytes);
    file
}

/// A `.safetensors` file with any header.
pub(crate) fn safetensors(header: &str, bytes: &[u8]) -> Vec<u8> {
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.bytes());
    file.extend(bytes);
    file
}

/// A `.safetensors` file with one array `x`.
pub(crate) fn one_tensor(dtype: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let end = bytes.len();
    let header =
        format!("{{\"x\":{{\"dtype\":\"{dtype}\",\"shape\":{shape},\"data_offsets\":[0,{end}]}}}}");
    safetensors(&header, bytes)
}

pub(crate) fn f32s(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// An `.npz` file: members by name, and whether each is packed by deflate.
#[allow(dead_code)] // not every test file has archives
pub(crate) fn npz(members: &[(&str, &[u8], bool)]) -> Vec<u8> {
    use std::io::Write;
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes, is_packed) in members {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        let packed = if *is_packed {
            let level = flate2::Compression::default();
            let mut out = flate2::write::DeflateEncoder::new(Vec::new(), level);
            out.write_all(bytes).expect("memory takes it");
            out.finish().expect("memory takes it")
        } else {
            bytes.to_vec()
        };
        let mut common = vec![
            20,
            0,
            0,
            0,
            if *is_packed { 8 } else { 0 },
            0,
            0,
            0,
            0x21,
            0,
        ];
        common.extend(crc.sum().to_le_bytes());
        common.extend((packed.len() as u32).to_le_bytes());
        common.extend((bytes.len() as u32).to_le_bytes());
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0, 0]);
        let offset = file.len() as u32;
        file.extend(b"PK\x03\x04");
        file.extend(&common);
        file.extend(name.bytes());
        file.extend(packed);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.bytes());
    }
    let start = file.len() as u32;
    file.extend(&directory);
    file.extend(b"PK\x05\x06\0\0\0\0");
    for _ in 0..2 {
        file.extend((members.len() as u16).to_le_bytes());
    }
    file.extend((directory.len() as u32).to_le_bytes());
    file.extend(start.to_le_bytes());
    file.extend([0, 0]);
    file
}
