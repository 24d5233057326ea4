//! How the command line behaves: exit statuses, colors, inputs of every kind.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::unwrap_used, reason = "a test")]

use mosaic_memspace::kernel::output_schema;
use mosaic_memspace::read::input_schema;
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SOUND: &str = r#"{"name": "sound", "chip": "v5e", "core_type": "tc", "grid": [4],
 "operands": [{"name": "x", "role": "in", "array_shape": [512, 256], "dtype": "float32",
               "block_shape": [128, 256], "index_map": [0, null]}]}"#;

/// More VMEM asked for than there is, which the compiler cuts in silence.
const WARNED: &str = r#"{"name": "warned", "chip": "v5e", "core_type": "tc", "operands": [],
 "params": {"vmem_limit_bytes": 200000000}}"#;

const REFUSED: &str = r#"{"name": "refused", "core_type": "tc", "operands": [
  {"name": "x", "role": "in", "array_shape": [512], "dtype": "float32", "space": "vram"}]}"#;

#[test]
fn the_exit_status_says_whether_a_kernel_is_refused() {
    for (kernel, status) in [(SOUND, 0), (WARNED, 0), (REFUSED, 1)] {
        for format in ["text", "json"] {
            let run = check(&["--format", format], kernel);
            assert_eq!((run.status, &*run.err), (status, ""), "{kernel}");
        }
    }
    assert_eq!(check(&[], &format!("{REFUSED} {SOUND}")).status, 1);
}

#[test]
fn denied_warnings_refuse_too() {
    for (kernel, status) in [(SOUND, 0), (WARNED, 1), (REFUSED, 1)] {
        assert_eq!(check(&["--deny", "warnings"], kernel).status, status, "{kernel}");
    }
    assert_eq!(check(&["--deny", "errors"], SOUND).status, 2);
}

#[test]
fn a_diagnostic_is_shown_where_it_is() {
    let run = check(&[], REFUSED);
    assert!(run.out.contains("error[UnknownMemorySpace]: unknown memory space: vram"));
    assert!(run.out.contains("--> <stdin>:2:82\n"), "{}", run.out);
    assert!(run.out.contains("^^^^^^ operands.x.space\n"));
    assert!(run.out.contains("= help: "));
}

