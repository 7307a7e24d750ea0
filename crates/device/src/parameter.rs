//! Parameters as data: one declaration gives the typed field, its unit, its range, its default and
//! the text that `show` prints. Every part of a drive declares its own section with [`section!`].
//!
//! A value is read strictly: what is not understood is an error with key, value and what is
//! allowed; nothing is ignored.

use crate::units::Nanos;
use std::fmt;

/// A value as it stands in a profile or on the command line, before it is understood.
#[derive(Clone, Debug, PartialEq)]
pub enum Raw {
    /// A string.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number with a point.
    Float(f64),
    /// `true` or `false`.
    Flag(bool),
    /// `[a, b, …]`.
    List(Vec<Raw>),
}

impl fmt::Display for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Raw::Text(text) => write!(f, "\"{text}\""),
            Raw::Integer(number) => write!(f, "{number}"),
            Raw::Float(number) => write!(f, "{number:?}"),
            Raw::Flag(flag) => write!(f, "{flag}"),
            Raw::List(items) => {
                let items: Vec<String> = items.iter().map(Raw::to_string).collect();
                write!(f, "[{}]", items.join(", "))
            }
        }
    }
}

impl Raw {
    /// As it was typed behind `KEY=`: a text without its quotation marks.
    pub fn as_given(&self) -> String {
        match self {
            Raw::Text(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

/// A type that a parameter can have.
pub trait Value: Sized {
    /// What is allowed, for messages: "a whole number", "a size such as 16 KiB".
    const EXPECTS: &'static str;

    /// Reads the value; `None` where it is not of this type.
    fn read(raw: &Raw) -> Option<Self>;

    /// The value for people.
    fn show(&self) -> String;

    /// The number that a range is checked against, in the parameter's own unit.
    fn magnitude(&self) -> Option<f64> {
        None
    }
}

/// A number as short as it can be written.
fn plain(number: f64) -> String {
    format!("{number}")
}

fn number(raw: &Raw) -> Option<f64> {
    match raw {
        Raw::Integer(number) => Some(*number as f64),
        Raw::Float(number) if number.is_finite() => Some(*number),
        _ => None,
    }
}

macro_rules! whole_number {
    ($($ty:ty),*) => {$(
        impl Value for $ty {
            const EXPECTS: &'static str = "a whole number";
            fn read(raw: &Raw) -> Option<Self> {
                match raw {
                    Raw::Integer(number) => <$ty>::try_from(*number).ok(),
                    _ => None,
                }
            }
            fn show(&self) -> String {
                self.to_string()
            }
            fn magnitude(&self) -> Option<f64> {
                Some(*self as f64)
            }
        }
    )*};
}
whole_number!(u16, u32, u64);

impl Value for f64 {
    const EXPECTS: &'static str = "a number, such as 0.28";
    fn read(raw: &Raw) -> Option<f64> {
        number(raw)
    }
    fn show(&self) -> String {
        plain(*self)
    }
    fn magnitude(&self) -> Option<f64> {
        Some(*self)
    }
}

impl Value for bool {
    const EXPECTS: &'static str = "true or false";
    fn read(raw: &Raw) -> Option<bool> {
        match raw {
            Raw::Flag(flag) => Some(*flag),
            _ => None,
        }
    }
    fn show(&self) -> String {
        self.to_string()
    }
}

/// A number of bytes; written as a number or with `KiB`, `MiB`, `GiB`, `TiB`, `kB`, `MB`, `GB`, `TB`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

const BYTE_UNITS: [(&str, u64); 9] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("B", 1),
];

impl Value for Bytes {
    const EXPECTS: &'static str = "a size in bytes, or with kB MB GB TB KiB MiB GiB TiB, such as \"16 KiB\"";

    fn read(raw: &Raw) -> Option<Bytes> {
        match raw {
            Raw::Integer(bytes) => u64::try_from(*bytes).ok().map(Bytes),
            Raw::Text(text) => {
                let text = text.trim();
                if let Ok(bytes) = text.parse() {
                    return Some(Bytes(bytes));
                }
                let (unit, factor) = BYTE_UNITS.iter().find(|(unit, _)| text.ends_with(unit))?;
                let count: f64 = text[..text.len() - unit.len()].trim().parse().ok()?;
                let bytes = count * *factor as f64;
                ((0.0..9e18).contains(&bytes) && bytes.fract() == 0.0).then_some(Bytes(bytes as u64))
            }
            _ => None,
        }
    }

    fn show(&self) -> String {
        let exact = |&&(_, factor): &&(&str, u64)| {
            self.0 >= factor && self.0.is_multiple_of(factor) && self.0 / factor < 10_000
        };
        let mut units: Vec<_> = BYTE_UNITS.iter().collect();
        units.sort_by_key(|(_, factor)| std::cmp::Reverse(*factor));
        match units.iter().find(|unit| exact(unit)) {
            Some((unit, factor)) => format!("{} {unit}", self.0 / factor),
            None => format!("{} B", self.0),
        }
    }

    fn magnitude(&self) -> Option<f64> {
        Some(self.0 as f64)
    }
}

macro_rules! time_value {
    ($name:ident, $doc:literal, $expects:literal, $from:path, $nanos_per_unit:literal) => {
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub Nanos);

        impl Value for $name {
            const EXPECTS: &'static str = $expects;
            fn read(raw: &Raw) -> Option<Self> {
                number(raw).filter(|time| *time >= 0.0 && *time < 1e12).map(|time| $name($from(time)))
            }
            fn show(&self) -> String {
                plain(self.0.0 as f64 / $nanos_per_unit)
            }
            fn magnitude(&self) -> Option<f64> {
                Some(self.0.0 as f64 / $nanos_per_unit)
            }
        }
    };
}
time_value!(Microseconds, "A time whose key ends in `_us`.", "a time in microseconds, a number", Nanos::from_us, 1e3);
time_value!(Milliseconds, "A time whose key ends in `_ms`.", "a time in milliseconds, a number", Nanos::from_ms, 1e6);

/// A time per page kind (lower, middle, upper …): one number for all, or a list with one for each.
#[derive(Clone, Debug, PartialEq)]
pub struct PageTimes(pub Vec<Nanos>);

impl Value for PageTimes {
    const EXPECTS: &'static str = "a time in microseconds, or a list with one per page kind, such as [40, 60, 90]";

    fn read(raw: &Raw) -> Option<PageTimes> {
        let one = |raw: &Raw| Microseconds::read(raw).map(|time| time.0);
        match raw {
            Raw::List(items) if !items.is_empty() => items.iter().map(one).collect::<Option<_>>().map(PageTimes),
            _ => one(raw).map(|time| PageTimes(vec![time])),
        }
    }

    fn show(&self) -> String {
        let times: Vec<String> = self.0.iter().map(|time| plain(time.as_us())).collect();
        times.join(" / ")
    }

    fn magnitude(&self) -> Option<f64> {
        self.0.iter().min().map(|time| time.as_us())
    }
}

impl<T: Value> Value for Option<T> {
    const EXPECTS: &'static str = T::EXPECTS;
    fn read(raw: &Raw) -> Option<Option<T>> {
        match raw {
            Raw::Text(text) if text == "none" => Some(None),
            _ => T::read(raw).map(Some),
        }
    }
    fn show(&self) -> String {
        self.as_ref().map_or_else(|| String::from("none"), T::show)
    }
    fn magnitude(&self) -> Option<f64> {
        self.as_ref().and_then(T::magnitude)
    }
}

/// Declares an enum whose variants have a name in profiles.
#[macro_export]
macro_rules! named_choice {
    ($(#[$doc:meta])* pub enum $name:ident { $( $(#[$vdoc:meta])* $variant:ident = $text:literal ),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $name { $( $(#[$vdoc])* $variant, )* }

        impl $name {
            /// Each of them, in the order of their declaration.
            pub const ALL: [$name; [$( $text ),*].len()] = [$( $name::$variant ),*];
        }

        impl $crate::parameter::Value for $name {
            const EXPECTS: &'static str = concat!("one of", $(" \"", $text, "\"",)*);
            fn read(raw: &$crate::parameter::Raw) -> Option<Self> {
                match raw {
                    $crate::parameter::Raw::Text(text) => match text.as_str() {
                        $( $text => Some($name::$variant), )*
                        _ => None,
                    },
                    _ => None,
                }
            }
            fn show(&self) -> String {
                match self { $( $name::$variant => $text.to_string(), )* }
            }
        }
    };
}

/// What is wrong with one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The dotted key, or the keys that do not fit each other.
    pub key: String,
    /// The value as given; empty where it is missing.
    pub value: String,
    /// What is wrong and what is allowed.
    pub message: String,
}

impl Problem {
    /// A problem with the value of `key`.
    pub fn new(key: &str, value: impl fmt::Display, message: impl Into<String>) -> Problem {
        Problem { key: key.to_string(), value: value.to_string(), message: message.into() }
    }
}

/// How a parameter is declared: what `show` and the documentation print.
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    /// Dotted key.
    pub key: &'static str,
    /// Unit for people; empty for counts and names.
    pub unit: &'static str,
    /// One sentence.
    pub about: &'static str,
    /// The default as TOML, where there is one.
    pub default: Option<&'static str>,
    /// What is allowed.
    pub expects: &'static str,
}

/// Where a section's values come from while it is being read.
pub trait Source {
    /// The value given for a dotted key, or its default.
    fn get(&mut self, declaration: &Declaration) -> Result<Raw, Problem>;
}

/// Reads one parameter: given or default, right type, inside its range.
///
/// # Errors
/// A [`Problem`] that names the key, the value and the range.
pub fn read_parameter<T: Value>(
    source: &mut dyn Source,
    declaration: &Declaration,
    range: Option<(f64, f64)>,
) -> Result<T, Problem> {
    let raw = source.get(declaration)?;
    let value = T::read(&raw)
        .ok_or_else(|| Problem::new(declaration.key, &raw, format!("expected {}", declaration.expects)))?;
    if let (Some((low, high)), Some(magnitude)) = (range, value.magnitude())
        && !(low..=high).contains(&magnitude)
    {
        let unit = if declaration.unit.is_empty() { String::new() } else { format!(" {}", declaration.unit) };
        return Err(Problem::new(declaration.key, &raw, format!("must be {low} to {high}{unit}")));
    }
    Ok(value)
}

/// A section of a profile, whichever it is.
pub trait Section {
    /// Key and text of every parameter, for people.
    fn show(&self) -> Vec<(&'static str, String)>;
}

/// Declares a section of a profile: `field: type [unit] {low..high} = default "about";`.
/// A field without a default must be given.
#[macro_export]
macro_rules! section {
    (@default) => { None };
    (@default $default:literal) => { Some($default) };
    (@range) => { None };
    (@range $low:literal .. $high:literal) => { Some(($low as f64, $high as f64)) };
    (
        $(#[$doc:meta])*
        pub struct $name:ident in $prefix:literal {
            $( $field:ident : $ty:ty [$unit:literal] {$($low:literal .. $high:literal)?} $(= $default:literal)? , $about:literal ; )*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name { $( #[doc = $about] pub $field: $ty, )* }

        impl $crate::parameter::Section for $name {
            fn show(&self) -> Vec<(&'static str, String)> {
                vec![ $( (concat!($prefix, stringify!($field)), $crate::parameter::Value::show(&self.$field)), )* ]
            }
        }

        impl $name {
            /// Every parameter of the section.
            pub const DECLARATIONS: &'static [$crate::parameter::Declaration] = &[
                $( $crate::parameter::Declaration {
                    key: concat!($prefix, stringify!($field)),
                    unit: $unit,
                    about: $about,
                    default: $crate::section!(@default $($default)?),
                    expects: <$ty as $crate::parameter::Value>::EXPECTS,
                }, )*
            ];

            /// Reads the section.
            ///
            /// # Errors
            /// The first parameter that is missing, of the wrong type or out of range.
            pub fn read(source: &mut dyn $crate::parameter::Source) -> Result<$name, $crate::parameter::Problem> {
                let mut declarations = Self::DECLARATIONS.iter();
                Ok($name { $( $field: $crate::parameter::read_parameter::<$ty>(
                    source,
                    declarations.next().expect("one declaration a field"),
                    $crate::section!(@range $($low .. $high)?),
                )?, )* })
            }
        }
    };
}

#[cfg(test)]
mod test {
    use super::*;

    /// Sizes are read in their IEC and SI meaning, and shown with the largest exact unit.
    #[test]
    fn bytes_have_units() {
        let read = |text: &str| Bytes::read(&Raw::Text(text.into())).map(|bytes| bytes.0);
        assert_eq!(read("16 KiB"), Some(16_384));
        assert_eq!(read("80GB"), Some(80_000_000_000));
        assert_eq!(read("1.5 MiB"), Some(1_572_864));
        assert_eq!(read("12 parsecs"), None);
        assert_eq!(read("-1 KiB"), None);
        assert_eq!(Bytes(16_384).show(), "16 KiB");
        assert_eq!(Bytes(80_000_000_000).show(), "80 GB");
    }

    /// A list of page times has one entry a page kind; a single number serves all kinds.
    #[test]
    fn page_times_are_one_or_many() {
        assert_eq!(PageTimes::read(&Raw::Integer(75)).unwrap().0, vec![Nanos(75_000)]);
        let list = Raw::List(vec![Raw::Integer(40), Raw::Float(60.5)]);
        assert_eq!(PageTimes::read(&list).unwrap().0, vec![Nanos(40_000), Nanos(60_500)]);
        assert_eq!(PageTimes::read(&Raw::List(vec![])), None);
    }
}
