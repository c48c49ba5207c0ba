//! The boxes of the loop: server, informer, queue, reconcile, and who else talks to the server.

use super::{cluster, focus, kitchen};
use crate::i18n::deeds::clip;
use crate::i18n::{Lang, Skin, Text, Words};
use crate::model::gauge::Gauge;
use crate::model::kitchen::hand;
use crate::model::number::span;
use crate::model::objects::ObjectId;
use crate::model::place::{Edge, Plan, Rect};
use crate::ui::svg::Svg;
use engine::event::Phase;
use engine::ids::{GroupResource, Key};
use engine::object::ObjectView;
use engine::scene::{InformerView, Scene};

const CHIP: f32 = 18.0;

fn frame(svg: &mut Svg, (class, sign): (&str, Option<kitchen::Sign>), r: Rect, title: &str, small: &str, right: &str) {
    svg.rect(&format!("box {class}"), (r.x, r.y), (r.w, r.h), 12);
    if let Some(sign) = sign {
        kitchen::sign(svg, class, (r.x + 12.0, r.y + 6.0), sign);
    }
    let room = if sign.is_some() { kitchen::SIGN } else { 0.0 };
    // A letter takes about seven pixels, a Chinese one twice as many.
    let wide = |text: &str| text.chars().map(|c| if c.is_ascii() { 7.0 } else { 13.0 }).sum::<f32>();
    let fits = 40.0 + room + wide(title) + wide(small) + wide(right) < r.w;
    let name = if small.is_empty() || !fits { title.to_string() } else { format!("{title} · {small}") };
    svg.text(&format!("title {class}"), (r.x + 14.0 + room, r.y + 23.0), &name);
    svg.text("small end", (r.x + r.w - 12.0, r.y + 23.0), right);
}

/// The sign of a box, in the kitchen.
fn sign(w: &Words, sign: kitchen::Sign) -> Option<kitchen::Sign> {
    (w.skin == Skin::Kitchen).then_some(sign)
}

/// Everything but the messages.
#[must_use]
pub fn draw(plan: &Plan, scene: &Scene, w: &Words, t: &Text, chosen: Option<&ObjectId>, foot: (Lang, u64)) -> String {
    let mut svg = Svg::default();
    kubectl(&mut svg, plan.kubectl, scene, w);
    managers(&mut svg, plan.managers, scene, w, t);
    if scene.messages.values().any(|m| &*m.to == "outside" || &*m.from == "outside") {
        svg.path("way", &plan.curve(Edge::Outside).path());
        svg.rect("box quiet", (plan.outside.x, plan.outside.y), (plan.outside.w, plan.outside.h), 10);
        svg.text("title mid", (plan.outside.x + plan.outside.w / 2.0, plan.outside.y + 26.0), w.outside);
    }
    server(&mut svg, plan.server, scene, w);
    informer(&mut svg, plan.informer, scene, w);
    queue(&mut svg, plan.queue, scene, w);
    reconcile(&mut svg, plan, scene, w);
    cluster::nodes(&mut svg, plan.nodes, scene, w, t, chosen);
    for (at, words) in plan.labels.iter().zip(w.edges) {
        svg.text("edge", *at, words);
    }
    footer(&mut svg, plan, scene, w, foot);
    if w.skin == Skin::Kitchen {
        kitchen::checklist(&mut svg, plan, scene, w);
    }
    svg.0
}

fn kubectl(svg: &mut Svg, r: Rect, scene: &Scene, w: &Words) {
    svg.rect("box quiet", (r.x, r.y), (r.w, r.h), 10);
    let room = if w.skin == Skin::Kitchen && r.w > 120.0 { 30.0 } else { 0.0 };
    if room > 0.0 {
        kitchen::guest(svg, (r.x + 8.0, r.y + 16.0));
    }
    svg.text("title", (r.x + 12.0 + room, r.y + 23.0), w.kubectl);
    let last = scene.printed.back().map_or(w.kubectl_idle, |(_, text, _)| text.trim());
    let short = last.rsplit_once('/').map_or(last, |(_, tail)| tail);
    svg.text("mono", (r.x + 12.0 + room, r.y + 44.0), &clip(short, ((r.w - room) / 7.2) as usize));
}

