//! Frames of videos side by side: a strip for documents, and a sheet of many frames that a page plays.
//!
//! ```
//! use cssc_report::{Film, FilmFrame, FilmRow};
//!
//! let frame = |light: f64| FilmFrame { pixels: vec![light; 64], ..FilmFrame::default() };
//! let film = Film {
//!     title: "dusk".to_owned(),
//!     size: [8, 8],
//!     rows: vec![FilmRow { name: "truth".to_owned(), frames: vec![frame(1.0), frame(0.5)] }],
//! };
//! let mut png = Vec::new();
//! film.write_strip(&mut png)?;
//! # Ok::<(), std::io::Error>(())
//! ```

use crate::canvas::{
    Anchor, Canvas, Colour, HAIRLINE, INK, PREDICTED, QUIET, SMOOTHED, Stroke, TextStyle, rectangle,
};
use crate::columns::base64;
use crate::png::write_canvas;
use std::io::{self, Write};
use tiny_skia::{Pixmap, PremultipliedColorU8};

/// Side of a pixel of a video in the strip.
const PIXEL: f32 = 1.5;
const MARGIN: f32 = 20.0;
/// Pixels of a page for one of a video that plays there, and moments in a second.
const MAGNIFIED: usize = 4;
const PER_SECOND: f64 = 12.0;
/// Room for the names of the rows, for the title, below the frames of a row, and between frames.
const NAMES: f32 = 96.0;
const TITLE: f32 = 40.0;
const NOTES: f32 = 24.0;
const SPACE: f32 = 4.0;

/// Videos of equal length, one below the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Film {
    /// What is shown.
    pub title: String,
    /// Rows and columns of the pixels of a frame.
    pub size: [usize; 2],
    /// The videos.
    pub rows: Vec<FilmRow>,
}

/// A video.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FilmRow {
    /// Where it comes from.
    pub name: String,
    /// Its frames.
    pub frames: Vec<FilmFrame>,
}

/// A frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FilmFrame {
    /// Light from 0 to 1, row after row.
    pub pixels: Vec<f64>,
    /// Drawn with a frame around it: it was observed.
    pub boxed: bool,
    /// A few letters below it.
    pub note: String,
}

impl Film {
    /// Writes all frames side by side as PNG, with names.
    ///
    /// # Errors
    /// Those of `output`.
    pub fn write_strip(&self, output: &mut dyn Write) -> io::Result<()> {
        let [height, width] = self.size.map(|side| side as f32 * PIXEL);
        let frames = self.rows.iter().map(|row| row.frames.len()).max();
        let across = MARGIN + NAMES + frames.unwrap_or(0) as f32 * (width + SPACE) + MARGIN;
        let down = MARGIN + TITLE + self.rows.len() as f32 * (height + NOTES) + MARGIN;
        write_canvas((across as u32, down as u32), output, |canvas| {
            let title = TextStyle::new(14.0, INK, Anchor::Start).bold();
            canvas.text((MARGIN, MARGIN + 14.0), &self.title, title);
            for (number, row) in self.rows.iter().enumerate() {
                let top = MARGIN + TITLE + number as f32 * (height + NOTES);
                let name = TextStyle::new(12.0, INK, Anchor::Start);
                canvas.text((MARGIN, top + height / 2.0 + 4.0), &row.name, name);
                for (number, frame) in row.frames.iter().enumerate() {
                    let left = MARGIN + NAMES + number as f32 * (width + SPACE);
                    self.draw(frame, (left, top), canvas);
                }
            }
        })
    }

    fn draw(&self, frame: &FilmFrame, (left, top): (f32, f32), canvas: &mut dyn Canvas) {
        let [height, width] = self.size.map(|side| side as f32 * PIXEL);
        let corner = (left + width, top + height);
        canvas.area(&rectangle((left, top), corner), Colour::new(0, 0, 0));
        for (at, &light) in frame.pixels.iter().enumerate() {
            let light = grey(light);
            // The background is black already.
            if light > 0 {
                let (y, x) = (at / self.size[1], at % self.size[1]);
                let (x, y) = (left + x as f32 * PIXEL, top + y as f32 * PIXEL);
                let pixel = rectangle((x, y), (x + PIXEL, y + PIXEL));
                canvas.area(&pixel, Colour::new(light, light, light));
            }
        }
        let stroke = match frame.boxed {
            true => Stroke::new(SMOOTHED, 2.5),
            false => Stroke::new(HAIRLINE, 1.0),
        };
        let mut around =
            rectangle((left - 1.0, top - 1.0), (corner.0 + 1.0, corner.1 + 1.0)).to_vec();
        around.push(around[0]);
        canvas.line(&around, stroke);
        if !frame.note.is_empty() {
            let colour = match frame.boxed {
                true => PREDICTED,
                false => QUIET,
            };
            let style = TextStyle::new(9.5, colour, Anchor::Middle);
            canvas.text((left + width / 2.0, corner.1 + 14.0), &frame.note, style);
        }
    }

