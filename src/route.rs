//! Where on the page the reader is, and the address that says so. Pure: text in, text out.
//!
//! An address is a list of `name=value` divided by `&`, in the query or behind the mark; what stands behind the mark wins.
//! A share link stands behind the mark by itself, with options after it. What is not understood is passed over.

use crate::i18n::{Lang, Theme};
use engine::scenario::UNTIL_MAX;
use engine::time::SimTime;

/// What is shown.
#[derive(Clone, PartialEq, Eq)]
pub enum Place {
    Home,
    Lesson(String),
    Scenario(String),
    Sandbox,
    /// A run in a link.
    Shared(String),
    /// What this model does not do.
    About,
}

/// Name of the sandbox in an address.
const SANDBOX: &str = "sandbox";
/// Longest name of a scenario or lesson that is looked for.
const NAME_MAX: usize = 64;

/// Panels beside the stage that an embedding page may ask for.
pub const PANELS: [&str; 3] = ["side", "inspector", "timeline"];

/// How it is shown: what a page that embeds this one can ask for.
#[derive(Clone, PartialEq, Eq)]
pub struct Options {
    pub embed: bool,
    pub from: SimTime,
    pub to: Option<SimTime>,
    pub looped: bool,
    /// Which of [`PANELS`] are shown.
    pub panels: [bool; 3],
    pub controls: bool,
    pub lang: Option<Lang>,
    pub theme: Option<Theme>,
    /// Whether things may move by themselves; `None`: as the reader's machine prefers.
    pub motion: Option<bool>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            embed: false,
            from: SimTime::ZERO,
            to: None,
            looped: false,
            panels: [false, false, true],
            controls: true,
            lang: None,
            theme: None,
            motion: None,
        }
    }
}

#[derive(Clone, PartialEq, Eq)]
pub struct Route {
    pub place: Place,
    pub options: Options,
}

impl Route {
    /// Reads an address.
    #[must_use]
    pub fn parse(query: &str, fragment: &str) -> Route {
        let mut route = Route { place: Place::Home, options: Options::default() };
        for part in query.split('&').chain(fragment.split('&')).filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            if let Some(place) = place(name, value) {
                route.place = place;
            } else {
                route.options.read(name, value);
            }
        }
        route
    }

    /// The address behind the mark.
    #[must_use]
    pub fn fragment(&self) -> String {
        let mut parts = vec![self.place.fragment()];
        self.options.write(&mut parts);
        parts.retain(|part| !part.is_empty());
        parts.join("&")
    }
}

fn place(name: &str, value: &str) -> Option<Place> {
    let named = || value.chars().take(NAME_MAX).collect::<String>();
    match name {
        "s" if value == SANDBOX => Some(Place::Sandbox),
        "s" => Some(Place::Scenario(named())),
        "l" => Some(Place::Lesson(named())),
        "about" => Some(Place::About),
        // `v1.…`: the version of a link and its text.
        _ if name.starts_with('v') && name[1..].starts_with(|c: char| c.is_ascii_digit()) => {
            Some(Place::Shared(if value.is_empty() { name.to_string() } else { format!("{name}={value}") }))
        }
        _ => None,
    }
}

impl Place {
    #[must_use]
    pub fn fragment(&self) -> String {
        match self {
            Place::Home => String::new(),
            Place::Lesson(name) => format!("l={name}"),
            Place::Scenario(name) => format!("s={name}"),
            Place::Sandbox => format!("s={SANDBOX}"),
            Place::Shared(link) => link.clone(),
            Place::About => "about".to_string(),
        }
    }
}

impl Options {
    fn read(&mut self, name: &str, value: &str) {
        let on = !matches!(value, "0" | "false" | "no");
        match name {
            "embed" => self.embed = on,
            "from" => self.from = instant(value).unwrap_or(self.from),
            "to" => self.to = instant(value).or(self.to),
            "loop" => self.looped = on,
            "panels" => self.panels = PANELS.map(|panel| value.split(',').any(|wanted| wanted == panel)),
            "controls" => self.controls = on,
            "lang" => self.lang = Lang::of(value),
            "theme" => self.theme = Theme::of(value),
            "motion" => self.motion = Some(on && value != "reduce"),
            _ => {}
        }
    }

