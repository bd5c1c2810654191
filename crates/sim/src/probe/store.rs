//! Storage of trace rows: the last in memory, the others in an unnamed file.
//!
//! Rows are stored by columns in chunks of equal length, with eight bytes per number or integer and four per word.
//! Neither the run nor a reader holds more than one chunk in memory.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use crate::host::{self, Scratch};

/// Rows of a chunk.
pub const CHUNK: usize = 1 << 15;

/// One value of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cell {
    /// A number.
    Float(f64),
    /// An integer: a count, a number of something, a byte of a stream.
    Int(i64),
    /// A word, by its place in a list.
    Word(u32),
}

/// The type of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Float,
    Int,
    Word,
}

/// The values of a column in some rows.
#[derive(Clone, Debug)]
pub(super) enum Values {
    Float(Vec<f64>),
    Int(Vec<i64>),
    Word(Vec<u32>),
}

/// Stores rows. The first determines the kind of each column.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    columns: Vec<Values>,
    /// Rows in the file.
    written: usize,
    file: Option<Scratch>,
    failed: Option<io::Error>,
}

impl Writer {
    /// Adds a row. [`Writer::finish`] reports a failure; later rows are discarded.
    pub(crate) fn push(&mut self, row: &[Cell]) {
        if self.columns.is_empty() {
            self.columns = row.iter().map(|cell| Values::none(cell.kind())).collect();
        }
        for (column, cell) in self.columns.iter_mut().zip(row) {
            match (column, *cell) {
                (Values::Float(values), Cell::Float(value)) => values.push(value),
                (Values::Int(values), Cell::Int(value)) => values.push(value),
                (Values::Word(values), Cell::Word(value)) => values.push(value),
                _ => unreachable!("all rows of a trace are alike"),
            }
        }
        if self.columns[0].len() == CHUNK {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if self.failed.is_none() {
            match self.write() {
                Ok(()) => self.written += CHUNK,
                Err(error) => self.failed = Some(error),
            }
        }
        self.columns.iter_mut().for_each(Values::clear);
    }

    fn write(&mut self) -> io::Result<()> {
        if self.file.is_none() {
            self.file = Some(host::scratch()?);
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut bytes = Vec::with_capacity(8 * CHUNK);
        for column in &self.columns {
            bytes.clear();
            match column {
                Values::Float(values) => values.iter().for_each(|value| bytes.extend(value.to_le_bytes())),
                Values::Int(values) => values.iter().for_each(|value| bytes.extend(value.to_le_bytes())),
                Values::Word(values) => values.iter().for_each(|value| bytes.extend(value.to_le_bytes())),
            }
            file.write_all(&bytes)?;
        }
        Ok(())
    }

    /// All rows, to be read; `kinds` are those of the columns, in case there is no row to determine them.
    pub(super) fn finish(self, kinds: impl Iterator<Item = Kind>) -> io::Result<Reader> {
        let Writer { mut columns, written, file, failed } = self;
        if columns.is_empty() {
            columns = kinds.map(Values::none).collect();
        }
        let file = Mutex::new(file);
        failed.map_or(Ok(Reader { rest: Arc::new(Rest { columns, written, file }) }), Err)
    }
}

/// Reads rows.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    rest: Arc<Rest>,
}

#[derive(Debug)]
struct Rest {
    /// The rows that are not in the file.
    columns: Vec<Values>,
    written: usize,
    file: Mutex<Option<Scratch>>,
}

impl Reader {
    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.rest.written + self.rest.columns[0].len()
    }

    /// The columns of some rows.
    ///
    /// # Panics
    /// When there are no such rows.
    pub(super) fn read(&self, rows: Range<usize>) -> io::Result<Vec<Values>> {
        assert!(rows.start <= rows.end && rows.end <= self.len(), "rows {rows:?} of {}", self.len());
        let Rest { columns, written, file } = &*self.rest;
        let mut found: Vec<Values> = columns.iter().map(|column| column.room(rows.len())).collect();
        let mut at = rows.start;
        while at < rows.end.min(*written) {
            let (chunk, first) = (at / CHUNK, at % CHUNK);
            let count = (CHUNK - first).min(rows.end - at);
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(file) = file.as_mut() else { break };
            let bytes_a_row: usize = columns.iter().map(Values::width).sum();
            let mut begin = chunk * CHUNK * bytes_a_row;
            for column in &mut found {
                let width = column.width();
                let mut bytes = vec![0; width * count];
                file.seek(SeekFrom::Start((begin + width * first) as u64))?;
                file.read_exact(&mut bytes)?;
                column.extend_from_bytes(&bytes);
                begin += width * CHUNK;
            }
            at += count;
        }
        let kept = at.saturating_sub(*written)..rows.end.saturating_sub(*written);
        for (column, rest) in found.iter_mut().zip(columns) {
            column.extend_from(rest, kept.clone());
        }
        Ok(found)
    }
}