    /// Writes the bare frames as PNG, one row a video, one pixel a pixel: what a page plays by moving it under a window.
    ///
    /// # Errors
    /// Those of `output`.
    pub fn write_sheet(&self, output: &mut dyn Write) -> io::Result<()> {
        let [height, width] = self.size;
        let frames = self.rows.iter().map(|row| row.frames.len()).max();
        let across = frames.unwrap_or(0) * width;
        let down = self.rows.len() * height;
        let mut sheet = Pixmap::new(across as u32, down as u32)
            .ok_or_else(|| io::Error::other(format!("a sheet of {across} × {down} pixels")))?;
        let pixels = sheet.pixels_mut();
        for (number, row) in self.rows.iter().enumerate() {
            for (moment, frame) in row.frames.iter().enumerate() {
                for (at, &light) in frame.pixels.iter().enumerate() {
                    let (y, x) = (number * height + at / width, moment * width + at % width);
                    let light = grey(light);
                    let colour = PremultipliedColorU8::from_rgba(light, light, light, 255);
                    pixels[y * across + x] = colour.unwrap_or(PremultipliedColorU8::TRANSPARENT);
                }
            }
        }
        output.write_all(&sheet.encode_png().map_err(io::Error::other)?)
    }
}

/// A part of a page that plays a sheet of square frames ([`Film::write_sheet`]) and shows its strip; `names` are those of its rows.
///
/// # Errors
/// If the sheet is no PNG whose frames are square.
pub fn film_html(sheet: &[u8], strip: &[u8], names: &[&str]) -> Result<String, String> {
    let picture = Pixmap::decode_png(sheet).map_err(|error| error.to_string())?;
    let side = picture.height() as usize / names.len().max(1);
    if side == 0 || !(picture.width() as usize).is_multiple_of(side) {
        return Err(format!(
            "{} rows of square frames were expected",
            names.len()
        ));
    }
    let moments = picture.width() as usize / side;
    let shown = side * MAGNIFIED;
    let lines: String = names
        .iter()
        .map(|name| format!("<span>{name}</span>"))
        .collect();
    Ok(format!(
        "<style>.film {{ display: flex; gap: 1rem; }} .film p {{ display: grid; margin: 0; align-items: center; }}\n\
         .film i {{ width: {shown}px; height: {down}px; background: url(data:image/png;base64,{sheet}) 0 0 / {across}px \
         {down}px; image-rendering: pixelated; animation: film {seconds}s steps({moments}) infinite; }}\n\
         @keyframes film {{ to {{ background-position: -{across}px 0; }} }}</style>\n\
         <div class=\"film\"><p>{lines}</p><i></i></div>\n\
         <img style=\"width: 100%\" alt=\"the same frames side by side\" src=\"data:image/png;base64,{strip}\">",
        down = shown * names.len(),
        across = shown * moments,
        seconds = moments as f64 / PER_SECOND,
        sheet = base64(sheet),
        strip = base64(strip),
    ))
}

fn grey(light: f64) -> u8 {
    (255.0 * light.clamp(0.0, 1.0)).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_has_a_row_for_each_video_and_its_frames_side_by_side() {
        let frame = |lights: [f64; 4]| FilmFrame {
            pixels: lights.to_vec(),
            ..FilmFrame::default()
        };
        let row = |frames: Vec<FilmFrame>| FilmRow {
            name: "a".to_owned(),
            frames,
        };
        let film = Film {
            title: "two".to_owned(),
            size: [2, 2],
            rows: vec![
                row(vec![frame([0.0, 1.0, 0.0, 0.0]), frame([0.2; 4])]),
                row(vec![frame([2.0; 4]), frame([f64::NAN; 4])]),
            ],
        };
        let mut png = Vec::new();
        film.write_sheet(&mut png).unwrap();
        let sheet = Pixmap::decode_png(&png).unwrap();
        assert_eq!((sheet.width(), sheet.height()), (4, 4));
        let lights: Vec<u8> = sheet.pixels().iter().map(|pixel| pixel.red()).collect();
        let expected = [
            [0, 255, 51, 51],
            [0, 0, 51, 51],
            [255, 255, 0, 0],
            [255, 255, 0, 0],
        ];
        assert_eq!(lights, expected.concat());
        let mut strip = Vec::new();
        film.write_strip(&mut strip).unwrap();
        assert!(Pixmap::decode_png(&strip).unwrap().width() > 4);
    }
}