/// Escapes of a terminal, and marks that turn the direction of text.
#[test]
fn what_would_steer_a_terminal_never_reaches_it() {
    let odd = "\u{1b}[31m\u{9b}31m\u{7f}\u{7}\u{202e}";
    let names = ["name", "chip", "core_type"].map(|field| (field, odd.to_owned()));
    let mut kernel = serde_json::json!({
        "core_type": "tc", "chip": "v5e", "grid": [2],
        "scalar_prefetch": [{"name": odd, "shape": [999_999], "dtype": "int32"}],
        "operands": [
            {"name": odd, "role": "in", "array_shape": [99_999, 999], "dtype": "int32"},
            {"name": "a", "role": "in", "array_shape": [8], "dtype": odd, "space": odd}],
        "scratch": [{"name": "b", "space": odd, "shape": [1], "dtype": odd}],
        "accesses": [{"op": "load", "ref": "z", "shape": "vector"}],
        "params": {"flags": {odd: odd}},
    });
    let mut kernels = vec![kernel.to_string()];
    for (field, word) in names {
        kernel[field] = word.into();
        kernels.push(kernel.to_string());
    }
    kernel[odd] = 1.into();
    kernels.push(kernel.to_string());
    kernels
        .push(format!(r#"{{"core_type": "tc", "operands": [{{"role": {}}}]}}"#, Value::from(odd)));
    for kernel in kernels {
        for format in ["text", "json"] {
            let run = check(&["--color", "never", "--format", format], &kernel);
            let steers = |it: char| (it.is_control() && it != '\n') || it == '\u{202e}';
            assert!(run.status > 0 && !(run.out + &run.err).contains(steers), "{kernel}");
        }
    }
    let run = run(&["check", odd], b"");
    assert!(!run.err.trim_end().contains(char::is_control), "{}", run.err);
}

#[test]
fn a_name_that_is_too_long_is_cut_for_people() {
    let long = "n".repeat(100_000);
    let kernel = serde_json::json!({
        "name": long, "chip": "v5e", "core_type": "tc", "operands": [
            {"name": long, "role": "in", "array_shape": [99_999, 999], "dtype": "int32"},
            {"name": long, "role": "in", "array_shape": [8], "dtype": long}],
        "accesses": [{"op": "load", "ref": "z", "shape": "vector"}],
    });
    let run = check(&[], &kernel.to_string());
    assert!(run.status == 1 && run.out.len() < 40_000, "{} bytes", run.out.len());
    let run = check(&[], &format!(r#"{{"core_type": "tc", "operands": [], "{long}": 1}}"#));
    assert!(run.status == 2 && run.err.len() < 4000, "{} bytes", run.err.len());
    assert!(run.err.contains("… (100000 bytes)`\n --> <stdin>:1:37\n"), "{}", run.err);
    let run = check(&[], &format!(r#"{{"core_type": "tc", "operands": "{long}"}}"#));
    assert!(run.status == 2 && run.err.len() < 2000, "{} bytes", run.err.len());
    assert!(run.err.contains("n… (100002 bytes)` where a list belongs\n"), "{}", run.err);
}

/// In a file of one line each place lies as far from its start as from the last one.
#[test]
fn many_faults_of_one_line_are_shown_in_bounded_time() {
    let operand = r#"{"name": "x", "role": "in", "array_shape": [512, 256], "dtype": "int33"}"#;
    let operands = vec![operand; 10_000].join(", ");
    let run = check(&[], &format!(r#"{{"core_type": "tc", "operands": [{operands}]}}"#));
    assert_eq!(run.out.matches("error[UnknownDtype]").count(), 10_000);
    assert_eq!(run.out.matches("error[DuplicateName]").count(), 9_999);
}

#[test]
fn json_lines_a_list_and_spread_out_json_are_all_read() {
    let one_line = |kernel: &str| kernel.replace('\n', " ");
    let (sound, warned) = (one_line(SOUND), one_line(WARNED));
    for text in [
        format!("{sound}\n{warned}\n"),
        format!("{sound}\r\n\r\n{warned}"),
        format!("{sound}{warned}"),
        format!("{SOUND}\n{WARNED}"),
        format!("[{SOUND},\n{WARNED}]"),
        format!("\n [ {sound}, {warned} ] \n"),
    ] {
        let run = check(&["--format", "json"], &text);
        assert_eq!(run.status, 0, "{}", run.err);
        assert_eq!(names(&run), ["sound", "warned"], "{text}");
    }
}

#[test]
fn several_files_are_checked_in_order_and_standard_input_among_them() {
    let folder = Folder::new("several");
    let (first, last) = (folder.file("first.json", SOUND), folder.file("last.jsonl", WARNED));
    let run = run(&["check", "--format", "json", &first, "-", &last], REFUSED.as_bytes());
    assert_eq!((run.status, &*run.err), (1, ""));
    assert_eq!(names(&run), ["sound", "refused", "warned"]);
}

#[test]
fn several_chips_are_asked_one_after_the_other() {
    let chips = ["--chip", "v5e", "--chip", "v6e", "--chip", "7x"];
    let limits = |run: &Run| -> Vec<u64> {
        let limit = |report: &Value| report["fit"]["vmem_limit_bytes"].as_u64().unwrap();
        reports(run).iter().map(limit).collect()
    };
    let run = check(&[&chips[..], &["--format", "json"]].concat(), &format!("{SOUND}{WARNED}"));
    assert_eq!(names(&run), ["sound", "sound", "sound", "warned", "warned", "warned"]);
    let most = [134_217_728, 134_152_192, 67_043_328];
    assert_eq!(limits(&run), [[16 << 20, 32 << 20, 32 << 20], most].concat());
    let text = check(&chips, SOUND).out;
    let headings: Vec<_> = text.lines().filter(|line| line.starts_with("sound")).collect();
    assert_eq!(headings, ["sound, tc, v5e", "sound, tc, v6e", "sound, tc, 7x"]);
}

#[test]
fn what_cannot_be_used_is_told_by_place_with_exit_status_2() {
    let field = SOUND.replace("\"index_map\"", "\"index_mp\"");
    let deep = "[".repeat(200_000);
    let deep_grid = SOUND.replace("[4]", &format!("{deep}{}", "]".repeat(200_000)));
    for (text, told) in [
        ("{", "[NotJson]: `{` is never closed\n --> <stdin>:1:1\n"),
        ("kernel", "[NotJson]: `kernel` where true, false, null, or a string"),
        ("3", "[WrongValue]: `3` where an object belongs\n --> <stdin>:1:1\n"),
        ("null", "[WrongValue]: `null` where an object belongs\n --> <stdin>:1:1\n"),
        ("{\"core_type\": \"tc\"}", "[MissingField]: missing field `operands`\n --> <stdin>:1:1\n"),
        ("{\"operands\": []}", "[MissingField]: missing field `core_type` or `mesh`\n"),
        (&*field, "[UnknownField]: unknown field `index_mp`\n --> <stdin>:3:43\n"),
        (&*field, "^^^^^^^^^^ operands[0].index_mp\n  |\n  = help: did you mean index_map? "),
        (&*deep, "[NotJson]: `[` is never closed\n --> <stdin>:1:200000\n"),
        (&*deep_grid, "[WrongValue]: a list where an integer from 0 to 2^64 - 1 belongs\n"),
        (
            "{\"core_type\": \"tc\", \"operands\": {}}",
            "[WrongValue]: an object where a list belongs\n --> <stdin>:1:33\n",
        ),
        (
            "{\"core_type\": \"tc\", \"operands\": [], \"grid\": [-1]}",
            "  = help: the steps along each axis; null is known only when the kernel runs\n",
        ),
        (
            "{\"core_type\": \"tc\", \"operands\": [], \"params\": []}",
            "[WrongValue]: a list where an object belongs\n",
        ),
        (
            "{\"core_type\": \"tc\", \"operands\": [], \"core_type\": \"tc\"}",
            "[DuplicateField]: the field `core_type` is there twice\n --> <stdin>:1:37\n",
        ),
    ] {
        let run = check(&[], text);
        let shown: String = text.chars().take(80).collect();
        assert_eq!((run.status, &*run.out), (2, ""), "{shown}");
        assert!(run.err.starts_with("error[") && run.err.contains(told), "{shown}: {}", run.err);
        let faults = if text == deep { 2 } else { 1 };
        assert_eq!(run.err.matches("error[").count(), faults, "{shown}: {}", run.err);
    }
    for nothing in ["", " \n\t", "[]"] {
        let run = check(&[], nothing);
        assert_eq!((run.status, &*run.err), (2, "error: <stdin>: no kernel in it\n"));
    }
    let flag = format!("{{\"flags\": {{\"xla\": {deep}{}}}}}", "]".repeat(200_000));
    let run = check(&[], &WARNED.replace("{\"vmem_limit_bytes\": 200000000}", &flag));
    assert_eq!((run.status, run.out.contains("[InvalidFlagValue]")), (1, true), "{}", run.err);
}

#[test]
fn all_that_is_wrong_with_a_description_is_told_at_once() {
    let text = r#"{"core_type": 7, "gird": [4], "gird": [4],
 "operands": [{"role": "out", "array_shape": [8, -8, "8"], "dtype": None,},
              {"name": 1 "role": "in", "array_shape": []}],
 "accesses": [{"op": "load", "ref": "x", "src": "y"}], "custom_barrier": 01,
 "scratch": [{"shape": [8]
"#;
    let run = check(&[], text);
    let told = |line: &str| Some(line.strip_prefix("error[")?.split_once(']')?.0.to_owned());
    let codes: Vec<_> = run.err.lines().filter_map(told).collect();
    let expected = [
        "WrongValue",
        "UnknownField",
        "UnknownField",
        "WrongValue",
        "WrongValue",
        "NotJson",
        "NotJson",
        "MissingField",
        "WrongValue",
        "NotJson",
        "MissingField",
        "MisplacedField",
        "NotJson",
        "NotJson",
    ];
    assert_eq!(codes, expected, "{}", run.err);
    assert!(run.err.contains("`{` is never closed\n --> <stdin>:5:14\n"), "{}", run.err);
}

#[test]
fn one_that_cannot_be_used_hides_no_other() {
    let one_line = |kernel: &str| kernel.replace('\n', " ");
    let (sound, warned) = (one_line(SOUND), one_line(WARNED));
    let broken = &sound[..sound.len() - 3];
    for (text, told) in [
        (format!("{sound}\n{{\"grid\": 3}}\n{warned}\n"), 3),
        (format!("[{sound},\n{{\"grid\": 3}},\n{warned}]\n"), 3),
        (format!("{sound}\n{broken}\n{warned}\n"), 1),
        (format!("{sound}\nnonsense: [\n{warned}\n"), 2),
        (format!("[\n{sound},\n{broken}\n,\n{warned}\n]"), 1),
        (format!("[{sound}\n{warned}]"), 1),
        (format!("[{sound}, {warned}"), 1),
        (format!("[{sound}, {warned}] {{"), 1),
        (format!("{sound}{warned}{{"), 1),
    ] {
        let run = check(&["--format", "json"], &text);
        assert_eq!((run.status, names(&run)), (2, vec!["sound".to_owned(), "warned".to_owned()]));
        assert_eq!(run.err.matches("error[").count(), told, "{text}: {}", run.err);
    }
    let folder = Folder::new("others");
    let first = folder.file("first.json", "{\"grid\": 3}");
    let latin = folder.path("latin.json");
    fs::write(&latin, b"\xf6").unwrap();
    let last = folder.file("last.json", SOUND);
    let page = folder.path("page.html");
    let missing = folder.path("missing.json");
    let run = run(
        &["check", "--format", "json", "--report", &page, &first, &missing, &latin, &last],
        b"",
    );
    assert_eq!((run.status, names(&run)), (2, vec!["sound".to_owned()]));
    for file in [first, missing, latin] {
        assert!(run.err.contains(&file), "{file}: {}", run.err);
    }
    assert!(fs::read_to_string(page).unwrap().contains("last.json:1"));
}

#[test]
fn files_that_cannot_be_read_are_told() {
    let folder = Folder::new("unreadable");
    let missing = folder.path("missing.json");
    let run_missing = run(&["check", &missing], b"");
    assert_eq!(run_missing.status, 2);
    assert!(run_missing.err.starts_with(&format!("error: {missing}: ")), "{}", run_missing.err);
    let run_folder = run(&["check", &folder.path("")], b"");
    assert_eq!(run_folder.status, 2);
    let latin = run(&["check", "-"], b"{\"name\": \"K\xf6rper\"}");
    assert_eq!(latin.status, 2);
    assert_eq!(latin.err, "error: <stdin>: byte 11 is not UTF-8\n");
    let binary: Vec<u8> = (0..=255).cycle().take(1 << 20).collect();
    assert_eq!(run(&["check", "-"], &binary).status, 2);
}

#[test]
fn a_chip_that_is_none_is_told_with_those_that_are() {
    let run = check(&["--chip", "v9"], SOUND);
    assert_eq!((run.status, &*run.out), (2, ""));
    let told = "error[UnknownChip]: unknown chip: v9; expected one of v2, v3, v4i, v4, v5e, v5p";
    assert!(run.err.starts_with(told), "{}", run.err);
    assert!(run.err.contains("\n  = help: "));
}

#[test]
fn colors_are_for_terminals_and_for_who_asks() {
    let colors = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = command(&[&["check", "-"], arguments].concat());
        for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(variable);
        }
        let run = fed(command.envs(variables.iter().copied()), REFUSED.as_bytes());
        assert_eq!(run.status, 1);
        run.out.contains('\u{1b}')
    };
    assert!(!colors(&[], &[]));
    assert!(colors(&["--color", "always"], &[]));
    assert!(colors(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(!colors(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
    assert!(colors(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!colors(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!colors(&["--color", "always", "--format", "json"], &[]));
}

#[test]
fn a_reader_that_goes_is_no_fault() {
    let kernels = REFUSED.repeat(2_000);
    for arguments in [
        &["check", "-"][..],
        &["check", "-", "--format", "json"],
        &["table", "--of", "copies", "--format", "json"],
    ] {
        let mut child = command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        // The child may end before it has read everything.
        let _ = child.stdin.take().unwrap().write_all(kernels.as_bytes());
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!((child.wait().unwrap().code(), &*err), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn the_page_shows_each_kernel_on_each_chip_and_needs_nothing_else() {
    let folder = Folder::new("page");
    let page = folder.path("page.html");
    let evil = r#"{"name": "<script>alert(\"x\" & 'y')</script>\u202e\u0007", "core_type": "tc",
        "operands": [{"name": "</style><img src=x>", "role": "in", "array_shape": [1024, 4096],
                      "dtype": "float32", "space": "vmem"}]}"#;
    let chips = ["--chip", "v5p", "--chip", "v6e", "--report", &page];
    let run = check(&chips, &format!("{SOUND}\n{evil}"));
    assert_eq!(run.status, 0, "{}{}", run.out, run.err);
    let html = fs::read_to_string(&page).unwrap();
    assert!(html.starts_with("<!DOCTYPE html>"));
    for kernel in 0..2 {
        for chip in 0..2 {
            let anchor = format!("kernel-{kernel}-{chip}");
            assert!(html.contains(&format!("href=\"#{anchor}\"")), "{anchor} is not led to");
            assert!(html.contains(&format!("id=\"{anchor}\"")), "{anchor} is not there");
        }
    }
    assert!(
        html.contains(
            "&lt;script&gt;alert(&quot;x&quot; &amp; 'y')&lt;/script&gt;\u{fffd}\u{fffd}"
        )
    );
    assert!(html.contains("&lt;/style&gt;&lt;img src=x&gt;"));
    assert!(html.contains("16 MiB of 16 MiB") && html.contains("16 MiB of 32 MiB"), "{html}");
    for foreign in
        ["<script", "<img", "<link", "http://", "https://", "url(", "@import", "\u{202e}"]
    {
        assert!(!html.contains(foreign), "{foreign}");
    }
    assert!(html.contains("prefers-color-scheme: dark"));
}

#[test]
fn the_page_shows_by_how_much_a_memory_is_overfull() {
    let folder = Folder::new("overfull");
    let page = folder.path("page.html");
    let two = r#"{"name": "x", "role": "in", "array_shape": [4096, 4096], "dtype": "float32",
        "block_shape": [2048, 1536], "index_map": [0, null]}"#;
    let kernel =
        format!(r#"{{"chip": "v5e", "core_type": "tc", "grid": [2], "operands": [{two}]}}"#);
    assert_eq!(check(&["--report", &page], &kernel).status, 1);
    let html = fs::read_to_string(&page).unwrap();
    assert!(html.contains("24 MiB of 16 MiB"));
    assert!(html.contains("8 MiB more than there are"));
    // The limit is two thirds along the bar, and the window is all of it.
    assert!(html.contains("class=\"limit\" style=\"left:66.66%\""));
    assert!(
        html.contains("class=\"part c0\" style=\"width:100.00%\" title=\"x × 2: 25165824 bytes\"")
    );
    assert!(html.contains("<code>VmemOverflow</code>"));
}

#[test]
fn the_page_shows_once_what_is_wrong_on_every_chip() {
    let folder = Folder::new("shared");
    let page = folder.path("page.html");
    // 24 MiB: too much for v5e and v5p, and not for v6e.
    let kernel = r#"{"core_type": "tc", "grid": [2], "operands": [
        {"name": "x", "role": "in", "array_shape": [4096, 4096], "dtype": "float32",
         "block_shape": [2048, 1536], "index_map": [0, null]},
        {"name": "y", "role": "in", "array_shape": [8, 128], "dtype": "float33"}]}"#;
    let chips = ["--chip", "v5e", "--chip", "v5p", "--chip", "v6e", "--report", &page];
    assert_eq!(check(&chips, kernel).status, 1);
    let html = fs::read_to_string(&page).unwrap();
    let count = |text: &str| html.matches(text).count();
    assert_eq!(count("<h3>on every chip</h3>"), 1);
    assert_eq!(count("<code>UnknownDtype</code>"), 1);
    assert_eq!(count("<code>VmemOverflow</code>"), 2);
}

#[test]
fn a_page_that_cannot_be_written_is_told() {
    let folder = Folder::new("unwritable");
    let page = folder.path("missing/page.html");
    let run = check(&["--report", &page], SOUND);
    assert_eq!(run.status, 2);
    assert!(run.err.starts_with(&format!("error: {page}: ")), "{}", run.err);
}

#[test]
fn every_table_comes_in_every_format() {
    for table in ["resolution", "access", "copies", "colors", "colours", "chips", "capacities"] {
        let json = run(&["table", "--of", table, "--format", "json"], b"");
        let rows: Vec<serde_json::Map<String, Value>> = serde_json::from_str(&json.out).unwrap();
        assert!(rows.len() > 10, "{table}");
        let markdown = run(&["table", "--of", table, "--format", "markdown"], b"").out;
        let columns = |line: &str| line.matches(" | ").count();
        for block in markdown.split("\n\n") {
            let mut lines = block.lines();
            let header = columns(lines.next().unwrap());
            assert!(header > 1 && lines.all(|line| columns(line) == header), "{block}");
        }
        assert_eq!(run(&["table", "--of", table], b"").status, 0);
    }
}

#[test]
fn the_schemas_are_those_of_the_library() {
    for (arguments, schema) in [
        (&["schema"][..], input_schema()),
        (&["schema", "input"], input_schema()),
        (&["schema", "output"], output_schema().to_value()),
    ] {
        let printed: Value = serde_json::from_str(&run(arguments, b"").out).unwrap();
        assert_eq!(printed, schema);
    }
    assert_eq!(run(&["schema", "kernel"], b"").status, 2);
}

#[test]
fn shells_and_the_manual_know_every_subcommand() {
    let help = run(&["--help"], b"").out;
    let (_, listed) = help.split_once("Commands:\n").unwrap();
    let (listed, _) = listed.split_once("\n\n").unwrap();
    let subcommands: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next())
        .filter(|word| *word != "help" && help.contains(&format!("\n  {word} ")))
        .collect();
    assert!(subcommands.contains(&"check") && subcommands.len() > 6, "{subcommands:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(&["completions", shell], b"").out;
        for subcommand in &subcommands {
            assert!(script.contains(subcommand), "{shell}: {subcommand}");
        }
        let knows_values = !matches!(shell, "elvish" | "powershell");
        assert_eq!(script.contains("capacities"), knows_values, "the tables in {shell}");
    }
    let folder = Folder::new("manual");
    assert_eq!(run(&["man", "--dir", &folder.path("pages")], b"").status, 0);
    for subcommand in &subcommands {
        let page = folder.path(&format!("pages/mosaic-memspace-{subcommand}.1"));
        let page = fs::read_to_string(page).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{page}");
    }
    let overview = fs::read_to_string(folder.path("pages/mosaic-memspace.1")).unwrap();
    assert_eq!(overview, run(&["man"], b"").out);
}

/// How a command ended.
struct Run {
    status: i32,
    out: String,
    err: String,
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mosaic-memspace"));
    command.args(arguments);
    command
}

fn run(arguments: &[&str], input: &[u8]) -> Run {
    fed(&mut command(arguments), input)
}

/// `check` of standard input.
fn check(arguments: &[&str], input: &str) -> Run {
    run(&[&["check", "-"], arguments].concat(), input.as_bytes())
}

fn fed(command: &mut Command, input: &[u8]) -> Run {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // The child may end before it has read everything, or wait for us to read.
    let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    Run {
        status: output.status.code().expect("ended by a signal"),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn reports(run: &Run) -> Vec<Value> {
    run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn names(run: &Run) -> Vec<String> {
    reports(run).iter().map(|report| report["name"].as_str().unwrap().to_owned()).collect()
}

/// A folder of a test's own, gone at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cli-{test}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
