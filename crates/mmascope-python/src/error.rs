//! Errors of the library as exceptions of the package.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use mmascope::Error;

/// The exception that says what the library says.
pub(crate) fn exception(error: &Error) -> PyErr {
    let class = match error {
        Error::Unknown { .. } => "UnknownNameError",
        Error::Unmodelled { .. } => "UnmodelledError",
        Error::Text { .. } => "TextError",
        Error::Device { .. } => "DeviceError",
        Error::Io { .. } => "FileError",
        Error::Cancelled => return PyKeyboardInterrupt::new_err(()),
        // Whatever kinds there will be: a wrong argument is what most are.
        _ => "ArgumentError",
    };
    of_class(class, &in_python(&error.to_string()))
}

/// The exception of a wrong argument.
pub(crate) fn argument(message: &str) -> PyErr {
    of_class("ArgumentError", message)
}

/// The exception of a device or a callable that failed.
pub(crate) fn device(message: &str) -> PyErr {
    of_class("DeviceError", message)
}

/// The library's error for something that a callable did.
pub(crate) fn device_error(device: &str, message: &str) -> Error {
    Error::Device {
        device: device.to_owned(),
        query: None,
        message: message.to_owned(),
    }
}

fn of_class(class: &str, message: &str) -> PyErr {
    Python::attach(|py| {
        let made = py
            .import("mmascope._errors")
            .and_then(|module| module.getattr(class)?.call1((message,)));
        match made {
            Ok(value) => PyErr::from_value(value),
            Err(error) => error,
        }
    })
}

/// What messages of the library ask for, and the argument that gives it here.
const ARGUMENTS: [(&str, &str); 6] = [
    ("Padding fills up with +0", "pad=True fills up with +0"),
    (
        "saturate to clamp such numbers",
        "saturate=True clamps such numbers",
    ),
    (
        "products need both factors (a*b)",
        "products need both factors: others has the second ones",
    ),
    (" products (a*b), but", " second factors (others), but"),
    ("the scale of A ", "the scale of A (scale_a) "),
    ("the scale of B ", "the scale of B (scale_b) "),
];

fn in_python(message: &str) -> String {
    let mut message = message.to_owned();
    for (neutral, named) in ARGUMENTS {
        if message.contains(neutral) {
            message = message.replace(neutral, named);
        }
    }
    message
}

/// Results of the library as results of Python.
pub(crate) trait Raised<T> {
    /// The value, or the exception.
    fn raised(self) -> PyResult<T>;
}

impl<T> Raised<T> for mmascope::Result<T> {
    fn raised(self) -> PyResult<T> {
        self.map_err(|error| exception(&error))
    }
}
