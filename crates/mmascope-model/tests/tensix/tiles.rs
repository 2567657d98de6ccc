//! A core's operations on tiles (§5) against single elements, and its state: Dst, integers, status bits.

use crate::support::{Xorshift, fpu, machines, phase, source};
use mmascope_model::tensix::{
    Core, CoreSetting, Dst, Fidelity, Flag, Machine, SourceFormat, TILE, Tile, Width,
    int8_to_source, integer_mvmul, pool_maximum,
};

const ALL: [(Fidelity, u8); 4] = [
    (Fidelity::LoFi, 1),
    (Fidelity::HiFi2, 2),
    (Fidelity::HiFi3, 3),
    (Fidelity::HiFi4, 4),
];

fn setting(source: SourceFormat, width: Width, fidelity: Fidelity) -> CoreSetting {
    CoreSetting {
        a: source,
        b: source,
        width,
        fidelity,
    }
}

fn random_tile(random: &mut Xorshift, kind: SourceFormat) -> Tile {
    Tile::of(|_, _| match kind {
        SourceFormat::F16 => {
            random.word() & (1 << 18) | (10 + random.below(10)) << 10 | random.word() & 0x3ff
        }
        _ => random.word() & (1 << 18) | (122 + random.below(10)) << 10 | random.word() & 0x3ff,
    })
}

fn element(
    machine: &Machine,
    kind: SourceFormat,
    width: Width,
    phases: u8,
    tiles: &[(Tile, Tile)],
    place: (usize, usize),
) -> u32 {
    let fpu = fpu(machine, kind, width);
    let mut dst = 0;
    for (in0, in1) in tiles {
        for number in 0..phases {
            for half in [0, 16] {
                let b = std::array::from_fn(|k| in0.at(place.0, half + k));
                let a = std::array::from_fn(|k| in1.at(half + k, place.1));
                dst = fpu.mvmul(phase(number), &a, &b, dst).0;
            }
        }
    }
    dst
}

#[test]
fn matmul_tiles_runs_phases_outside_the_halves_of_k() {
    let mut random = Xorshift(11);
    for machine in machines() {
        for kind in [SourceFormat::Tf32, SourceFormat::Bf16, SourceFormat::F16] {
            for width in [Width::Bits16, Width::Bits32] {
                for (fidelity, phases) in ALL {
                    let tiles: Vec<_> = (0..2)
                        .map(|_| {
                            (
                                random_tile(&mut random, kind),
                                random_tile(&mut random, kind),
                            )
                        })
                        .collect();
                    let mut core = Core::new(&machine, setting(kind, width, fidelity)).unwrap();
                    for (in0, in1) in &tiles {
                        core.matmul_tiles(in0, in1, 1).unwrap();
                    }
                    let result = core.tile(1).unwrap();
                    for _ in 0..40 {
                        let place = (random.below(32) as usize, random.below(32) as usize);
                        let expected = element(&machine, kind, width, phases, &tiles, place);
                        assert_eq!(result.at(place.0, place.1), expected);
                    }
                    assert_eq!(core.tile(0).unwrap(), Tile::filled(0));
                }
            }
        }
    }
}

#[test]
fn element_wise_tiles() {
    let mut random = Xorshift(5);
    for machine in machines() {
        let kind = SourceFormat::Bf16;
        let (in0, in1) = (
            random_tile(&mut random, kind),
            random_tile(&mut random, kind),
        );
        let fpu = fpu(&machine, kind, Width::Bits32);
        let mut core = Core::new(&machine, setting(kind, Width::Bits32, Fidelity::HiFi3)).unwrap();
        core.mul_tiles(&in0, &in1, 0).unwrap();
        // What was in Dst does not matter to a product.
        core.mul_tiles(&in0, &in1, 0).unwrap();
        let products = core.tile(0).unwrap();
        core.add_tiles(&in0, &in1, 1, false).unwrap();
        core.sub_tiles(&in0, &in1, 1, true).unwrap();
        let sums = core.tile(1).unwrap();
        for row in 0..TILE {
            for column in 0..TILE {
                let (a, b) = (in0.at(row, column), in1.at(row, column));
                let product =
                    (0..3).fold(0, |dst, number| fpu.multiply(phase(number), a, b, dst).0);
                assert_eq!(products.at(row, column), product);
                let sum = fpu.add(a, b, 0).0;
                assert_eq!(sums.at(row, column), fpu.subtract(a, b, sum).0);
            }
        }
    }
}

