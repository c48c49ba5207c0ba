//! The kitchen: drawings in one hand for the parts of the machine, lit by the same state as the boxes.
//!
//! Each drawing is one line of path data on a grid of its own; the stroke keeps its weight at every size.

use crate::i18n::Words;
use crate::i18n::deeds::clip;
use crate::model::kitchen::{Closing, Hand, closing, menu};
use crate::model::objects::State;
use crate::model::place::{Plan, Rect};
use crate::ui::svg::Svg;
use engine::ids::Key;
use engine::scene::{ControllerView, Scene};

const CLOCHE: &str = "M1 21h30M4 18a12 12 0 0 1 24 0zM16 6V3M13 3h6";
const RINGING: &str = "M1 9a10 10 0 0 1 5-6M31 9a10 10 0 0 0-5-6";
const GUEST: &str = "M16 3a6 6 0 1 1 0 12a6 6 0 1 1 0-12M5 30c0-8 5-12 11-12s11 4 11 12";
const LEDGER: &str = "M2 1h13v15H2zM5 1v15M8 6h4M8 10h4";
const BOOK: &str = "M16 5C12 2 7 2 2 3v18c5-1 10-1 14 2 4-3 9-3 14-2V3c-5-1-10-1-14 2zM16 5v18";
const CLIP: &str = "M1 4h30M6 4v3M6 9h7v13H3V9zM22 4v3M19 9h10v13H19z";
const WOK: &str = "M1 9h21a10 9 0 0 1-21 0zM22 9l9-5M8 22h8";
const MENU: &str = "M2 1h9v13H2zM5 4h3M5 7h3M5 10h3";
const CLOCK: &str = "M7 1a6 6 0 1 1 0 12a6 6 0 1 1 0-12M7 4v3l2 2";
const SERVER_CRACK: &str = "M16 6l-3 4 5 3-3 5";

const CHEF: &str = "M14 13c-7 0-7-9 0-9 1-5 11-5 12 0 7 0 7 9 0 9zM14 13v4h12v-4M15 17c0 9 10 9 10 0M9 48c0-14 4-19 11-19s11 5 11 19M37 50h24";
const COOKING: &str = "M29 35l9 2M38 34h20a10 7 0 0 1-20 0zM58 34l7-3";
const FOLDED: &str = "M12 37l8 4 8-5M28 40l-9-3M38 43h20a10 7 0 0 1-20 0zM58 43l7-3";
const STOVE_FIRE: &str =
    "M43 50c-3-3 0-4 0-7 3 2 4 4 0 7zM49 50c-3-3 0-4 0-7 3 2 4 4 0 7zM55 50c-3-3 0-4 0-7 3 2 4 4 0 7z";
const SPOILT: &str = "M44 43l4 3-3 2 4 3M43 28l10 8M53 28l-10 8";

const POT: &str = "M6 12h36v9a9 9 0 0 1-9 9H15a9 9 0 0 1-9-9zM6 15H1M42 15h5";
const LID: &str = "M6 12a18 5 0 0 1 36 0M24 7V5";
const STEAM: &str = "M15 8c-3-3 2-4 0-8M24 8c-3-3 2-4 0-8M33 8c-3-3 2-4 0-8";
const FIRE: &str = "M14 38c-3-3 0-4 0-7 3 2 4 4 0 7zM24 38c-3-3 0-4 0-7 3 2 4 4 0 7zM34 38c-3-3 0-4 0-7 3 2 4 4 0 7z";
const CRACK: &str = "M33 12l-4 5 5 4-5 9";
const JAR: &str = "M3 1h7v3l2 3v8H1V7l2-3zM1 9h11";

/// The drawing beside a title.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    Pass,
    Book,
    Rail,
    Wok,
}

/// Room that a sign takes in front of a title.
pub const SIGN: f32 = 32.0;

pub fn sign(svg: &mut Svg, class: &str, at: (f32, f32), sign: Sign) {
    let d = match sign {
        Sign::Pass => CLOCHE,
        Sign::Book => BOOK,
        Sign::Rail => CLIP,
        Sign::Wok => WOK,
    };
    svg.art(class, at, 0.8, d);
}

pub fn guest(svg: &mut Svg, at: (f32, f32)) {
    svg.art("quiet", at, 0.8, GUEST);
}

/// The ledger in front of its last lines, and the menu of what may be ordered.
pub fn counter(svg: &mut Svg, r: Rect, scene: &Scene, w: &Words, refused: bool) {
    svg.art("api", (r.x + 14.0, r.y + 70.0), 1.0, LEDGER);
    if refused {
        svg.art("broken", (r.x + 10.0, r.y + 7.0), 0.8, SERVER_CRACK);
        return;
    }
    let kinds = menu(scene);
    if !kinds.is_empty() {
        let words = clip(&format!("{} {}", w.menu, kinds.join(" ")), ((r.w - 150.0) / 6.4) as usize);
        svg.text("small end", (r.x + r.w - 28.0, r.y + 118.0), &words);
        svg.art("api", (r.x + r.w - 24.0, r.y + 106.0), 1.0, MENU);
    }
}

/// The bell on the pass; it rings while a change waits to be copied into the book.
pub fn bell(svg: &mut Svg, at: (f32, f32), rings: bool) {
    svg.art("watch", at, 0.6, CLOCHE);
    if rings {
        svg.art("watch", at, 0.6, RINGING);
    }
}

