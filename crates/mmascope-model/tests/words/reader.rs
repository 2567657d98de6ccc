//! Reads the sentences of `show`: every one has to be understood, and nothing is assumed that none says.

use mmascope_model::format::{Format, Specials};

use super::grouped::{self, Grouped, Semi};
use crate::number::float;

/// What stands for the `{}` of a pattern, if the text fits.
pub(crate) fn fit<'a>(pattern: &str, text: &'a str) -> Option<Vec<&'a str>> {
    let mut parts = pattern.split("{}");
    let mut rest = text.strip_prefix(parts.next()?)?;
    let mut found = Vec::new();
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        let end = match (part, parts.peek()) {
            ("", None) => rest.len(),
            (part, None) => rest.strip_suffix(part)?.len(),
            (part, Some(_)) => rest.find(part)?,
        };
        found.push(&rest[..end]);
        rest = &rest[end + part.len()..];
    }
    rest.is_empty().then_some(found)
}

/// A rounding and a format, with what the text says that stands for an infinity which overflow gives, where there is none.
fn to_saying(found: &[&str]) -> Option<To> {
    let made = to(found[1], found[0])?;
    let specials = float(&made.1).specials;
    let said = match specials {
        Specials::Ieee => found[2].is_empty(),
        Specials::None => fit("; {} has no infinity: the largest number of its sign stands for one that overflow gives, infinities and NaN that were there stay", found[2]).is_some(),
        _ => fit("; {} has no infinity: NaN stands for one that overflow gives, one that was there stays", found[2]).is_some(),
    };
    assert!(said, "{found:?}");
    Some(made)
}

/// Whether a text says what stands for infinity, and for NaN, in a format that lacks them.
fn stands_in(text: &str) -> bool {
    fit("{} has no infinity: NaN stands for it", text).is_some()
        || fit("{} has no infinity and no NaN: the largest number of its sign stands for infinity and for what is beyond it, the positive one for every other NaN", text).is_some()
}

/// A rounding in words and a format.
pub(crate) type To = (String, Format);

/// What a unit's first lines say of operands.
#[derive(Debug, Default)]
pub(crate) struct Operands {
    pub(crate) exponents: bool,
    pub(crate) codes: String,
    /// Format of scales, and k that share two.
    pub(crate) scales: Option<(Format, usize)>,
    pub(crate) scales_move_exponents: bool,
    pub(crate) scales_may_be_zero: bool,
}

/// Where a statement gets its value from.
#[derive(Debug, Default)]
pub(crate) enum Head {
    #[default]
    None,
    Dot {
        over: String,
        start: String,
        widened: Option<Format>,
    },
    Add(String, String),
    Convert(String),
    Negate(String),
    Join {
        terms: Vec<String>,
        start: String,
        as_products: bool,
    },
}

/// Products before they are added.
#[derive(Debug)]
pub(crate) enum Products {
    /// Exact, with the sum of the exponents.
    Sum,
    /// Exact, with the exponent of the leading bit.
    Leading,
    /// Rounded.
    To(To),
    /// Rounded like the result.
    LikeResult,
}

#[derive(Debug, Default)]
pub(crate) struct Groups {
    pub(crate) strided: Option<usize>,
    pub(crate) size: Option<usize>,
    /// Bits and rounding; `None`: exact.
    pub(crate) grid: Option<(i64, String)>,
    pub(crate) grid_by_scales: bool,
    pub(crate) exact: bool,
    pub(crate) exponent: String,
    pub(crate) drops_zero: bool,
}

/// What is rounded, to so many bits below E.
#[derive(Debug)]
pub(crate) enum Sum {
    Exact,
    /// Terms and c.
    Aligned((i64, String), (i64, String)),
}