fn managers(svg: &mut Svg, r: Rect, scene: &Scene, w: &Words, t: &Text) {
    svg.rect("box quiet", (r.x, r.y), (r.w, r.h), 10);
    svg.text("title", (r.x + 12.0, r.y + 22.0), w.managers);
    let focus = focus::process(scene);
    let others =
        scene.processes.iter().filter(|(id, _)| &***id != focus && !id.starts_with("kubelet") && &***id != "kubectl");
    for (row, (id, state)) in others.take(4).enumerate() {
        let name = id.strip_prefix("kube-").unwrap_or(id);
        let word = match state {
            engine::event::ProcessState::Running => String::new(),
            engine::event::ProcessState::Frozen => format!(" · {}", t.frozen),
            engine::event::ProcessState::Down => format!(" · {}", t.down),
        };
        svg.text(
            "mono",
            (r.x + 12.0, r.y + 42.0 + 17.0 * row as f32),
            &clip(&format!("{name}{word}"), (r.w / 6.6) as usize),
        );
    }
}

fn server(svg: &mut Svg, r: Rect, scene: &Scene, w: &Words) {
    let server = &scene.server;
    frame(
        svg,
        ("api", sign(w, kitchen::Sign::Pass)),
        r,
        w.server,
        w.server_small,
        &format!("{} {}", server.requests, w.requests),
    );
    let width = (r.w - 28.0) / 5.0;
    let refused = server.last.as_ref().filter(|l| l.code >= 400);
    for (i, stage) in w.stages.iter().enumerate() {
        let at = (r.x + 12.0 + width * i as f32, r.y + 36.0);
        let hit = refused.is_some_and(|l| i == usize::from(l.code != 403) * if l.code == 409 { 4 } else { 3 });
        svg.chip(if hit { "chip bad" } else { "chip api" }, at, (width - 5.0, 24.0), stage);
    }
    let ledger = if w.skin == Skin::Kitchen { 20.0 } else { 0.0 };
    svg.text("mono", (r.x + 14.0 + ledger, r.y + 84.0), &format!("{} {}", w.revision, server.revision));
    let fit = (((r.w - 98.0 - ledger) / 66.0) as usize).max(1);
    let skip = server.recent.len().saturating_sub(fit);
    for (i, write) in server.recent.iter().skip(skip).enumerate() {
        let newest = i + skip + 1 == server.recent.len();
        let words = format!("{} {}", write.revision, clip(&write.key.name, 5));
        svg.chip(
            if newest { "chip api on" } else { "chip api" },
            (r.x + 90.0 + ledger + 68.0 * i as f32, r.y + 70.0),
            (64.0, CHIP),
            &words,
        );
    }
    let foot = match refused {
        Some(last) => format!("{} {}: {}", last.code, last.reason, last.message),
        None => format!("{} {}", server.watches.len(), w.watchers),
    };
    svg.text("small", (r.x + 14.0, r.y + 118.0), &clip(&foot, (r.w / 6.2) as usize));
    if w.skin == Skin::Kitchen {
        kitchen::counter(svg, r, scene, w, refused.is_some());
    }
}

/// Kept objects of all informers of the drawn process: the reader's own kinds first.
fn kept<'a>(scene: &'a Scene, focus: &str) -> Vec<(&'a GroupResource, &'a Key, u64)> {
    let informers = scene.informers.iter().filter(|(id, _)| &*id.process == focus);
    let mut rows: Vec<_> = informers
        .flat_map(|(id, view)| view.cache.iter().map(move |(key, revision)| (&id.resource, key, *revision)))
        .filter(|(resource, key, _)| {
            !matches!(&*resource.resource, "namespaces" | "leases" | "nodes") && !key.namespace.starts_with("kube-")
        })
        .collect();
    rows.sort_by_key(|(resource, key, _)| (resource.group.is_empty(), &*resource.resource != "pods", (*key).clone()));
    rows
}

