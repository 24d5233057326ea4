//! The kernels on the codes' pages: the wrong one has exactly the page's fault,
//! the right one has none.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use mosaic_memspace::error::{Code, Fault};
use mosaic_memspace::read::Kernels;

/// What stands in the page's fences of this language.
fn fences(page: &str, language: &str) -> Vec<String> {
    let opening = format!("```{language}\n");
    page.split(opening.as_str())
        .skip(1)
        .map(|rest| rest.split_once("```").expect("a fence without its end").0.to_owned())
        .collect()
}

/// What is wrong with a kernel, or with its description.
fn faults(json: &str) -> Vec<Box<dyn Fault>> {
    let mut kernels = Kernels::new(json);
    let described = kernels.next().expect("no kernel");
    assert!(kernels.next().is_none(), "more than one kernel: {json}");
    match described {
        Ok(described) => {
            let diagnostics = described.kernel.check().diagnostics.into_iter();
            diagnostics.map(|it| Box::new(it) as Box<dyn Fault>).collect()
        }
        Err(faults) => faults.into_iter().map(|it| Box::new(it) as Box<dyn Fault>).collect(),
    }
}

#[test]
fn the_wrong_kernel_of_a_page_has_its_fault_and_the_right_one_none() {
    let mut wrong_pages = Vec::new();
    let mut shown = 0;
    for code in Code::ALL {
        let [wrong, right] =
            fences(code.explanation(), "json").try_into().unwrap_or_else(|fences: Vec<String>| {
                assert!(fences.is_empty(), "{code}: {} kernels", fences.len());
                [String::new(), String::new()]
            });
        if wrong.is_empty() {
            continue;
        }
        shown += 1;
        let found = faults(&wrong);
        let codes: Vec<_> = found.iter().map(|fault| fault.code()).collect();
        if codes != [*code] {
            wrong_pages.push(format!("{code}: the wrong kernel has {codes:?}\n{found:?}"));
        }
        for fault in &found {
            assert!(!fault.help().is_empty() && !fault.to_string().is_empty());
        }
        let found = faults(&right);
        if !found.is_empty() {
            wrong_pages.push(format!("{code}: the right kernel has\n{found:?}"));
        }
    }
    assert!(wrong_pages.is_empty(), "{} pages:\n{}", wrong_pages.len(), wrong_pages.join("\n"));
    assert!(shown > 50, "only {shown} codes are shown by a kernel");
}

#[test]
fn a_code_that_no_kernel_shows_is_shown_in_rust() {
    for code in Code::ALL {
        let page = code.explanation();
        let kernels = fences(page, "json").len();
        let programs = fences(page, "rust").len();
        assert!(kernels + programs > 0, "{code} has no example");
    }
}
