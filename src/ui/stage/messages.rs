//! Messages on their way, each at its true place at the instant shown.

use super::focus;
use crate::i18n::deeds::pill;
use crate::model::place::{Plan, position};
use crate::ui::svg::Svg;
use engine::event::{Carries, Message};
use engine::scene::Scene;
use engine::time::SimTime;

/// Drawn at most; a burst of more would hide itself.
const DRAWN_MAX: usize = 40;
/// Width of a letter on a pill.
const LETTER: f32 = 6.4;

fn class(message: &Message) -> &'static str {
    match &message.carries {
        Carries::Watch { .. } => "pill watch",
        Carries::Answer { code, .. } if *code >= 400 => "pill fault",
        Carries::Answer { .. } => "pill answer",
        Carries::Request { verb, .. } if matches!(*verb, "get" | "list" | "watch") => "pill read",
        Carries::Request { .. } => "pill write",
    }
}

/// The reflectors of other processes: their conversation would bury the loop that is drawn.
fn chatter(message: &Message, focus: &str) -> bool {
    let other = ![&message.from, &message.to].iter().any(|p| ***p == *focus || &***p == "kubectl");
    other
        && match &message.carries {
            Carries::Request { verb, .. } => matches!(*verb, "list" | "watch"),
            Carries::Answer { key, .. } => key.name.is_empty(),
            Carries::Watch { .. } => !message.to.starts_with("kubelet"),
        }
}

#[must_use]
pub fn draw(plan: &Plan, scene: &Scene, now: SimTime) -> String {
    let focus = focus::process(scene);
    let mut svg = Svg::default();
    let shown = scene.messages.values().filter(|m| !m.background && m.sent_at <= now && !chatter(m, focus));
    for message in shown.take(DRAWN_MAX) {
        let (x, y) = position(plan, message, focus, now);
        let words = pill(&message.carries);
        let width = 14.0 + words.chars().count() as f32 * LETTER;
        let x = x.clamp(width / 2.0, plan.size.0 - width / 2.0);
        svg.rect(class(message), (x - width / 2.0, y - 10.0), (width, 20.0), 10);
        svg.text("pilltext", (x, y + 3.8), &words);
    }
    svg.0
}