    fn write(&self, parts: &mut Vec<String>) {
        let plain = Options::default();
        let mut say = |differs: bool, text: String| {
            if differs {
                parts.push(text);
            }
        };
        say(self.embed, "embed=1".to_string());
        say(self.from != plain.from, format!("from={}", seconds(self.from)));
        say(self.to.is_some(), format!("to={}", seconds(self.to.unwrap_or_default())));
        say(self.looped, "loop=1".to_string());
        let shown: Vec<&str> = PANELS.iter().zip(self.panels).filter(|(_, on)| *on).map(|(name, _)| *name).collect();
        say(self.panels != plain.panels, format!("panels={}", shown.join(",")));
        say(!self.controls, "controls=0".to_string());
        say(self.lang.is_some(), format!("lang={}", self.lang.map_or("", Lang::code)));
        say(self.theme.is_some(), format!("theme={}", self.theme.map_or("", Theme::code)));
        say(self.motion.is_some(), format!("motion={}", if self.motion == Some(true) { "full" } else { "reduce" }));
    }
}

/// Seconds with up to six decimals, as an instant no later than a run may last.
#[must_use]
pub fn instant(text: &str) -> Option<SimTime> {
    let (whole, part) =
        text.strip_suffix('s').unwrap_or(text).split_once('.').unwrap_or((text.trim_end_matches('s'), ""));
    let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || whole.len() > 6 || part.len() > 6 || !digits(whole) || !digits(part) {
        return None;
    }
    let micros = format!("{part:0<6}").parse::<u64>().ok()?;
    Some(SimTime((whole.parse::<u64>().ok()? * 1_000_000 + micros).min(UNTIL_MAX.0)))
}

fn seconds(at: SimTime) -> String {
    let text = format!("{}.{:06}", at.0 / 1_000_000, at.0 % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_comes_back_from_its_address() {
        let places = [
            Place::Home,
            Place::Lesson("control-loop".into()),
            Place::Scenario("self-healing".into()),
            Place::Sandbox,
            Place::Shared("v1.abc-_".into()),
            Place::About,
        ];
        for place in places {
            let options = Options {
                embed: true,
                from: SimTime(4_500_000),
                to: Some(SimTime(12_000_000)),
                looped: true,
                panels: [true, false, false],
                controls: false,
                lang: Some(Lang::Zh),
                theme: Some(Theme::Dark),
                motion: Some(false),
            };
            let route = Route { place, options };
            assert!(Route::parse("", &route.fragment()) == route, "{}", route.fragment());
        }
    }

    #[test]
    fn what_stands_behind_the_mark_wins_over_the_query_and_nonsense_is_passed_over() {
        let route = Route::parse("embed=1&s=control-loop&utm=x", "s=self-healing&to=never&panels=");
        assert!(route.place == Place::Scenario("self-healing".into()));
        assert!(route.options == Options { embed: true, panels: [false; 3], ..Options::default() });
    }

    #[test]
    fn instants_are_exact_and_bounded() {
        assert_eq!(instant("4.312"), Some(SimTime(4_312_000)));
        assert_eq!(instant("5s"), Some(SimTime(5_000_000)));
        assert_eq!(instant("999999"), Some(SimTime(UNTIL_MAX.0)));
        for wrong in ["", "-1", "1e9", "1.2.3", "9999999", "1.1234567", "٣"] {
            assert_eq!(instant(wrong), None, "{wrong}");
        }
        assert_eq!(seconds(SimTime(4_312_000)), "4.312");
        assert_eq!(seconds(SimTime(10_000_000)), "10");
    }
}
