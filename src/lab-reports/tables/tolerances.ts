// The tolerances with which tables are read. Heights are shares of the height of letters unless the comment says otherwise.

// Words, cells and lines
/** A wider gap separates two cells. A space is about a third, and justified lines have two thirds. */
export const CELL_GAP = 0.85
/** In widths of a letter, in pictures of a monospaced font: a wider gap separates two cells. */
export const CELL_GAP_IN_LETTERS = 1.75
/** The median difference of letter widths in a monospaced font; other fonts have 0.05 and more. */
export const LETTER_WIDTH_SPREAD = 0.04
/** Words whose letters differ less in width have letters of equal widths, if they are this share of a page; in other fonts a fifth are. */
export const [LETTER_WIDTH_NEAR, LETTER_WIDTH_SHARE] = [0.02, 0.28]
/** Multiple of the height of a unit below its result: one that is further below is that of another line. Points in which both begin. */
export const [STACK_GAP, STACK_ALIGNED] = [1.1, 4]
/** Multiple of the height of a result: the name stands no further from the middle of the result and its unit. */
export const STACK_MIDDLE = 0.3
/** Share of the smaller height: words that overlap less vertically are in different lines. */
export const LINE_OVERLAP = 0.5
/** Multiple of the height of a unit from which on a result is larger, and share of its height with which a word stands next to another one. */
export const [LARGE_RESULT, NEXT_OVERLAP] = [1.25, 0.8]
/** A space within a cell is at most the usual space times the factor, and between the two limits. */
export const [SPACE_FACTOR, SPACE_MIN, SPACE_MAX] = [1.35, 0.34, 0.8]
/** Multiple of the height of capitals in a picture that is the size of their letters. */
export const SIZE_OF_CAPITALS = 1.15
/** A wider gap is not a space. */
export const WORD_GAP_MAX = 0.6
/** The usual space of a page that does not show one. */
export const SPACE_DEFAULT = 0.28
/** In pictures: the widest space behind the dash of a range or behind `NOT`, and the largest distance from the box of a word to its ink. */
export const [DASH_GAP, PICTURE_EDGE] = [1.2, 0.9]
/** Multiple of the widest space, in pictures: the end of a comma is often not seen. */
export const BEHIND_COMMA = 1.25
/** In points: edges of texts in one column differ less. */
export const SAME_EDGE = 2.5
/** In points: a text under the name of its column is displaced by less. */
export const ALIGNED = 16

// Drawn lines and areas
/** In points: drawn edges that differ less are one edge. */
export const DRAWN_EDGE = 1.6
/** Share of the width of a table that an edge between two rows covers. Cells that span rows interrupt it. */
export const DRAWN_SHARE = 0.5
/** In points: the edges of a table are drawn at most this far above and below its texts. */
export const DRAWN_AROUND = 30

// Headers
/** Lines of one column name are at most this far apart. */
export const HEADER_LINE_GAP = 0.75
/** Lines of one column name are closer than this to each other, two headers are not. */
export const HEADER_STACK_GAP = 0.35
/** Letters of one header differ less in height. In a picture a bracket makes the letters of a line higher. */
export const [HEADER_HEIGHT_IN_TEXT, HEADER_HEIGHT_IN_PICTURE] = [0.15, 0.45]
/** Texts that overlap more vertically are in one row. */
export const ROW_OVERLAP = 0.15
/** The same for a text of a picture below another one of its column in the row. */
export const SLANTED_ROW_OVERLAP = 0.3

// Columns
/** In points: texts that overlap less horizontally are next to each other. */
export const COLUMN_OVERLAP = 0.5
/** In points, and as a share of what a text overlaps most: it is not in a column that it overlaps by less. */
export const [OVERHANG, OVERHANG_SHARE] = [2.5, 0.1]
/** In points: numbers overlap the units of the next column by at most this. */
export const NUMBER_OVER_UNIT = 0.5
/** Times a usual space: the gap between two columns is wider. */
export const COLUMN_GAP = 1.08
/** Two column names are separate if this share of the lines below has a gap in the same place. */
export const GAPS_SHARE = 0.8
/** Lines that are further below the lines of a table are not its own. */
export const FOOT_GAP = 8
/** For each line that crosses the columns of a table, at least this many keep to them. */
export const CROSSING_SHARE = 2.5
/** In points: a text that begins this close to the left edge of a column is in it. */
export const COLUMN_EDGE = 3
/** Share of the texts of a column without a name: if more are units, or ranges, it is a column of these. */
export const KIND_SHARE = 0.5
/** Share of the rows of a table: if more names have a second line, the second line is a method or another note. */
export const TWO_LINES_SHARE = 0.6
/** Share of the height of letters: the middles of texts in one line are this close. */
export const LEVEL = 0.3
/** Cells of a column, and their share: if fewer have a unit or range below what they hold, it is none of theirs. */
export const [DETAILS_MIN, DETAILS_SHARE] = [2, 0.4]
/** Names for each result: if fewer have notes below them, names seem to be such. */
export const NAMES_SHARE = 0.8

/** In points, for each panel: the text of a panel that stands at the end of its rows is closer to it. */
export const PANEL_END = 2.5

