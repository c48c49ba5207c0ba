//! `operatorscope link URL`: a share link as a scenario document that plays the same run.

use engine::scenario::{Action, Scenario};
use engine::share::{self, Source};
use engine::yaml::to_yaml;
use std::process::ExitCode;

pub fn link(args: &[String]) -> Result<ExitCode, String> {
    let [url] = args else { return Err("usage: operatorscope link URL".to_string()) };
    let run = share::decode(url).map_err(|error| error.to_string())?;
    let mut scenario = match run.source {
        Source::Own(scenario) => *scenario,
        Source::Library(name) => library(&name)?,
    };
    scenario.seed = run.seed;
    scenario.actions.extend(run.commands.into_iter().map(|(at, command)| Action { at, command }));
    scenario.actions.sort_by_key(|action| action.at);
    scenario.until = scenario.until.max(run.at);
    print!("{}", to_yaml(&scenario.to_value()));
    Ok(ExitCode::SUCCESS)
}

fn library(name: &str) -> Result<Scenario, String> {
    match engine::library::load(name) {
        Some(Ok(scenario)) => Ok(scenario),
        Some(Err(error)) => Err(error.to_string()),
        None => Err(format!("the library has no scenario {name:?}")),
    }
}