#[test]
fn integers_are_exact_and_limited() {
    let [machine, _] = machines();
    let width = Width::Bits32;
    let mut random = Xorshift(9);
    let bytes =
        |random: &mut Xorshift| -> Vec<u8> { (0..1024).map(|_| random.word() as u8).collect() };
    let (x, y) = (bytes(&mut random), bytes(&mut random));
    let tile =
        |bytes: &[u8]| Tile::of(|row, column| int8_to_source(bytes[row * TILE + column], false));
    let mut core = Core::new(
        &machine,
        setting(SourceFormat::Int8, width, Fidelity::HiFi4),
    )
    .unwrap();
    core.matmul_tiles(&tile(&x), &tile(&y), 0).unwrap();
    let result = core.tile(0).unwrap();
    let value = |byte: u8| {
        let magnitude = i32::from(byte & 0x7f);
        if byte >> 7 == 1 {
            -magnitude
        } else {
            magnitude
        }
    };
    for row in 0..TILE {
        for column in 0..TILE {
            let products =
                (0..TILE).map(|k| value(x[row * TILE + k]) * value(y[k * TILE + column]));
            let sum: i32 = products.sum();
            let word = result.at(row, column);
            let magnitude = (word & 0x7fff_ffff) as i32;
            assert_eq!(
                if word >> 31 == 1 {
                    -magnitude
                } else {
                    magnitude
                },
                sum
            );
        }
    }
    // Element by element.
    core.mul_tiles(&tile(&x), &tile(&y), 0).unwrap();
    core.sub_tiles(&tile(&x), &tile(&y), 1, false).unwrap();
    core.sub_tiles(&tile(&x), &tile(&y), 1, true).unwrap();
    let (products, differences) = (core.tile(0).unwrap(), core.tile(1).unwrap());
    let signed = |word: u32| (word & 0x7fff_ffff) as i32 * if word >> 31 == 1 { -1 } else { 1 };
    for at in 0..TILE * TILE {
        let (row, column) = (at / TILE, at % TILE);
        let (a, b) = (value(x[at]), value(y[at]));
        assert_eq!(signed(products.at(row, column)), a * b);
        assert_eq!(signed(differences.at(row, column)), 2 * (a - b));
    }
    assert_eq!(core.sticky().read(), 0);
    // Phase 3 by itself suffices for small magnitudes.
    let (a, b) = (
        [int8_to_source(0x9f, false); 16],
        [int8_to_source(0x0f, false); 16],
    );
    assert_eq!(
        integer_mvmul(phase(3), &a, &b, 0).word,
        (1 << 31) | (16 * 31 * 15)
    );
    assert_eq!(integer_mvmul(phase(0), &a, &b, 0).word, 0);
    // Limits set their bit.
    core.set_tile(0, &Tile::filled(0x7fff_ffff)).unwrap();
    let ones = Tile::filled(int8_to_source(1, false));
    core.add_tiles(&ones, &ones, 0, true).unwrap();
    assert_eq!(core.tile(0).unwrap().at(0, 0), 0x7fff_ffff);
    assert!(core.sticky().has(Flag::FpuSaturation));
    assert!(
        Core::new(
            &machine,
            setting(SourceFormat::Int8, Width::Bits16, Fidelity::LoFi)
        )
        .is_err()
    );
}

