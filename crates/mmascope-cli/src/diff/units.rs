//! Chooses the units that are compared: architectures × instructions, and ARCH:INST items.

use crate::args::Diff;
use crate::report::Failure;
use mmascope::diff::Subject;
use mmascope::isa::Catalogue;

/// The units in the order of the arguments, each once.
pub(super) fn chosen<'c>(
    catalogue: &'c Catalogue,
    options: &Diff,
) -> Result<Vec<Subject<'c>>, Failure> {
    let mut subjects: Vec<Subject<'c>> = Vec::new();
    let mut add = |subject: Subject<'c>| {
        if subjects.iter().all(|known| known.name() != subject.name()) {
            subjects.push(subject);
        }
    };
    for item in &options.arch {
        if let Some((arch, inst)) = item.split_once(':') {
            add(Subject::new(catalogue.find(arch, inst)?)?);
            continue;
        }
        catalogue.architecture(item)?;
        if options.inst.is_empty() {
            return Err(Failure::Input(format!(
                "--arch {item}: which instruction? give --inst, or {item}:INST"
            )));
        }
        let mut lacking = None;
        let mut found = false;
        for inst in &options.inst {
            match catalogue.find(item, inst) {
                Ok(row) => {
                    add(Subject::new(row)?);
                    found = true;
                }
                // An instruction that the architecture does not have is left out, if it has another.
                Err(error @ mmascope::Error::Unknown { .. }) => lacking = Some(error),
                Err(error) => return Err(error.into()),
            }
        }
        match lacking {
            Some(error) if !found => return Err(error.into()),
            Some(error) => eprintln!("left out: {error}"),
            None => {}
        }
    }
    if subjects.len() < 2 {
        let names: Vec<String> = subjects.iter().map(Subject::name).collect();
        return Err(Failure::Input(format!(
            "diff needs at least two different units; given: {}",
            names.join(", ")
        )));
    }
    Ok(subjects)
}