impl Cell {
    fn kind(self) -> Kind {
        match self {
            Cell::Float(_) => Kind::Float,
            Cell::Int(_) => Kind::Int,
            Cell::Word(_) => Kind::Word,
        }
    }
}

impl Values {
    fn none(kind: Kind) -> Values {
        match kind {
            Kind::Float => Values::Float(Vec::new()),
            Kind::Int => Values::Int(Vec::new()),
            Kind::Word => Values::Word(Vec::new()),
        }
    }

    fn len(&self) -> usize {
        match self {
            Values::Float(values) => values.len(),
            Values::Int(values) => values.len(),
            Values::Word(values) => values.len(),
        }
    }

    /// The bytes of a value.
    fn width(&self) -> usize {
        match self {
            Values::Float(_) | Values::Int(_) => 8,
            Values::Word(_) => 4,
        }
    }

    fn clear(&mut self) {
        match self {
            Values::Float(values) => values.clear(),
            Values::Int(values) => values.clear(),
            Values::Word(values) => values.clear(),
        }
    }

    /// An empty column of this kind with room for this many values.
    fn room(&self, count: usize) -> Values {
        match self {
            Values::Float(_) => Values::Float(Vec::with_capacity(count)),
            Values::Int(_) => Values::Int(Vec::with_capacity(count)),
            Values::Word(_) => Values::Word(Vec::with_capacity(count)),
        }
    }

    fn extend_from(&mut self, other: &Values, rows: Range<usize>) {
        match (self, other) {
            (Values::Float(values), Values::Float(more)) => values.extend(&more[rows]),
            (Values::Int(values), Values::Int(more)) => values.extend(&more[rows]),
            (Values::Word(values), Values::Word(more)) => values.extend(&more[rows]),
            _ => unreachable!("a column is of one kind"),
        }
    }

    fn extend_from_bytes(&mut self, bytes: &[u8]) {
        match self {
            Values::Float(values) => {
                let (all, _) = bytes.as_chunks::<8>();
                values.extend(all.iter().map(|value| f64::from_le_bytes(*value)));
            }
            Values::Int(values) => {
                let (all, _) = bytes.as_chunks::<8>();
                values.extend(all.iter().map(|value| i64::from_le_bytes(*value)));
            }
            Values::Word(values) => {
                let (all, _) = bytes.as_chunks::<4>();
                values.extend(all.iter().map(|value| u32::from_le_bytes(*value)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_as_they_were_whatever_part_is_read() {
        let int = |number: usize| i64::MAX - (number as u64).cast_signed();
        let row = |number: usize| {
            [Cell::Float(number as f64 / 3.0), Cell::Word(7 * number as u32), Cell::Int(int(number))]
        };
        for count in [0, 5, CHUNK, 2 * CHUNK + 3] {
            let mut writer = Writer::default();
            (0..count).for_each(|number| writer.push(&row(number)));
            let reader =
                writer.finish([Kind::Float, Kind::Word, Kind::Int].into_iter()).expect("room on the disk");
            assert_eq!(reader.len(), count);
            let parts = [0..count, 0..count / 2, count / 3..count, count..count];
            for rows in parts {
                let found = reader.read(rows.clone()).expect("the file is there");
                let [Values::Float(floats), Values::Word(words), Values::Int(ints)] = &found[..] else {
                    panic!("three columns in {found:?}")
                };
                assert!(floats.iter().copied().eq(rows.clone().map(|number| number as f64 / 3.0)));
                assert!(words.iter().copied().eq(rows.clone().map(|number| 7 * number as u32)));
                assert!(ints.iter().copied().eq(rows.map(int)));
            }
        }
    }
}