#[test]
fn pooling_takes_the_largest_pattern() {
    let [machine, _] = machines();
    let mut rows = [[0_u32; 16]; 16];
    rows[3][0] = source(2.5);
    rows[5][1] = source(f32::NAN);
    for row in &mut rows {
        row[2] = source(-1.0);
    }
    let mut core = Core::new(
        &machine,
        setting(SourceFormat::Tf32, Width::Bits32, Fidelity::LoFi),
    )
    .unwrap();
    core.dst_mut().write_32(9, 3, 7);
    core.pool(&rows, 8).unwrap();
    let read = |core: &mut Core<'_>, row, column| core.dst_mut().read_32(row, column);
    assert_eq!(read(&mut core, 8, 0), 2.5_f32.to_bits());
    assert_eq!(read(&mut core, 8, 1), 0x7fc0_0000);
    // An invalid row is less than everything; a valid one takes part.
    assert_eq!(read(&mut core, 8, 2), (-1.0_f32).to_bits());
    assert_eq!(read(&mut core, 9, 3), 0);
    core.dst_mut().write_32(8, 2, 0x4000_1fff);
    core.pool(&rows, 8).unwrap();
    assert_eq!(read(&mut core, 8, 2), 0x4000_0000);
    // An exponent field of 0 is +0, which is more than −0 in Dst.
    assert_eq!(
        pool_maximum(
            SourceFormat::Bf16,
            Width::Bits16,
            &[1 << 18 | 7],
            0x8000_0000
        ),
        0
    );
    assert!(core.pool(&rows, 510).is_err());
}

#[test]
fn dst_is_one_memory_of_two_widths() {
    let mut dst = Dst::new();
    for row in 0..Dst::ROWS_32 {
        dst.write_32(row, 3, row as u32 * 0x0001_0001 + 0x1234_0000);
    }
    for row in 0..Dst::ROWS_32 {
        assert_eq!(dst.read_32(row, 3), row as u32 * 0x0001_0001 + 0x1234_0000);
        assert_eq!(dst.read_32(row, 4), 0);
    }
    assert_eq!(dst.read_16(40, 3), dst.read_32(16, 3) as u16);
    dst.clear(0..1);
    assert_eq!(dst.read_16(0, 3), 0);
    dst.write_16(0, 5, 9);
    assert_eq!((dst.read_16(0, 3), dst.read_16(0, 5)), (0, 9));
}

#[test]
fn moves() {
    let [machine, _] = machines();
    let fpu = fpu(&machine, SourceFormat::Bf16, Width::Bits32);
    assert_eq!(fpu.to_dst(SourceFormat::Tf32, source(1.0) | 5), 0x3f80_a000);
    assert_eq!(fpu.to_dst(SourceFormat::Bf16, source(1.0) | 5), 0x3f80_0000);
    assert_eq!(fpu.to_dst(SourceFormat::Tf32, 1 << 18 | 5), 0);
    assert_eq!(
        fpu.from_dst(SourceFormat::Tf32, 0x3f80_ffff),
        source(1.0) | 7
    );
    assert_eq!(
        fpu.from_dst(SourceFormat::Bf16, 0x3f81_ffff),
        SourceFormat::of_bf16(0x3f81)
    );
}

#[test]
fn status_bits_of_tiles() {
    for machine in machines() {
        let mut core = Core::new(
            &machine,
            setting(SourceFormat::Bf16, Width::Bits32, Fidelity::LoFi),
        )
        .unwrap();
        let (large, small) = (
            Tile::filled(source(2_f32.powi(100))),
            Tile::filled(source(2_f32.powi(-100))),
        );
        core.mul_tiles(&large, &small, 0).unwrap();
        assert_eq!(core.sticky().read(), 0);
        core.mul_tiles(&small, &small, 0).unwrap();
        assert_eq!(core.sticky().read(), 1 << Flag::FpuUnderflow.bit());
        core.mul_tiles(&large, &large, 0).unwrap();
        assert_eq!(core.sticky().fpu(), 0b110);
        core.sticky_mut().clear();
        // By design no bit shows these: 0.5 · ∞ is a number, ∞ − ∞ is 0.
        let infinite = Tile::filled(source(f32::INFINITY));
        core.mul_tiles(&infinite, &Tile::filled(source(0.5)), 0)
            .unwrap();
        assert_eq!(core.tile(0).unwrap().at(0, 0), 0x7f00_0000);
        core.sub_tiles(&infinite, &infinite, 0, false).unwrap();
        assert_eq!(core.tile(0).unwrap().at(0, 0), 0);
        assert_eq!(core.sticky().read(), 0);
    }
}
