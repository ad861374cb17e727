//! Renders one template with each conversation of a file: minijinja_bench TEMPLATE CONTEXTS PASSES.  CONTEXTS: an object of
//! complete contexts by name.  Prints a row for each: the best processor time of a rendering, from minijinja's own values,
//! and of making those from the parsed JSON.

use minijinja::{Environment, Error, ErrorKind, Value};

fn seconds() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut now) };
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let source = std::fs::read_to_string(&words[1]).unwrap();
    let contexts: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&words[2]).unwrap()).unwrap();
    let passes: usize = words[3].parse().unwrap();
    let mut environment = Environment::new();
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_function("raise_exception", |message: String| -> Result<Value, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, message))
    });
    environment.add_template("template", &source).unwrap();
    let template = environment.get_template("template").unwrap();
    for (name, context) in contexts.as_object().unwrap() {
        let (mut convert, mut render, mut bytes) = (f64::MAX, f64::MAX, 0);
        for _ in 0..passes {
            let start = seconds();
            let value = Value::from_serialize(context);
            let middle = seconds();
            let Ok(text) = template.render(value) else { break };
            render = render.min(seconds() - middle);
            convert = convert.min(middle - start);
            bytes = text.len();
        }
        if bytes > 0 {
            println!("{}", serde_json::json!({"cell": name, "bytes": bytes, "cpu_us": render * 1e6, "convert_us": convert * 1e6}));
        }
    }
}
