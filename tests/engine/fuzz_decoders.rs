//! Links, manifests and scenarios with all kinds of damage: every decoder answers, and none panics.

use engine::ids::EventId;
use engine::manifest;
use engine::scenario::Scenario;
use engine::share::{self, SharedRun, Source};
use engine::time::SimTime;

const LINKS: u64 = 60_000;
const MANIFESTS: u64 = 25_000;
const SCENARIOS: u64 = 15_000;

const MANIFEST: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {x: 'y'}}\ndata:\n  k: |\n    text\n  l: \"a\\u0041\"\n---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n  - {name: c, image: x:1}\n  - &a {name: d, image: 0x1f}\n";
const SCENARIO: &str = "apiVersion: operatorscope.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec:\n  title: {en: T, zh: 题}\n  seed: 7\n  cluster: {nodes: 2, knobs: {latencyMs: 50}}\n  operators: [redis]\n  manifests: |\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: a}\n  actions:\n  - {at: 5s, do: killPod, name: cache-1}\n  - {at: 1m30s, do: failNext, failure: conflict, resource: pods}\n  until: 2m\n  expect:\n  - {always: 0s, that: {kind: Pod, atMost: 3}}\n";

/// SplitMix64: small, and the same on every machine.
struct Chance(u64);
impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % (n.max(1) as u64)).unwrap_or(0)
    }
}

/// One to four damages: a byte changed, a piece cut out, doubled, or a mark of the language put in.
fn damage(text: &str, chance: &mut Chance) -> String {
    const MARKS: [&[u8]; 16] = [
        b"{",
        b"[",
        b"]",
        b"}",
        b"&a ",
        b"*a",
        b"!!binary ",
        b"---\n",
        b"'",
        b"\"",
        b": ",
        b"\t",
        b"\xff",
        b"<<: ",
        b"1e999",
        b"- - - ",
    ];
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=chance.below(4) {
        let (a, b) = (chance.below(bytes.len()), chance.below(bytes.len()));
        let (from, to) = (a.min(b), a.max(b).min(a.min(b) + 40));
        match chance.below(4) {
            0 if !bytes.is_empty() => bytes[a] = u8::try_from(chance.below(256)).unwrap_or(0),
            1 => drop(bytes.drain(from..to)),
            2 => {
                let piece = bytes[from..to].to_vec();
                bytes.splice(a..a, piece);
            }
            _ => drop(bytes.splice(a..a, MARKS[chance.below(MARKS.len())].iter().copied())),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn damaged_links_are_refused_or_read() {
    let run = SharedRun {
        source: Source::Own(Box::new(Scenario::parse(SCENARIO).expect("well formed"))),
        seed: 7,
        commands: Vec::new(),
        at: SimTime(1_000_000),
        record: EventId(0),
        hash: 0,
        language: "en".to_string(),
        view: String::new(),
    };
    let link = share::encode(&run).expect("small");
    assert_eq!(share::decode(&link).as_ref(), Ok(&run));
    let mut chance = Chance(1);
    let read = (0..LINKS).filter(|_| share::decode(&damage(&link, &mut chance)).is_ok()).count();
    assert!(read < 6_000, "{read} damaged links were taken for whole ones");
}

#[test]
fn damaged_manifests_are_refused_or_read() {
    assert_eq!(manifest::parse_objects(MANIFEST).expect("well formed").len(), 2);
    let mut chance = Chance(2);
    let read = (0..MANIFESTS).filter(|_| manifest::parse_objects(&damage(MANIFEST, &mut chance)).is_ok()).count();
    assert!(read > 0 && read < 25_000, "{read} were read");
}

#[test]
fn damaged_scenarios_are_refused_or_read() {
    let mut chance = Chance(3);
    let read = (0..SCENARIOS).filter(|_| Scenario::parse(&damage(SCENARIO, &mut chance)).is_ok()).count();
    assert!(read > 0 && read < 15_000, "{read} were read");
}