/// A statement as its sentences say it.
#[derive(Debug, Default)]
pub(crate) struct Statement {
    pub(crate) name: String,
    pub(crate) head: Head,
    /// First and last bit of each significand.
    pub(crate) part_a: Option<(i64, i64)>,
    pub(crate) part_b: Option<(i64, i64)>,
    pub(crate) block: Option<usize>,
    pub(crate) flush_a: Option<bool>,
    pub(crate) flush_b: Option<bool>,
    pub(crate) flush_c: Option<bool>,
    pub(crate) plus_zeros: bool,
    pub(crate) operands: Option<To>,
    pub(crate) round_c: Option<To>,
    pub(crate) products: Option<Products>,
    /// What infinity and NaN become in the products' format is said.
    pub(crate) product_stand_ins: bool,
    pub(crate) flush_products: Option<bool>,
    pub(crate) limit: Option<i64>,
    pub(crate) zero_times_infinity: Option<String>,
    pub(crate) opposite: Option<String>,
    pub(crate) groups: Option<Groups>,
    pub(crate) join: Option<(i64, String)>,
    pub(crate) floor: Option<Option<i64>>,
    pub(crate) c_has_no_say: bool,
    pub(crate) drop_c: Option<i64>,
    pub(crate) sum: Option<Sum>,
    /// "less than any bit" or the place below E.
    pub(crate) sticky: Option<Option<i64>>,
    pub(crate) f2: Option<(i64, String, i64)>,
    pub(crate) adds: Option<bool>,
    pub(crate) rounded_additions: bool,
    pub(crate) flush_sums: Option<bool>,
    /// Steps that know numbers only.
    pub(crate) grouped: Option<Grouped>,
    pub(crate) semi: Option<Semi>,
    /// The exponent field of ones is one more binade of numbers.
    pub(crate) ones_are_numbers: bool,
    /// A flush of what stays small with as many bits as a normal number has.
    pub(crate) flush_unbounded: Option<bool>,
    pub(crate) result: Option<To>,
    pub(crate) flush: Option<(bool, bool)>,
    pub(crate) overflow: Option<String>,
    pub(crate) nan: Option<Option<u64>>,
    /// What infinity and NaN become in the result's format is said.
    pub(crate) stand_ins: bool,
    /// A sum of integers.
    pub(crate) differ: bool,
    pub(crate) wraps: Option<bool>,
    pub(crate) integers: Option<Format>,
    /// A NaN result is that of an operand, if one is NaN.
    pub(crate) nan_of_operand: bool,
    pub(crate) zero: Option<String>,
}

fn format(name: &str) -> Format {
    Format::named(name).unwrap_or_else(|error| panic!("{error}"))
}

fn number(text: &str) -> i64 {
    text.parse()
        .unwrap_or_else(|_| panic!("no number: '{text}'"))
}

/// "+0" is false, "a zero of its sign" true.
fn kept(text: &str) -> bool {
    match text {
        "+0" => false,
        "a zero of its sign" => true,
        other => panic!("no zero: '{other}'"),
    }
}

/// Reads all lines.
pub(crate) fn read(lines: &[String]) -> (Operands, Vec<Statement>) {
    let mut operands = Operands {
        codes: "special".to_owned(),
        ..Operands::default()
    };
    let mut statements: Vec<Statement> = Vec::new();
    for line in lines {
        if let Some(text) = line.strip_prefix("  ") {
            let statement = statements.last_mut().expect("a statement's head");
            assert!(sentence(statement, text), "not understood: '{text}'");
        } else if !of_operands(&mut operands, line) {
            let (name, text) = line
                .split_once(": ")
                .unwrap_or_else(|| panic!("no head: '{line}'"));
            let head = head(text).unwrap_or_else(|| panic!("not understood: '{line}'"));
            statements.push(Statement {
                name: name.to_owned(),
                head,
                ..Statement::default()
            });
        }
    }
    assert!(operands.exponents, "what exponents are is not said");
    (operands, statements)
}

fn of_operands(operands: &mut Operands, line: &str) -> bool {
    if line
        == "The exponent of a number is that of its leading bit, of a subnormal number that of the smallest normal one."
    {
        operands.exponents = true;
    } else if fit("The {} low bits of a word of {} are ignored.", line).is_some()
        || fit("The exponent of a number of {} is {}.", line).is_some()
    {
        // As the format has it.
    } else if line
        == "Infinity and NaN codes of a and b are numbers, as their exponent and fraction say."
        || line
            == "Infinity and NaN codes of a, b and c are infinities and NaNs; each step says what they give."
    {
        operands.codes = "numbers".to_owned();
    } else if line
        == "Infinity codes of a and b are the largest number of their sign; NaN codes are NaN."
    {
        operands.codes = "largest".to_owned();
    } else if let Some(found) = fit(
        "Every {} k share two scales in {}, by which each of their products is multiplied exactly.",
        line,
    ) {
        operands.scales = Some((format(found[1]), number(found[0]) as usize));
    } else if line
        == "The exponent of a product grows by those of its scales; a NaN scale makes it NaN."
    {
        operands.scales_move_exponents = true;
    } else if line == "A scale of 0 makes finite products 0; an infinite product stays infinity." {
        operands.scales_may_be_zero = true;
    } else {
        return false;
    }
    true
}

