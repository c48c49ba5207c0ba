//! Nodes with their pods.

use super::name_of;
use crate::i18n::deeds::clip;
use crate::i18n::{Text, Words};
use crate::model::objects::{ObjectId, pods_on, slug, state};
use crate::model::place::Rect;
use crate::ui::svg::Svg;
use engine::event::ProcessState;
use engine::ids::{GroupResource, Key};
use engine::object::{Object, ObjectView};
use engine::scene::Scene;

/// Height of a pod with room around it.
const POD: f32 = 27.0;

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
        one(svg, place, &key.name, word, &pods_on(scene, &key.name), chosen);
    }
    if !waiting.is_empty() {
        let place = Rect { x: r.x, y: r.y + height * all.len() as f32, w: r.w, h: height - 8.0 };
        one(svg, place, t.pending, "", &waiting, chosen);
    }
}

fn one(svg: &mut Svg, r: Rect, name: &str, word: &str, pods: &[(Key, Object)], chosen: Option<&ObjectId>) {
    svg.rect(if word.is_empty() { "box data" } else { "box downed" }, (r.x, r.y), (r.w, r.h), 10);
    let head = if word.is_empty() { name.to_string() } else { format!("{name} · {word}") };
    svg.text("small", (r.x + 12.0, r.y + 17.0), &head);
    let columns = if pods.len() as f32 * POD > r.h - 24.0 { 2 } else { 1 };
    let rows = (((r.h - 24.0) / POD) as usize).max(1);
    let width = (r.w - 20.0) / columns as f32;
    for (i, (key, pod)) in pods.iter().take(rows * columns).enumerate() {
        let at = (r.x + 10.0 + width * (i % columns) as f32, r.y + 24.0 + POD * (i / columns) as f32);
        draw_pod(svg, at, width - 4.0, key, pod, chosen);
    }
    if pods.len() > rows * columns {
        svg.text("small end", (r.x + r.w - 10.0, r.y + 17.0), &format!("+{}", pods.len() - rows * columns));
    }
}

fn draw_pod(svg: &mut Svg, at: (f32, f32), width: f32, key: &Key, pod: &Object, chosen: Option<&ObjectId>) {
    let id = (GroupResource::new("", "pods"), key.clone());
    let state = state(pod);
    let mark = if chosen == Some(&id) { "chosen" } else { "" };
    let mut inner = Svg::default();
    let words = format!("{} {}", clip(&key.name, (width / 7.6) as usize), state.mark());
    inner.chip(&format!("pod {} {mark}", state.class()), at, (width, POD - 4.0), &words);
    svg.choosable(&name_of(&id), &slug("pod", &key.name), inner);
}