fn informer(svg: &mut Svg, r: Rect, scene: &Scene, w: &Words) {
    let focus = focus::process(scene);
    let mine: Vec<&InformerView> =
        scene.informers.iter().filter(|(id, _)| &*id.process == focus).map(|(_, v)| v).collect();
    let fifo: Vec<_> = mine.iter().flat_map(|view| &view.fifo).collect();
    let rows = kept(scene, focus);
    let live = |resource: &GroupResource, key: &Key| {
        scene.object(resource, key).map_or(0, |o| o.resource_version().parse().unwrap_or(0))
    };
    let stale = rows.iter().filter(|(resource, key, revision)| live(resource, key) != *revision).count();
    frame(
        svg,
        ("watch", sign(w, kitchen::Sign::Book)),
        r,
        w.informer,
        w.informer_small,
        &if stale > 0 { format!("{stale} {}", w.stale) } else { String::new() },
    );
    if w.skin == Skin::Kitchen {
        kitchen::bell(svg, (r.x + 14.0, r.y + 33.0), !fifo.is_empty());
        svg.text("small", (r.x + 38.0, r.y + 46.0), w.fifo);
    } else {
        svg.text("small", (r.x + 14.0, r.y + 46.0), w.fifo);
    }
    if let Some((kind, key, _)) = fifo.first() {
        let word = &kind.word()[..1];
        let more = if fifo.len() > 1 { format!(" +{}", fifo.len() - 1) } else { String::new() };
        svg.chip(
            "chip watch",
            (r.x + 84.0, r.y + 33.0),
            (r.w - 96.0, CHIP),
            &format!("{word} {}{more}", clip(&key.name, 10)),
        );
    }
    svg.text("small", (r.x + 14.0, r.y + 66.0), w.cache);
    let fit = ((r.h - 76.0) / 21.0) as usize;
    for (i, (resource, key, revision)) in rows.iter().take(fit).enumerate() {
        let old = live(resource, key) != *revision;
        let words = format!("{} rv {revision} {}", clip(&key.name, 13), if old { w.stale } else { w.current });
        let class = if old { "chip old" } else { "chip watch" };
        svg.chip(class, (r.x + 14.0, r.y + 73.0 + 21.0 * i as f32), (r.w - 28.0, CHIP), &words);
    }
    if rows.len() > fit {
        svg.text("small end", (r.x + r.w - 14.0, r.y + 66.0), &format!("+{}", rows.len() - fit));
    }
}

fn queue(svg: &mut Svg, r: Rect, scene: &Scene, w: &Words) {
    let found = focus::controller(scene);
    let depth = found.map_or(0, |(_, v)| v.shot.len);
    frame(svg, ("queue", sign(w, kitchen::Sign::Rail)), r, w.queue, w.queue_small, &format!("{} {depth}", w.depth));
    let Some((_, view)) = found else { return };
    let left = r.x + 66.0;
    let width = r.w - 80.0;
    let row = |svg: &mut Svg, y: f32, label: &str, class: &str, keys: &[Key], max: usize| {
        svg.text("small", (r.x + 14.0, y + 13.0), label);
        for (i, key) in keys.iter().take(max).enumerate() {
            svg.chip(
                class,
                (left, y + 21.0 * i as f32),
                (width, CHIP),
                &clip(&key.to_string(), (width / 6.6) as usize),
            );
        }
    };
    if w.skin == Skin::Kitchen {
        kitchen::rail(svg, r, w, view);
    } else {
        row(svg, r.y + 36.0, w.waiting, "chip queue", &view.shot.ready, 2);
    }
    row(svg, r.y + 84.0, w.working, "chip recon on", &view.shot.processing, 1);
    svg.text("small", (r.x + 14.0, r.y + 121.0), w.backoff);
    if w.skin == Skin::Kitchen && view.shot.delayed.is_empty() {
        kitchen::cooling(svg, (left, r.y + 109.0));
    }
    if let Some((key, due)) = view.shot.delayed.first() {
        let words = format!("{} {}", clip(&key.name, 9), span(due.since(scene.at)));
        svg.chip("chip queue", (left, r.y + 108.0), (width, CHIP), &words);
    }
    let counts = format!("{} {} · {} {}", w.arrived, view.arrived, w.merged, view.merged);
    svg.text("small", (r.x + 14.0, r.y + 146.0), &clip(&counts, (r.w / 5.6) as usize));
    if r.h > 180.0 {
        let share = view.merged as f32 / view.arrived.max(1) as f32;
        svg.text("small", (r.x + 14.0, r.y + 184.0), &format!("{} {}", w.retried, view.retried));
        svg.rect("bar", (r.x + 14.0, r.y + 160.0), (r.w - 28.0, 6.0), 3);
        svg.rect("bar on", (r.x + 14.0, r.y + 160.0), ((r.w - 28.0) * share.min(1.0), 6.0), 3);
    }
}