fn head(text: &str) -> Option<Head> {
    if let Some(found) = fit(
        "{} + {}, one addition of IEEE 754 outside the matrix unit.",
        text,
    ) {
        return Some(Head::Add(found[0].to_owned(), found[1].to_owned()));
    }
    if let Some(found) = fit(
        "{} with the other sign, a zero too; a NaN stays a NaN.",
        text,
    ) {
        return Some(Head::Negate(found[0].to_owned()));
    }
    if let Some(found) = fit("{} converted.", text) {
        return Some(Head::Convert(found[0].to_owned()));
    }
    if let Some(found) = fit("{} in one block of {}, values {}; c is {}.", text) {
        return Some(Head::Join {
            terms: found[1]
                .split(" + ")
                .map(str::to_owned)
                .filter(|t| !t.is_empty())
                .collect(),
            start: found[3].to_owned(),
            as_products: match found[2] {
                "as they are" => false,
                "as products with 1" => true,
                _ => return None,
            },
        });
    }
    let found = fit("{} over {}; the c of the first block is {}.", text)?;
    let (start, widened) = match found[2].split_once(", operands as numbers of ") {
        None => (found[2], None),
        Some((start, name)) => (start, Some(format(name))),
    };
    Some(Head::Dot {
        over: found[1].to_owned(),
        start: start.to_owned(),
        widened,
    })
}

fn sentence(own: &mut Statement, text: &str) -> bool {
    let of_numbers = own.groups.is_none() && grouped::sentence(&mut own.grouped, text);
    of_numbers
        || grouped::semi_sentence(&mut own.semi, text)
        || of_integers(own, text)
        || of_terms(own, text)
        || of_sum(own, text)
        || of_result(own, text)
}

fn to(rounding: &str, name: &str) -> Option<To> {
    Some((rounding.to_owned(), format(name)))
}

fn of_terms(own: &mut Statement, text: &str) -> bool {
    const PART: &str = "Of the significand of {} only bits {} to {} below that of its exponent count, the others are 0.";
    if let Some(found) = fit(PART, text) {
        let part = Some((number(found[1]), number(found[2])));
        match found[0] {
            "a" => own.part_a = part,
            "b" => own.part_b = part,
            _ => return false,
        }
        return true;
    }
    if let Some(found) = fit(
        "A block has at most {} product{}, in this order; the result of a block is the c of the next.",
        text,
    ) {
        own.block = Some(number(found[0]) as usize);
    } else if let Some(found) = fit("A subnormal rounded product becomes {}.", text) {
        own.flush_products = Some(kept(found[0]));
    } else if let Some(found) = fit("A subnormal c of the first block becomes {}.", text) {
        own.flush_c = Some(kept(found[0]));
    } else if let Some(found) = fit("A subnormal a or b becomes {}.", text) {
        (own.flush_a, own.flush_b) = (Some(kept(found[0])), Some(kept(found[0])));
    } else if let Some(found) = fit("A subnormal a becomes {}.", text) {
        own.flush_a = Some(kept(found[0]));
    } else if let Some(found) = fit("A subnormal b becomes {}.", text) {
        own.flush_b = Some(kept(found[0]));
    } else if text == "A zero a or b, or c of the first block, counts as +0." {
        own.plus_zeros = true;
    } else if let Some(found) = fit(
        "Then a and b are rounded to {}, {}, with IEEE 754 overflow{}.",
        text,
    ) {
        own.operands = to_saying(&found);
    } else if let Some(found) = fit(
        "Then the c of the first block is rounded to {}, {}, with IEEE 754 overflow{}.",
        text,
    ) {
        own.round_c = to_saying(&found);
    } else if text
        == "Products are exact; the exponent of a product is the sum of those of its factors."
    {
        own.products = Some(Products::Sum);
    } else if text == "Products are exact; the exponent of a product is that of its leading bit." {
        own.products = Some(Products::Leading);
    } else if let Some(found) = fit(
        "Products are rounded to {}, {}, with IEEE 754 overflow{}; the exponent of a product is that of the rounded number.",
        text,
    ) {
        own.products = to_saying(&found).map(Products::To);
    } else if let Some(found) = fit(
        "Each product is rounded to {}, {}, with IEEE 754 overflow.",
        text,
    )
    .or_else(|| {
        fit(
            "Each product is rounded to {}, {}, with IEEE 754 overflow; {}.",
            text,
        )
        .filter(|found| stands_in(found[2]))
    }) {
        own.product_stand_ins = found.len() == 3;
        own.products = to(found[1], found[0]).map(Products::To);
    } else if text == "Each product is one of IEEE 754, rounded and limited like the result." {
        own.products = Some(Products::LikeResult);
    } else if let Some(found) = fit(
        "A product whose exact magnitude is 2^{} or more counts as infinity of its sign.",
        text,
    ) {
        own.limit = Some(number(found[0]));
    } else if let Some(found) = fit("Zero times infinity is {}.", text) {
        own.zero_times_infinity = Some(found[0].to_owned());
    } else if let Some(found) = fit(
        "A NaN among products and c gives NaN; else infinities of both signs give {}, of one sign that infinity.",
        text,
    ) {
        own.opposite = Some(found[0].to_owned());
    } else {
        return false;
    }
    true
}