/// Tickets on the rail are the keys that wait.
pub fn rail(svg: &mut Svg, r: Rect, w: &Words, view: &ControllerView) {
    let y = r.y + 38.0;
    svg.rect("rail", (r.x + 12.0, y), (r.w - 24.0, 4.0), 2);
    let width = (r.w - 32.0) / 3.0;
    let waiting = &view.shot.ready;
    for (i, key) in waiting.iter().take(3).enumerate() {
        ticket(svg, (r.x + 14.0 + (width + 2.0) * i as f32, y + 4.0), width, key);
    }
    if waiting.is_empty() {
        svg.text("small mid", (r.x + r.w / 2.0, y + 24.0), w.rail_empty);
    }
    if view.shot.len > 3 {
        svg.text("small end", (r.x + r.w - 12.0, y - 4.0), &format!("+{}", view.shot.len - 3));
    }
}

fn ticket(svg: &mut Svg, at: (f32, f32), width: f32, key: &Key) {
    svg.rect("nail", (at.0 + width / 2.0 - 3.0, at.1 - 5.0), (6.0, 6.0), 3);
    svg.rect("slip", (at.0, at.1 + 2.0), (width, 32.0), 2);
    svg.text("sliptext mid", (at.0 + width / 2.0, at.1 + 22.0), &clip(&key.name, (width / 6.6) as usize));
}

pub fn cooling(svg: &mut Svg, at: (f32, f32)) {
    svg.art("queue", at, 1.0, CLOCK);
}

/// The chef beside the stove: cooking, arms folded, or before a spoilt dish.
pub fn chef(svg: &mut Svg, plan: &Plan, hand: Hand) {
    let mut draw = |class: &str, d: &str| svg.art(class, plan.chef, 0.9, d);
    draw(if hand == Hand::Away { "away" } else { "recon" }, CHEF);
    match hand {
        Hand::Cooking => {
            draw("recon", COOKING);
            draw("flame", STOVE_FIRE);
        }
        Hand::Spoilt => {
            draw("recon", FOLDED);
            draw("broken", SPOILT);
        }
        Hand::Resting => draw("recon", FOLDED),
        Hand::Away => draw("broken", SPOILT),
    }
}

/// How a pod is drawn as a pot.
pub struct Pot<'a> {
    pub name: &'a str,
    pub state: State,
    pub jar: bool,
    pub chosen: bool,
}

/// A pot with its number on it and its jar beside it: steam when Ready, fire below while it heats, a crack when broken.
pub fn pot(svg: &mut Svg, at: (f32, f32), (width, height): (f32, f32), pot: &Pot) {
    let scale = (height / 42.0).min(1.0);
    let (class, over, under) = match pot.state {
        State::Ready | State::Plain => ("pot ready", STEAM, ""),
        State::Starting => ("pot starting", LID, FIRE),
        State::Leaving => ("pot leaving", LID, ""),
        State::Failed => ("pot failed", CRACK, ""),
    };
    let class = if pot.chosen { format!("{class} chosen") } else { class.to_string() };
    svg.rect("touch", at, (width, height), 4);
    for d in [POT, over, under].into_iter().filter(|d| !d.is_empty()) {
        svg.art(if d == FIRE { "flame" } else { &class }, at, scale, d);
    }
    let number = pot.name.rsplit('-').next().unwrap_or(pot.name);
    let middle = (at.0 + 24.0 * scale, at.1 + 25.0 * scale);
    svg.text(&format!("{class} mid"), middle, &clip(number, 4));
    let left = at.0 + 50.0 * scale;
    if width > 50.0 * scale + 40.0 {
        let mark = pot.state.mark();
        let room = ((width - 50.0 * scale) / 7.4) as usize;
        svg.text("small ink", (left + 3.0, at.1 + 17.0 * scale), &clip(&format!("{mark} {}", pot.name), room));
        if pot.jar && height > 34.0 {
            svg.art("data", (left + 4.0, at.1 + 22.0 * scale), 0.9, JAR);
        }
    }
}

/// The checklist on the door while something is being closed: every finalizer left is a line not yet ticked.
pub fn checklist(svg: &mut Svg, plan: &Plan, scene: &Scene, w: &Words) {
    let Some(Closing { name, left }) = closing(scene) else { return };
    let r = plan.checklist;
    let letters = ((r.w - 28.0) / 6.4) as usize;
    let height = 46.0 + 18.0 * left.len().min(3) as f32;
    svg.rect("card", (r.x, r.y), (r.w, height), 6);
    svg.rect("nail", (r.x + r.w / 2.0 - 12.0, r.y - 4.0), (24.0, 8.0), 3);
    svg.text("title fault", (r.x + 10.0, r.y + 21.0), w.closing);
    svg.text("mono", (r.x + 10.0, r.y + 37.0), &clip(&name, letters + 2));
    for (i, finalizer) in left.iter().take(3).enumerate() {
        let y = r.y + 44.0 + 18.0 * i as f32;
        svg.rect("tickbox", (r.x + 10.0, y), (10.0, 10.0), 2);
        let short = finalizer.rsplit('/').next().unwrap_or(finalizer);
        svg.text("mono", (r.x + 26.0, y + 9.0), &clip(short, letters));
    }
}