fn reconcile(svg: &mut Svg, plan: &Plan, scene: &Scene, w: &Words) {
    let r = plan.reconcile;
    let found = focus::controller(scene);
    if w.skin == Skin::Kitchen {
        kitchen::chef(svg, plan, hand(scene.processes.get(focus::process(scene)), found.map(|(_, v)| v)));
    }
    let worker = found.and_then(|(_, v)| v.workers.values().max_by_key(|k| (k.running, k.started)));
    let key = worker.map_or(String::new(), |k| clip(&k.key.to_string(), 18));
    frame(svg, ("recon", sign(w, kitchen::Sign::Wok)), r, w.reconcile, w.reconcile_small, &key);
    let width = (r.w - 28.0) / 4.0;
    let phases = [Phase::Observe, Phase::Diff, Phase::Act, Phase::Status];
    for (i, (phase, word)) in phases.iter().zip(w.phases).enumerate() {
        let on = worker.is_some_and(|k| k.running && k.phase == *phase);
        let class = if on { "chip recon on" } else { "chip recon" };
        svg.chip(class, (r.x + 14.0 + width * i as f32, r.y + 36.0), (width - 5.0, 24.0), word);
    }
    let wish = worker.and_then(|k| Gauge::of(scene).keyed(&k.key));
    if let Some(count) = wish {
        let words =
            format!("{} {} · {} {} · {} {}", w.want, count.want, w.have, count.ready, w.on_the_way, count.starting);
        svg.text("mono", (r.x + 14.0, r.y + 84.0), &words);
    }
    let note = match worker {
        Some(k) if k.running => format!("→ {} {}", k.line, k.note),
        Some(k) => k.no_write.as_ref().map_or_else(|| w.idle.to_string(), |why| format!("{}: {why}", w.no_write)),
        None => w.idle.to_string(),
    };
    let chef_inside = w.skin == Skin::Kitchen && plan.chef.1 > r.y;
    let room = if chef_inside { r.w - 70.0 } else { r.w };
    svg.text("note", (r.x + 14.0, r.y + 108.0), &clip(&note, (room / 6.6) as usize));
}

fn footer(svg: &mut Svg, plan: &Plan, scene: &Scene, w: &Words, (lang, hash): (Lang, u64)) {
    let gap = Gauge::of(scene).gap();
    let word = if lang == Lang::Zh { "差距" } else { "Gap" };
    let words = match (lang, gap) {
        (Lang::Zh, 0) => format!("{word}：{}", w.gap_closed),
        (Lang::Zh, _) => format!("{word}：{} {gap}", w.gap_is),
        (Lang::En, 0) => format!("{word}: {}", w.gap_closed),
        (Lang::En, _) => format!("{word}: {gap} {}", w.gap_is),
    };
    svg.text(if gap == 0 { "small" } else { "gap" }, plan.footer, &words);
    if plan.size.0 > 500.0 {
        svg.text("mono end", (plan.size.0 - 24.0, plan.footer.1), &format!("{hash:016x}"));
    }
}
