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
