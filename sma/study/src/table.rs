//! A table or a figure as numbers, with the paper's beside them.

/// One number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cell {
    /// The measured value; `None` where there is nothing to measure or it was not requested.
    pub value: Option<f64>,
    /// Standard deviation over the subsets.
    pub spread: Option<f64>,
    /// The paper's number.
    pub paper: Option<f64>,
}

impl Cell {
    /// A number.
    pub fn of(value: f64) -> Self {
        Self { value: Some(value), ..Self::default() }
    }

    /// Mean and standard deviation; empty without values.
    pub fn mean(values: &[f64]) -> Self {
        let count = values.len() as f64;
        if values.is_empty() {
            return Self::default();
        }
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let spread = (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt());
        Self { value: Some(mean), spread, paper: None }
    }

    /// The same with the paper's number.
    pub fn with_paper(self, paper: f64) -> Self {
        Self { paper: Some(paper), ..self }
    }
}

/// A row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What the row is about.
    pub name: String,
    /// One per column.
    pub cells: Vec<Cell>,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The name by which it is requested, such as `fig8`.
    pub id: &'static str,
    /// What it shows, with its number in the paper.
    pub title: String,
    /// The unit of the numbers; empty where rows have their own.
    pub unit: &'static str,
    /// Digits after the decimal point.
    pub decimals: usize,
    /// The column headings.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Row>,
    /// What a reader needs to know.
    pub notes: Vec<String>,
}

impl Table {
    /// Appends a row.
    pub fn row(&mut self, name: impl Into<String>, cells: Vec<Cell>) {
        self.rows.push(Row { name: name.into(), cells });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_the_samples_standard_deviation() {
        // 2, 4, 6: mean 4, squares 4 + 0 + 4 over two.
        let cell = Cell::mean(&[2.0, 4.0, 6.0]);
        assert_eq!((cell.value, cell.spread), (Some(4.0), Some(2.0)));
        assert_eq!(Cell::mean(&[5.0]), Cell::of(5.0));
        assert_eq!(Cell::mean(&[]), Cell::default());
    }
}
