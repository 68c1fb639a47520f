use cssc::nn::*;
use std::time::Instant;
fn main() {
    let threads: usize = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(1);
    let shard: usize = std::env::args().nth(2).and_then(|s| s.parse().ok()).unwrap_or(25);
    let mut rng = cssc::data::Random::new(1);
    let mut p = Parameters::<f32>::new();
    let f = Mlp::new(&mut p, "dynamics", &[15, 300, 300, 300, 300, 15], [Activation::Tanh, Activation::Identity], Initializer::Normal(0.1), &mut rng);
    p.pack();
    let shards = 50 / shard;
    let mut memories: Vec<(Memory<f32>, Gradient<f32>)> = (0..shards).map(|_| (Memory::new(), Gradient::zeros(&p))).collect();
    let h0: Vec<f32> = (0..shard * 15).map(|i| ((i * 37 % 101) as f32 / 50.0) - 1.0).collect();
    let scale = vec![0.05f32; shard];
    let mut best = f64::MAX;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let mut all = vec![];
    for _ in 0..20 {
        let start = Instant::now();
        pool.install(|| {
            use rayon::prelude::*;
            memories.par_iter_mut().for_each(|(m, g)| {
                g.values.fill(0.0);
                let mut graph = Graph::new(m, &p);
                let mut h = graph.input(shard, 15, &h0);
                let mut states = vec![];
                for _ in 0..100 {
                    let k = f.forward(&mut graph, h);
                    h = graph.add_scaled(h, &[(k, 1.0)], &scale);
                    states.push(h);
                }
                let s = graph.collect(&states, (0..100).flat_map(|i| (0..shard).map(move |r| (i, r))));
                let loss = graph.square(s, None, None, 1.0 / (5000.0 * 15.0));
                graph.backward(loss, g);
            });
        });
        let ms = start.elapsed().as_secs_f64() * 1e3;
        best = best.min(ms);
        all.push(ms);
    }
    all.sort_by(f64::total_cmp);
    println!("threads {threads} shard {shard}: best {best:.1} median {:.1} ms; {:.1} MB; GFLOP/s {:.0}", all[10], memories.iter().map(|m| m.0.bytes()).sum::<usize>() as f64 / 1e6, 8.4 / best * 1e3);
}
