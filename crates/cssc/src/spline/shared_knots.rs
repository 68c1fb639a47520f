//! Channels that are observed at the same knots, found so that they can share one
//! factorisation and run in one sweep.

/// The channels of a block, grouped by equal columns of the mask.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedKnots {
    /// All channels, those of a group side by side and increasing.
    order: Vec<usize>,
    /// Where each group ends in `order`.
    ends: Vec<usize>,
}

impl SharedKnots {
    /// Groups the channels of `observed` (`[knots, channels]`; all observed if `None`).
    /// Costs O(knots · channels) when all agree, and a few entries for each comparison of
    /// channels that differ.
    pub(crate) fn prepare(&mut self, channels: usize, observed: Option<&[bool]>) {
        self.order.clear();
        self.ends.clear();
        self.order.extend(0..channels);
        let Some(observed) = observed.filter(|mask| mask.contains(&false)) else {
            self.ends.push(channels);
            return;
        };
        let mut start = 0;
        while start < channels {
            let end = start + 1 + self.gather_equal(start, channels, observed);
            self.order[start..end].sort_unstable();
            self.ends.push(end);
            start = end;
        }
    }

    /// Moves the channels whose column equals that of `order[start]` right behind it, and
    /// returns how many there are.
    fn gather_equal(&mut self, start: usize, channels: usize, observed: &[bool]) -> usize {
        let first = self.order[start];
        let mut found = 0;
        for place in start + 1..channels {
            let other = self.order[place];
            let equal = observed
                .chunks_exact(channels)
                .all(|row| row[first] == row[other]);
            if equal {
                found += 1;
                self.order.swap(start + found, place);
            }
        }
        found
    }

    /// The channels of each group.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &[usize]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, &end)| &self.order[start..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_with_equal_masks_are_found_wherever_they_stand() {
        let (x, o) = (true, false);
        let mask = [x, o, x, o, x, x, x, x, x, o, o, x, o, x, x];
        let mut shared = SharedKnots::default();
        shared.prepare(5, Some(&mask));
        let groups: Vec<Vec<usize>> = shared.groups().map(<[usize]>::to_vec).collect();
        assert_eq!(groups, [vec![0, 2], vec![1, 3], vec![4]]);
        shared.prepare(3, Some(&[true; 6]));
        assert_eq!(shared.groups().collect::<Vec<_>>(), [[0, 1, 2]]);
    }
}
