//! What this model does not do, as its modules say themselves.

use crate::route::Place;
use crate::session::use_session;
use leptos::prelude::*;

include!(concat!(env!("OUT_DIR"), "/divergences.rs"));

#[component]
pub fn About() -> impl IntoView {
    let session = use_session();
    move || {
        (session.place.get() == Place::About).then(|| {
            let h = session.h();
            let rows = DIVERGENCES
                .iter()
                .map(|(module, text)| view! { <dt><code>{*module}</code></dt><dd lang="en">{*text}</dd> });
            view! {
                <article class="about" data-testid="about" aria-label=h.about>
                    <h2>{h.about}</h2>
                    <p>{h.about_intro}</p>
                    <button data-testid="about-back" on:click=move |_| session.go(Place::Home)>{h.back}</button>
                    <dl>{rows.collect::<Vec<_>>()}</dl>
                </article>
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::DIVERGENCES;
    use std::path::Path;

    fn modules(folder: &Path, found: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(folder).expect("the engine's sources").flatten() {
            let path = entry.path();
            if path.is_dir() {
                modules(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let name =
                    path.to_string_lossy().rsplit_once("src/engine/").map_or(String::new(), |(_, n)| n.to_string());
                found.push((name, std::fs::read_to_string(&path).expect("a source")));
            }
        }
    }

    fn words(text: &str) -> String {
        text.replace("//!", " ").split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_page_lists_every_divergence_that_a_module_tells_and_no_other() {
        let mut sources = Vec::new();
        modules(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/engine"), &mut sources);
        let silent = ["none known.", "none known; times", "see each module", "see `"];
        for (name, text) in &sources {
            let told = words(text);
            let Some((_, after)) = told.split_once("Divergence from Kubernetes: ") else { continue };
            let listed = DIVERGENCES.iter().any(|(module, _)| *module == name.trim_end_matches(".rs"));
            let expected = !silent.iter().any(|s| after.starts_with(s));
            assert_eq!(listed, expected, "{name}: {after:.60}");
        }
        for (module, text) in DIVERGENCES {
            let source = sources.iter().find(|(name, _)| name.trim_end_matches(".rs") == *module);
            assert!(source.is_some_and(|(_, source)| words(source).contains(text)), "{module}: {text}");
        }
        assert!(DIVERGENCES.len() > 20);
    }
}
