//! Times fastokens, as `stator bench tokenizer` times ours: processor time of the whole process.
//!
//!     fastokens_bench MODEL TEXT MORE

use fastokens::Tokenizer;

const PASSES: usize = 16;

fn now() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

fn encode(tokenizer: &Tokenizer, text: &str) -> f64 {
    let start = now();
    let ids = tokenizer.encode(text).unwrap();
    let took = now() - start;
    std::hint::black_box(ids);
    took
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&words[2]).unwrap();
    let more = std::fs::read_to_string(&words[3]).unwrap();
    let start = now();
    let tokenizer = Tokenizer::from_file(std::path::Path::new(&words[1])).unwrap();
    tokenizer.encode("ready").unwrap();
    let load = now() - start;
    let cold = encode(&tokenizer, &text);
    let warm = (0..PASSES).map(|_| encode(&tokenizer, &text)).fold(f64::MAX, f64::min);
    let unseen = encode(&tokenizer, &more);
    println!("{{\"load\":{load},\"cold\":{cold},\"warm\":{warm},\"unseen\":{unseen}}}");
}