// Regions: lines under the same columns
/** Share of the pages: lines on more of them, at the same height, are heads and feet. */
export const REPEATED_SHARE = 0.6
/** In points: a line that repeats moves by about this much at most. */
export const REPEATED_HEIGHT = 4
/** The headings of tables side by side are at most this far above the column names. */
export const TABLES_HEADING_GAP = 2
/** In points: the texts of a table begin at most this far left of its first column name, or of the place where most begin. */
export const TABLE_LEFT = 6
/** The second line of a header is at most this far below the first. */
export const HEADER_SECOND_LINE = 1
/** In points: a unit or flag is in its own column if the middle of that is closer. */
export const OWN_COLUMN = 120
/** In points: how much nearer a column is that a text overlaps wholly. */
export const OVERLAP_BONUS = 40

// Tables side by side
/** The headers of both tables begin at heights that differ less. */
export const SIDES_LEVEL = 2.5
/** Headings are at most this far above the column names. */
export const SIDES_HEADING_GAP = 2.2
/** In points: the cells of a table begin at most this far right of its edge. */
export const SIDES_EDGE = 12

/** In points: particulars next to a table are further from it. */
export const SIDE_GAP = 4

// Rows
/** A table has drawn rows if this share of them has one result. */
export const RULED_SHARE = 0.8
/** In points: lines of a cell are closer than rows by more. */
export const LINES_CLOSER = 0.8
/** Gaps between rows are larger than those between lines of a cell by more, where no other sign parts them. */
export const LINES_JUMP = 0.4
/** Lines of a cell are at most this far apart. */
export const CELL_LINE_GAP = 0.85
/** In points: a wrapped text may seem to have had this much room. */
export const BREAK_ROOM = 0.6
/** Letters of one cell differ less in height. */
export const [CELL_HEIGHT_IN_TEXT, CELL_HEIGHT_IN_PICTURE] = [0.06, 0.22]
/** Smaller letters than this share of those above are notes. */
export const [NOTE_HEIGHT, NOTE_HEIGHT_IN_PICTURE] = [0.9, 0.8]
/** Lines of one name are closer than the first, and closer than the row above by more than the second. */
export const [NAME_LINE_GAP, NAME_GAP_ABOVE] = [0.15, 0.1]
/** In points: lines of one name begin at places that differ less. */
export const NAME_ALIGNED = 2
/** Multiple of the height of letters: a text that is further behind a range is none of its words. */
export const REMARK_GAP = 3
/** Multiple of the height of letters: the parts of a name in one line are closer. */
export const NAME_GAP_MAX = 1.5
/** In points: further lines of a range begin, end or have their middle this close to that of the column name. */
export const RANGE_ALIGNED = 12

/** The result is at most this far below a name that is alone in its line. */
export const NAME_ABOVE_RESULT = 2
/** The rest of a name is at most this far below it. */
export const NAME_REST_GAP = 0.7

// Headings, notes and statements
/** Share of the width of a page: the middle of a centered heading is this close to that of the page. */
export const HEADING_CENTERED = 0.05
/** Times the usual height of the words of a page: smaller lines below rows are notes, larger ones are headings even if indented. */
export const [HEADING_HEIGHT, HEADING_LARGER] = [0.87, 1.15]
/** The same share for capitals in pictures, whose words are a fifth lower than those with letters below the line. */
export const HEADING_OF_CAPITALS = 0.75
/** Share of the cells of a column: if more have an edge or the middle in one place, it is aligned there. */
export const ALIGNED_SHARE = 0.2
/** In points: headings are indented by at most this. */
export const HEADING_INDENT = 14
/** A note or statement begins at most this far below its row. */
export const BELOW_ROW = 1.2
/** Lines of a note are at most this far apart. */
export const NOTE_LINE_GAP = 0.8
/** In points: a note indented by this much belongs to the row above it, wherever it is in its panel. */
export const [NOTE_INDENT_MIN, NOTE_INDENT_MAX] = [4, 40]
/** Share of the width of a page: a wrapped line is at least this wide. */
export const WRAPPED_WIDTH = 0.6
/** Times the usual distance of lines: a statement about a row is at most this far below it. */
export const STATEMENT_PITCH = 1.15
/** Lines that are further apart do not belong to one table. */
export const LINE_PITCH_MAX = 5
/** The gap below a statement is this many times the gap above it if it belongs to the row above. */
export const STATEMENT_GAP = 1.5
/** In points: the indent of a note below a name. */
export const STATEMENT_INDENT = 5

// Particulars
/** Lines of one label or value are at most this far apart. */
export const LABEL_LINE_GAP = 0.45
/** Letters of one label or value differ less in height. */
export const LABEL_HEIGHT = 0.15
/** A value is at most this far below its label. */
export const LABEL_VALUE_GAP = 2.2
/** A value next to its label is at most this far above or below the middle of the label. */
export const LABEL_VALUE_DISTANCE = 2

// Cards
/** Times the height of the value: lines of a card are at most this far apart. */
export const CARD_LINE_GAP = 3.6
/** In points: left edges of a card differ by at most this. */
export const CARD_ALIGNED = 14

// Columns of photos that drift from their names, in distances of rows
/** The cost of passing over a name or a result, compared with the distance by which results move from row to row. */
export const SKIP_COST = 0.4
/** Names that are further apart belong to different tables. */
export const ROW_GAP_MAX = 5
/** Share of the distance of rows: texts of two columns that are closer are in line. Share of texts in line that shows flat paper. */
export const [LEVEL_MAX, LEVEL_SHARE] = [0.1, 0.8]
/** How far results drift from their names, how much the drift changes from row to row, and how much drift counts. */
export const [DRIFT_MAX, DRIFT_BEND_MAX, DRIFT_MIN] = [3, 0.35, 0.5]
/** Share of the texts of a column that are units: names such as `pH` are units as well. */
export const UNITS_AMONG_NAMES = 0.3
