//! Sessions of a shop. With the argument `new`, `Sessions::touch` keeps the page of each visit.
use std::collections::HashMap;

#[global_allocator]
static ALLOC: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[allow(non_upper_case_globals)]
#[export_name = "malloc_conf"]
pub static malloc_conf: &[u8] = b"prof:true,prof_active:true,lg_prof_sample:14\0";

struct Session { user: String, cart: Vec<u64>, pages: Vec<String> }

#[derive(Default)]
struct Sessions { all: HashMap<u64, Session>, keep: bool }

impl Sessions {
    #[inline(never)]
    fn open(&mut self, id: u64) {
        let cart = (0..40).map(|n| n * id).collect();
        self.all.insert(id, Session { user: format!("user number {id:060}"), cart, pages: Vec::new() });
    }
    #[inline(never)]
    fn touch(&mut self, id: u64, path: &str) {
        let keep = self.keep;
        if let Some(session) = self.all.get_mut(&id) {
            let page = describe(&session.user, path);
            if keep || session.pages.is_empty() { session.pages.push(page); }
        }
    }
}

#[inline(never)]
fn describe(user: &str, path: &str) -> String { format!("{user} saw {path}") }

struct Catalog { items: Vec<String>, index: HashMap<String, usize> }

impl Catalog {
    #[inline(never)]
    fn load(n: usize) -> Self {
        let items: Vec<String> = (0..n).map(|i| format!("item {i:080}")).collect();
        let index = items.iter().enumerate().map(|(i, s)| (s.clone(), i)).collect();
        Catalog { items, index }
    }
}

#[inline(never)]
fn serve(sessions: &mut Sessions, catalog: &Catalog, requests: u64) {
    for n in 0..requests {
        let id = n % 20_000;
        if !sessions.all.contains_key(&id) { sessions.open(id); }
        let item = &catalog.items[(n as usize * 7) % catalog.items.len()];
        if catalog.index.contains_key(item) { sessions.touch(id, item); }
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let mut sessions = Sessions { keep: args[1] == "new", ..Default::default() };
    let catalog = Catalog::load(30_000);
    serve(&mut sessions, &catalog, 100_000);
    let ctl = jemalloc_pprof::PROF_CTL.as_ref().unwrap();
    let pprof = ctl.blocking_lock().dump_pprof().unwrap();
    std::fs::write(&args[2], pprof).unwrap();
    println!("{}", sessions.all.len() + catalog.items.len());
}
