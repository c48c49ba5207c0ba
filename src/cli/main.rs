//! `operatorscope`: the model without a browser. One file a subcommand.

mod bench;
mod conform;
mod conform_client;
mod conform_http;
mod kubectl;
mod link;
mod run;
mod serve;

use std::process::ExitCode;

const USAGE: &str = "\
operatorscope run FILE [--until 60s] [--seed N] [--trace text|ndjson] [--hash]
                                         play a scenario or manifests, check what they promise
operatorscope kubectl [LINE]...          type kubectl lines to a cluster, here or on the standard input
operatorscope link URL                   decode a share link to a scenario document
operatorscope conform PATH...            play recorded conformance cases
operatorscope bench [PART]               speeds and sizes; parts are deployment N, client, server, long
operatorscope serve DIR [--port N]       serve a folder on 127.0.0.1";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = args.split_first().map_or(("help", &[][..]), |(c, rest)| (c.as_str(), rest));
    let result = match (command, rest) {
        ("run", _) => run::run(rest),
        ("kubectl", _) => kubectl::kubectl(rest),
        ("link", _) => link::link(rest),
        ("serve", _) => serve::serve(rest),
        ("conform", [_, ..]) => conform::run(rest),
        ("bench", _) => bench::bench(rest),
        _ => Err(USAGE.to_string()),
    };
    match result {
        Ok(code) => code,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}
