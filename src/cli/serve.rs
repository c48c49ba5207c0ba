//! `operatorscope serve DIR`: a static file server on 127.0.0.1, for looking at the page and for its tests.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// Bytes of a request line or header; browsers send far less.
const LINE_BYTES_MAX: u64 = 16 << 10;

pub fn serve(args: &[String]) -> Result<ExitCode, String> {
    let usage = || "usage: operatorscope serve DIR [--port N]".to_string();
    let (dir, port) = match args {
        [dir] => (dir, 8080),
        [dir, flag, port] if flag == "--port" => (dir, port.parse::<u16>().map_err(|e| format!("--port {port}: {e}"))?),
        _ => return Err(usage()),
    };
    let root = fs::canonicalize(dir).map_err(|e| format!("{dir}: {e}"))?;
    let listener = TcpListener::bind(("127.0.0.1", port))
        .map_err(|e| format!("cannot listen on 127.0.0.1:{port}: {e}; try another port with --port"))?;
    let address = listener.local_addr().map_err(|e| e.to_string())?;
    println!("serving {dir} on http://{address}");
    let root = Arc::new(root);
    for stream in listener.incoming().flatten() {
        let root = root.clone();
        std::thread::spawn(move || answer(stream, &root));
    }
    Ok(ExitCode::SUCCESS)
}

fn answer(mut stream: TcpStream, root: &Path) {
    // A client that says nothing must not hold a thread for ever; one that hung up needs no answer.
    let _ = stream.set_read_timeout(Some(Duration::from_secs(10)));
    let Some((method, target)) = request_line(&stream) else { return };
    let file = find(root, &target);
    let (status, mime, body) = match file.as_deref().map(|path| (path, fs::read(path))) {
        Some((path, Ok(body))) if method == "GET" || method == "HEAD" => ("200 OK", mime(path), body),
        _ => ("404 Not Found", "text/plain; charset=utf-8", b"not found\n".to_vec()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {mime}\r\nContent-Length: {}\r\nCache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(head.as_bytes());
    if method != "HEAD" {
        let _ = stream.write_all(&body);
    }
}

/// Method and path, once the headers have been read.
fn request_line(stream: &TcpStream) -> Option<(String, String)> {
    let mut reader = BufReader::new(std::io::Read::take(stream, LINE_BYTES_MAX));
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let mut line = String::new();
    while reader.read_line(&mut line).ok()? > 2 {
        line.clear();
    }
    let mut words = first.split(' ');
    Some((words.next()?.to_string(), words.next()?.to_string()))
}

/// The file a path names, if it lies inside the folder.
fn find(root: &Path, target: &str) -> Option<PathBuf> {
    let path = target.split(['?', '#']).next().unwrap_or("").trim_start_matches('/');
    let relative = Path::new(path);
    if !relative.components().all(|part| matches!(part, Component::Normal(_))) {
        return None;
    }
    let mut file = root.join(relative);
    if file.is_dir() {
        file.push("index.html");
    }
    let file = fs::canonicalize(file).ok()?;
    file.starts_with(root).then_some(file)
}

fn mime(path: &Path) -> &'static str {
    match path.extension().and_then(|e| e.to_str()).unwrap_or("") {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "svg" => "image/svg+xml",
        "json" => "application/json",
        "yaml" | "txt" | "md" => "text/plain; charset=utf-8",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_inside_the_folder_are_found() {
        let root = fs::canonicalize(env!("CARGO_MANIFEST_DIR")).expect("the package has a folder");
        assert_eq!(find(&root, "/main.rs?x=1"), Some(root.join("main.rs")));
        for path in ["/../engine/lib.rs", "/..%2fengine", "//etc/passwd/x", "/nothing.html", "/a/../../x"] {
            assert_eq!(find(&root, path), None, "{path}");
        }
    }
}
