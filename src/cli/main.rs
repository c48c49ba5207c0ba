mod conform_client;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["conform", path] => conform_client::run(Path::new(path)),
        _ => {
            println!("operatorscope conform PATH");
            ExitCode::FAILURE
        }
    }
}