fn of_sum(own: &mut Statement, text: &str) -> bool {
    let has_groups = own.groups.is_some();
    if let Some(found) = fit(
        "Products are summed in groups first: neighbours, {} a group.",
        text,
    ) {
        own.groups = Some(Groups {
            size: Some(number(found[0]) as usize),
            ..Groups::default()
        });
    } else if let Some(found) = fit(
        "Products are summed in groups first: group j of {} has the products j, j+{}, j+2*{} and so on.",
        text,
    ) {
        assert!(found[0] == found[1] && found[1] == found[2], "{text}");
        own.groups = Some(Groups {
            strided: Some(number(found[0]) as usize),
            ..Groups::default()
        });
    } else if text == "A group is summed exactly." && has_groups {
        own.groups.as_mut().unwrap().exact = true;
    } else if let Some(found) = fit(
        "In a group each product is rounded to a multiple of 2^(e-{}), {}, where e is {}; then they are summed exactly.",
        text,
    ) {
        let groups = own.groups.as_mut().unwrap();
        groups.grid = Some((number(found[0]), found[1].to_owned()));
        groups.grid_by_scales = match found[2] {
            "the largest exponent of its non-zero products" => false,
            "the sum of the exponents of its two scales" => true,
            _ => return false,
        };
    } else if let Some(found) = fit(
        "The exponent of a group is {}; a group {} takes no part.",
        text,
    ) {
        let groups = own.groups.as_mut().unwrap();
        groups.exponent = found[0].to_owned();
        groups.drops_zero = match found[1] {
            "without a non-zero product" => false,
            "whose sum is 0 or without a non-zero product" => true,
            other => panic!("{other}"),
        };
    } else if let Some(found) = fit(
        "Then the {}s are joined: each is rounded to a multiple of 2^(m-{}), {}, where m is their largest exponent; their sum is exact and has the exponent m.",
        text,
    ) {
        assert_eq!(found[0], if has_groups { "group" } else { "product" });
        own.join = Some((number(found[1]), found[2].to_owned()));
    } else if let Some(found) = fit(
        "E is the largest exponent of the {}, and at least {}.",
        text,
    ) {
        own.floor = Some(Some(number(found[1])));
        own.c_has_no_say = !says_c(own, found[0]);
    } else if let Some(found) = fit(
        "E is the largest exponent of the {}; where there is none, the sum is c.",
        text,
    ) {
        own.floor = Some(None);
        own.c_has_no_say = !says_c(own, found[0]);
    } else if let Some(found) = fit("A c whose exponent is below E-{} counts as 0 here.", text) {
        own.drop_c = Some(number(found[0]));
    } else if let Some(found) = fit(
        "{} and c are rounded to a multiple of 2^(E-{}), {}, and summed exactly.",
        text,
    ) {
        assert_eq!(found[0], each(own));
        let grid = (number(found[1]), found[2].to_owned());
        own.sum = Some(Sum::Aligned(grid.clone(), grid));
    } else if let Some(found) = fit(
        "{} is rounded to a multiple of 2^(E-{}), {}; c is rounded to a multiple of 2^(E-{}), {}; then all are summed exactly.",
        text,
    ) {
        assert_eq!(found[0], each(own));
        own.sum = Some(Sum::Aligned(
            (number(found[1]), found[2].to_owned()),
            (number(found[3]), found[4].to_owned()),
        ));
    } else if let Some(found) = fit("The {} and c are summed exactly.", text) {
        let all = match (&own.join, &own.groups) {
            (Some(_), _) => "joined sum",
            (None, Some(_)) => "groups",
            (None, None) => "products",
        };
        assert_eq!(found[0], all);
        own.sum = Some(Sum::Exact);
    } else if let Some(found) = fit(
        "Where rounding these terms lost something and the sum is not 0, its magnitude grows by {}.",
        text,
    ) {
        own.sticky = Some(match fit("2^(E-{})", found[0]) {
            Some(place) => Some(number(place[0])),
            None if found[0] == "less than any bit" => None,
            None => return false,
        });
    } else if let Some(found) = fit(
        "The sum, unless 0, is rounded to a multiple of 2^(n-{}), {}, where n is the exponent of its leading bit, at least {}; one that this takes to 0 is exactly 0.",
        text,
    ) {
        own.f2 = Some((number(found[0]), found[1].to_owned(), number(found[2])));
    } else if let Some(found) = fit(
        "The products of a block are added {}; the sum is added to c.",
        text,
    ) {
        own.adds = Some(match found[0] {
            "one after the other" => true,
            "in pairs of neighbours, their sums likewise, until one is left" => false,
            _ => return false,
        });
    } else if text
        == "Every addition is one of IEEE 754, made a result as below, signs of zeros too."
    {
        own.rounded_additions = true;
    } else if let Some(found) = fit(
        "Every addition is one of IEEE 754, made a result as below, signs of zeros too; a sum that is subnormal becomes {}.",
        text,
    ) {
        own.rounded_additions = true;
        own.flush_sums = Some(kept(found[0]));
    } else {
        return false;
    }
    true
}

