//! The hopper as lines: its links from positions and joint angles.
//!
//! dm_control's planar hopper: a hinge turns by θ about the axis that points into the picture, so a point (x, z) of a
//! link stands at (x cos θ + z sin θ, -x sin θ + z cos θ) in the link before it. Lengths in metres.

/// Height of the torso's joint when its position is 0.
const HEIGHT: f64 = 1.0;
/// Where each link hangs in the one before it: pelvis, thigh, calf, foot, all straight below.
const BELOW: [f64; 4] = [0.05, 0.2, 0.33, 0.32];
const TORSO_TOP: f64 = 0.2;
const NOSE: [(f64, f64); 2] = [(0.08, 0.13), (0.15, 0.14)];
const FOOT: [(f64, f64); 2] = [(-0.08, 0.0), (0.17, 0.0)];

/// A link's frame: where it stands and how far it is turned.
#[derive(Clone, Copy)]
struct Frame {
    place: (f64, f64),
    angle: f64,
}

impl Frame {
    fn point(self, (x, z): (f64, f64)) -> (f64, f64) {
        let (sin, cos) = self.angle.sin_cos();
        (
            self.place.0 + x * cos + z * sin,
            self.place.1 - x * sin + z * cos,
        )
    }
}

/// Lines of the body for the seven positions, in the order of the set: from the top of the torso down to the ankle, the
/// foot, and the nose.
pub(super) fn links(positions: &[f64]) -> [Vec<(f64, f64)>; 3] {
    let mut frame = Frame {
        place: (positions[0], HEIGHT + positions[1]),
        angle: positions[2],
    };
    let nose = NOSE.map(|point| frame.point(point)).to_vec();
    let mut spine = vec![frame.point((0.0, TORSO_TOP))];
    for (below, turn) in BELOW.into_iter().zip(&positions[3..]) {
        frame = Frame {
            place: frame.point((0.0, -below)),
            angle: frame.angle + turn,
        };
        spine.push(frame.place);
    }
    let foot = FOOT.map(|point| frame.point(point)).to_vec();
    [spine, foot, nose]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_hopper_stands_upright_and_a_turned_one_lies() {
        let length: f64 = BELOW.iter().sum();
        let [spine, foot, _] = links(&[0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert!(spine.iter().all(|point| (point.0 - 0.3).abs() < 1e-12));
        assert!((spine[4].1 - (1.0 - length)).abs() < 1e-12);
        assert!((foot[1].0 - 0.47).abs() < 1e-12);
        // A quarter turn about the axis into the picture lays what hung below to the left.
        let quarter = std::f64::consts::FRAC_PI_2;
        let [spine, ..] = links(&[0.0, 0.0, quarter, 0.0, 0.0, 0.0, 0.0]);
        assert!((spine[4].0 + length).abs() < 1e-12 && (spine[4].1 - 1.0).abs() < 1e-12);
        // The joints keep the lengths of the links.
        let [spine, ..] = links(&[0.1, 0.2, 0.3, 0.4, -0.5, 0.6, -0.7]);
        for (pair, below) in spine[1..].windows(2).zip(&BELOW[1..]) {
            let (x, z) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
            assert!((x.hypot(z) - below).abs() < 1e-12);
        }
    }
}
