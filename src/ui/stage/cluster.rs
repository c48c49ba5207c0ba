//! Nodes with their pods.

use super::kitchen::{self, Pot};
use super::name_of;
use crate::i18n::deeds::clip;
use crate::i18n::{Skin, Text, Words};
use crate::model::kitchen::keeps;
use crate::model::objects::{ObjectId, pods_on, slug, state};
use crate::model::place::Rect;
use crate::ui::svg::Svg;
use engine::event::ProcessState;
use engine::ids::{GroupResource, Key};
use engine::object::{Object, ObjectView};
use engine::scene::Scene;

/// Height of a pod with room around it.
const POD: f32 = 27.0;
/// Height of a pot where there is room for it.
const POT: f32 = 64.0;

pub fn nodes(svg: &mut Svg, r: Rect, scene: &Scene, w: &Words, t: &Text, chosen: Option<&ObjectId>) {
    let name = if w.nodes_small.is_empty() { w.nodes.to_string() } else { format!("{} · {}", w.nodes, w.nodes_small) };
    svg.text("title data", (r.x, r.y - 8.0), &name);
    let all: Vec<(&Key, &Object)> = scene.of("", "nodes").collect();
    let waiting = pods_on(scene, "");
    let boxes = all.len().max(1) + usize::from(!waiting.is_empty());
    let height = r.h / boxes as f32;
    for (i, (key, node)) in all.iter().enumerate() {
        let place = Rect { x: r.x, y: r.y + height * i as f32, w: r.w, h: height - 8.0 };
        let down = scene.processes.get(&*format!("kubelet/{}", key.name)).is_some_and(|s| *s == ProcessState::Down);
        let word = if down || node.condition("Ready") != "True" { t.down } else { "" };
        one(svg, place, (&key.name, word), &pods_on(scene, &key.name), chosen, w.skin);
    }
    if !waiting.is_empty() {
        let place = Rect { x: r.x, y: r.y + height * all.len() as f32, w: r.w, h: height - 8.0 };
        one(svg, place, (t.pending, ""), &waiting, chosen, w.skin);
    }
}

fn one(
    svg: &mut Svg,
    r: Rect,
    (name, word): (&str, &str),
    pods: &[(Key, Object)],
    chosen: Option<&ObjectId>,
    skin: Skin,
) {
    svg.rect(if word.is_empty() { "box data" } else { "box downed" }, (r.x, r.y), (r.w, r.h), 10);
    let head = if word.is_empty() { name.to_string() } else { format!("{name} · {word}") };
    svg.text("small", (r.x + 12.0, r.y + 17.0), &head);
    let columns = if pods.len() as f32 * POD > r.h - 24.0 { 2 } else { 1 };
    let high = if skin == Skin::Kitchen { (r.h - 24.0) / pods.len().div_ceil(columns).max(1) as f32 } else { POD };
    let high = high.clamp(POD, POT);
    let rows = (((r.h - 24.0) / high) as usize).max(1);
    let width = (r.w - 20.0) / columns as f32;
    for (i, (key, pod)) in pods.iter().take(rows * columns).enumerate() {
        let at = (r.x + 10.0 + width * (i % columns) as f32, r.y + 24.0 + high * (i / columns) as f32);
        draw_pod(svg, at, (width - 4.0, high - 4.0), (key, pod), chosen, skin);
    }
    if pods.len() > rows * columns {
        svg.text("small end", (r.x + r.w - 10.0, r.y + 17.0), &format!("+{}", pods.len() - rows * columns));
    }
}

fn draw_pod(
    svg: &mut Svg,
    at: (f32, f32),
    size: (f32, f32),
    (key, pod): (&Key, &Object),
    chosen: Option<&ObjectId>,
    skin: Skin,
) {
    let id = (GroupResource::new("", "pods"), key.clone());
    let state = state(pod);
    let is_chosen = chosen == Some(&id);
    let mut inner = Svg::default();
    if skin == Skin::Kitchen {
        kitchen::pot(&mut inner, at, size, &Pot { name: &key.name, state, jar: keeps(pod), chosen: is_chosen });
    } else {
        let mark = if is_chosen { "chosen" } else { "" };
        let words = format!("{} {}", clip(&key.name, (size.0 / 7.6) as usize), state.mark());
        inner.chip(&format!("pod {} {mark}", state.class()), at, size, &words);
    }
    svg.choosable(&name_of(&id), &slug("pod", &key.name), inner);
}