/// How one of what is added to c is called.
fn each(own: &Statement) -> &'static str {
    match (&own.join, &own.groups) {
        (Some(_), _) => "The joined sum",
        (None, Some(_)) => "Each group",
        (None, None) => "Each product",
    }
}

/// Whether c has a say in E.
fn says_c(own: &Statement, text: &str) -> bool {
    let (what, c) = match text.strip_suffix(" and of a non-zero c") {
        Some(what) => (what, true),
        None => (text, false),
    };
    let known = match (&own.join, &own.groups) {
        (Some(_), _) => "joined sum",
        (None, Some(_)) => "groups",
        (None, None) => "non-zero products",
    };
    assert_eq!(what, known);
    c
}

fn of_integers(own: &mut Statement, text: &str) -> bool {
    let block = "A block has at most {} products of integers, added to c exactly; the result of a block is the c of the next.";
    let single = "A block has at most {} product of integers, added to c exactly; the result of a block is the c of the next.";
    if let Some(found) = fit(block, text).or(fit(single, text)) {
        own.block = Some(number(found[0]) as usize);
    } else if text == "A product is that of a and b." {
        own.differ = false;
    } else if text == "A product is here 1 where a and b differ, else 0." {
        own.differ = true;
    } else if let Some(found) = fit(
        "A sum beyond {} loses its upper bits: it changes by a multiple of 2^{}.",
        text,
    ) {
        assert_eq!(number(found[1]), i64::from(format(found[0]).bits));
        own.wraps = Some(true);
    } else if let Some(found) = fit("A sum beyond {} becomes the nearest number of {}.", text) {
        assert_eq!(found[0], found[1]);
        own.wraps = Some(false);
    } else if let Some(found) = fit("The result is a number of {}.", text) {
        own.integers = Some(format(found[0]));
    } else {
        return false;
    }
    true
}

fn of_result(own: &mut Statement, text: &str) -> bool {
    if let Some(found) = fit("The result is rounded to {}, {}.", text) {
        own.result = to(found[1], found[0]);
    } else if let Some(found) = fit("A subnormal result becomes {}.", text) {
        own.flush = Some((kept(found[0]), false));
    } else if let Some(found) = fit(
        "A result below the smallest normal number of {} before it is rounded becomes {}.",
        text,
    ) {
        own.flush = Some((kept(found[1]), true));
    } else if let Some(found) = fit("A result beyond the largest number is {}.", text) {
        own.overflow = Some(found[0].to_owned());
    } else if let Some(found) = fit(
        "A result that is below the smallest normal number of {} when it is rounded to as many significant bits as a normal number has, becomes {}.",
        text,
    ) {
        own.flush_unbounded = Some(kept(found[1]));
    } else if fit("The exponent field of ones of {} is one more binade of numbers; the largest stands for infinity.", text).is_some() {
        own.ones_are_numbers = true;
    } else if text.strip_suffix('.').is_some_and(stands_in) {
        own.stand_ins = true;
    } else if text == "Which NaN a NaN result is, is not known."
        || text == "No result is NaN but where it is said above."
    {
        own.nan = Some(None);
    } else if let Some(found) = fit("A NaN result is always {}.", text) {
        own.nan = Some(u64::from_str_radix(found[0], 16).ok());
    } else if let Some(found) = fit("A NaN result is the first NaN among a and b of the last product summed, a and b of the one before it and so on, and c, made quiet: its sign and its fraction stay, the fraction's first bit is set; without a NaN operand it is {}.", text) {
        own.nan = Some(u64::from_str_radix(found[0], 16).ok());
        own.nan_of_operand = true;
    } else if text.starts_with("A zero result is") || text.starts_with("A sum of") {
        own.zero = Some(text.to_owned());
    } else {
        return false;
    }
    true
}
