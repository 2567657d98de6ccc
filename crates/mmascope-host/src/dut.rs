//! Devices that are programs or C libraries, and the text that names any device.
//!
//! A C library runs in this process ([`PluginDut`]) or, safe from its crashes and hangs, behind a host
//! program ([`PluginProcess`]).

mod child;
mod group;
mod host;
mod plugin;
mod process;
mod subject;

pub use crate::frames::Frames;
pub(crate) use child::{Child, Speech};
pub use group::{Ended, end_all};
pub use host::{PluginProcess, serve};
pub use plugin::PluginDut;
pub use process::{DEFAULT_TIMEOUT, ProcessDut};
pub use subject::{DeviceName, Interface};

use mmascope_lab::dut::{Batch, Dut, GemmDut, ModelDut};
