// The rows of results of a page: which cell is the name, which the result, its unit, range and flag.
import { unitBehind } from '../../lab-values/units.ts'
import { flagOf, partFlag } from '../../lab-values/values.ts'
import { heightOf, type PageText } from '../pages/page.ts'
import { isDay } from '../texts/dates.ts'
import { cleanName, headingOf, isPossibleName, looksLikeSentence } from '../texts/names.ts'
import { mergeRows } from './antibiotic-tables.ts'
import { type Card, findCards, rowOfCard } from './cards.ts'
import {
  isValueInColumn,
  type Line,
  resultsInCell,
  resultsInLine,
  splitCell,
  type TypedCell,
  withLettersOfNames,
} from './cells.ts'
import { readSpecialTables } from './dated-tables.ts'
import { type Column, type ColumnKind, isTitleOfResults } from './headers.ts'
import { commentsIn, continuesRow, NotesBelowRows } from './notes.ts'
import { assign, isInColumnOfOtherDay, isUnderResults, regionsOfPages, splitAtColumns } from './regions.ts'
import {
  beginsName,
  hasEvidence,
  isAppointment,
  isFreeResult,
  isGrade,
  isHeading,
  isNoMeasurement,
  isPartOfExamination,
  isShortAnswer,
  isWordBehindColon,
  joinedText,
  nameUnder,
  newRow,
  partsAtColon,
  type ReadRowsOptions,
  reclassify,
  type Row,
  secondResult,
  unitOfColumns,
  usualHeight,
  withNamedUnit,
  withoutSiteMarks,
  withoutUnit,
  withRestOfArea,
} from './row-parts.ts'
import { factsInColumns, linesOfResults, type Statement, StatementLines, statementsIn } from './statements.ts'

/** The rows of all pages, in reading order. */
export function readRows(pages: readonly { page: PageText; lines: readonly Line[] }[], options: ReadRowsOptions): Row[] {
  const rows: Row[] = []
  let [panel, heading, section] = [null, null, null] as [string | null, string | null, string | null]
  const statements = new StatementLines()
  const tablesOfPages = pages.map(({ page, lines }) => ({
    page,
    ...readSpecialTables(page, linesOfResults(lines, options.isSpecimen), options),
  }))
  for (const { page, region } of regionsOfPages(tablesOfPages)) {
    statements.regionBegins(region)
    const reader = new RegionReader(page, region.columns, options, { panel, heading, statements })
    reader.section = section
    rows.push(...reader.read(region.lines))
    statements.regionEnds()
    panel = reader.panel
    heading = reader.heading
    section = reader.section
  }
  const tables = tablesOfPages.flatMap((item) => item.rows)
  return mergeRows(withoutSiteMarks(rows.map((row) => withRestOfArea(withNamedUnit(row), pages))), tables)
}

class RegionReader {
  panel: string | null
  readonly #page: PageText
  readonly #columns: Column[] | null
  readonly #options: ReadRowsOptions
  readonly #rows: Row[] = []
  /** A name whose result is in a line below. */
  #waiting: { text: string; line: Line } | null = null
  section: string | null = null
  heading: string | null
  readonly #usualHeight: number
  readonly #notes: NotesBelowRows
  readonly #statements: StatementLines

  constructor(
    page: PageText,
    columns: Column[] | null,
    options: ReadRowsOptions,
    { panel, heading, statements }: { panel: string | null; heading: string | null; statements: StatementLines },
  ) {
    this.heading = heading
    this.#statements = statements
    this.#page = page
    this.#usualHeight = usualHeight(page)
    this.#columns = columns
    this.#options = options
    this.#notes = new NotesBelowRows({ page, columns, isNamed: options.isNamed })
    this.panel = panel
  }

  read(lines: readonly Line[]): Row[] {
    const cards = this.#columns ? [] : findCards(lines, this.#options)
    const linesOfCards = new Set(cards.flatMap((card) => card.lines))
    const cardsByLine = new Map<Line, typeof cards>()
    for (const card of cards) cardsByLine.set(card.lines[0]!, [...(cardsByLine.get(card.lines[0]!) ?? []), card])
    for (const line of lines) {
      for (const card of cardsByLine.get(line) ?? []) this.#card(card)
      if (!linesOfCards.has(line)) this.#line(line)
    }
    this.#notes.panelEnds(this.#rows)
    return this.#rows
  }

  #card(card: Card): void {
    this.#notes.rowFollows()
    if (this.heading) this.panel = this.heading
    this.heading = null
    this.#waiting = null
    this.#push([rowOfCard(card, this.#page.number, this)])
  }

  #push(rows: readonly Row[], statements?: readonly Statement[]): void {
    this.#statements.rows(rows, statements)
    this.#rows.push(...rows)
  }

  #line(line: Line): void {
    const { statements, rest } = statementsIn(line, this.#options.isSpecimen)
    if (!rest) this.#statements.addLine(line, statements, this.heading !== null)
    // A line of nothing else is read as any line: notes may follow it.
    this.#readLine(rest ?? line, statements, !rest)
  }

  #readLine(line: Line, statements: readonly Statement[], isStatement: boolean): void {
    const { isNamed } = this.#options
    if (this.#notes.begins(line, this.#rows)) return
    const cells = splitAtColumns(line.cells, this.#columns, isNamed)
      .flatMap((cell) => resultsInCell(cell, isNamed).flatMap((item) => partsAtColon(item, isNamed)))
      .flatMap(({ cell, isAnswer }) => splitCell(cell).map((part): TypedCell => (isAnswer ? { ...part, isAnswer } : part)))
      .map((cell, index, lineCells) => reclassify(cell, index, lineCells, isNamed))
    const rows = this.#rowsOfLine(line, withLettersOfNames(cells, isNamed))
    if (statements.length && !rows.length && this.heading !== null) this.#statements.addLine(line, statements, true)
    if (rows.length) {
      this.#notes.rowFollows()
      this.#push(rows, statements)
      this.#waiting = null
      return
    }
    // What is no row is one text again: `Bio. Ref. Interval : 60 - 200`.
    const wholeCells = line.cells.flatMap((cell) => splitCell(cell))
    const last = this.#rows.at(-1)
    if (this.#notes.continuesColumn(line, last)) return
    if (!last || last.page !== this.#page.number || !continuesRow(last, line, wholeCells, this.#columns, isNamed))
      if (!this.#notes.continues(line, this.#rows) && !isStatement) this.#textLine(line, wholeCells)
  }

  #rowsOfLine(line: Line, cells: TypedCell[]): Row[] {
    const results = this.#columns && line.cells.length > 1 ? [] : resultsInLine(cells, this.#options.isNamed)
    if (results.length > 1) return results.flatMap((item) => this.#rowByKinds(line, item))
    const second = secondResult(cells)
    if (second !== undefined && !isInColumnOfOtherDay(cells[second]!.box, this.#columns)) {
      const name = cells[0]!
      const rowsOfBoth = [cells.slice(0, second), [name, ...cells.slice(second)]].flatMap((part) => this.#rowByKinds(line, part))
      if (rowsOfBoth.length === 2) return rowsOfBoth
    }
    if (!this.#columns) return this.#rowByKinds(line, cells)
    const rows = this.#rowByColumns(line, assign(cells, this.#columns))
    // Below a table may stand lines with a colon that keep to no column.
    return rows.length || !cells.some((cell) => cell.isAnswer) ? rows : this.#rowByKinds(line, cells)
  }

  #rowByColumns(line: Line, cellsByColumn: Map<Column, TypedCell[]>): Row[] {
    const cellsIn = (kind: ColumnKind) =>
      [...cellsByColumn].filter(([column]) => column.kind === kind).flatMap(([, cells]) => cells)
    let nameCells = cellsIn('name')
    if (!this.#columns!.some((column) => column.kind === 'name')) {
      const first = [...cellsByColumn.values()].flat().toSorted((a, b) => a.box.left - b.box.left)[0]
      if (first && first.kind === 'text' && /\p{L}/u.test(first.text)) nameCells = [first]
    }
    let valueCells = cellsIn('value')
    const abnormal = cellsIn('abnormal_value')
    const normal = cellsIn('normal_value')
    // The name may reach below the column of results where that is empty.
    if (!valueCells.length && !abnormal.length && !normal.length && !cellsIn('dated_value').length) {
      const last = nameCells.at(-1)
      if (nameCells.length > 1 && last && last.kind === 'value') {
        valueCells = [last]
        nameCells = nameCells.slice(0, -1)
      }
    }
    const rest = (cells: TypedCell[]) => cells.filter((cell) => !nameCells.includes(cell))
    const columnFacts = factsInColumns(cellsIn)
    const columnsOfResults: { results: TypedCell[]; date: string | null }[] = cellsIn('dated_value').length
      ? [...cellsByColumn].flatMap(([{ kind, date = null }, results]) => (kind === 'dated_value' ? [{ results, date }] : []))
      : [{ results: [...rest(valueCells), ...normal, ...abnormal], date: columnFacts.date }]
    const inComments = cellsIn('comment')
    // Columns whose name is not known show what they are by what stands in them.
    const unnamed = (kind: 'unit' | 'range') =>
      this.#columns!.some((column) => column.kind === kind)
        ? cellsIn(kind)
        : cellsIn('other')
            .filter((cell) => cell.kind === kind)
            .slice(0, 1)
    const nameText = joinedText(nameCells.filter((cell) => cell.kind !== 'flag'))
    const flagsInName = nameCells.filter((cell) => cell.kind === 'flag')
    const rows: Row[] = []
    for (const { results, date } of columnsOfResults) {
      const row = this.#row(line, nameText, [...results], {
        unit: unnamed('unit'),
        range: unnamed('range'),
        flag: [...cellsIn('flag'), ...inComments.filter((cell) => flagOf(cell.text)), ...flagsInName],
        isInColumn: true,
        isAbnormal: abnormal.length > 0 && normal.length === 0,
      })
      if (row) rows.push(withNamedUnit({ ...row, ...columnFacts, date }, unitOfColumns(this.#columns!)))
    }
    // Of several dates none is certain.
    if (rows.length === 1 && columnsOfResults.length === 1) rows[0]!.comments = commentsIn(inComments)
    return rows
  }

  /** Without columns: a name, then a result, then what belongs to it. */
  #rowByKinds(line: Line, cells: readonly TypedCell[]): Row[] {
    const { isNamed } = this.#options
    const first = cells[0]
    const isKnown = first !== undefined && isNamed(cleanName(first.text))
    const value = cells.findIndex(
      (cell, index) =>
        index > 0 &&
        (cell.kind === 'value' ||
          (index === 1 && cell.kind === 'range' && isKnown && (cell.isAnswer || cells[2]?.kind === 'range')) ||
          (index === 1 && isShortAnswer(cell, isKnown))),
    )
    if (value < 1) return []
    const cellsBefore = cells.slice(0, value)
    // `pH` is a unit as well.
    const names = cellsBefore.filter((cell) => cell.kind === 'text' || (cell === first && isKnown))
    const name = joinedText(names)
    const cellsAfter = cells.slice(value + 1)
    const nextValue = cellsAfter.findIndex((cell) => cell.kind === 'value' && cell.value !== 'comparator')
    const own =
      nextValue < 0
        ? cellsAfter
        : cellsAfter.slice(0, nextValue).concat(cellsAfter.slice(nextValue).filter((cell) => cell.kind !== 'value'))
    // The first comparator behind the result is its range: `95 <100`.
    const bound = cellsAfter.find((cell) => cell.kind === 'value' && cell.value === 'comparator')
    const ranges = [...own.filter((cell) => cell.kind === 'range'), ...(bound ? [bound] : [])]
    const evidence =
      [...own, ...cellsBefore].some((cell) => cell.kind === 'unit' || cell.kind === 'range') ||
      bound !== undefined ||
      isWordBehindColon(cells[value]!) ||
      this.#options.isAnalyte(name)
    if (!evidence) return []
    const row = this.#row(line, name, [cells[value]!], {
      unit: [...own, ...cellsBefore].filter((cell) => cell.kind === 'unit' && !names.includes(cell)),
      range: ranges.length ? ranges : cellsBefore.filter((cell) => cell.kind === 'range'),
      flag: [...cellsBefore, ...own].filter((cell) => cell.kind === 'flag'),
      isInColumn: false,
      isAbnormal: false,
    })
    return row ? [row] : []
  }

  #row(
    line: Line,
    nameText: string,
    results: TypedCell[],
    rest: { unit: TypedCell[]; range: TypedCell[]; flag: TypedCell[]; isInColumn: boolean; isAbnormal: boolean },
  ): Row | undefined {
    const all = results.flatMap((cell) => withoutUnit(cell))
    // A flag without a column of its own is in that of the units or ranges.
    const units = [...rest.unit.filter((cell) => cell.kind !== 'flag'), ...all.filter((cell) => cell.kind === 'unit')]
    const flags = [...rest.flag, ...[...all, ...rest.unit, ...rest.range].filter((cell) => cell.kind === 'flag')]
    const candidates = all.filter(({ kind, text }) => kind !== 'unit' && kind !== 'flag' && kind !== 'date' && !isDay(text))
    const first =
      candidates.find(isValueInColumn) ??
      candidates[0] ??
      (flags.length && rest.isInColumn ? results.find((cell) => cell.kind === 'flag') : undefined)
    if (!first || isNoMeasurement(first.text, units.length + rest.range.length > 0)) return undefined
    let name = nameText
    if (!name && this.#waiting && line.box.top - this.#waiting.line.box.bottom < heightOf(line.box) * 2) name = this.#waiting.text
    else if (this.#waiting && beginsName(this.#waiting, line, name, { ...this.#options, last: this.#rows.at(-1) })) {
      name = `${this.#waiting.text} ${name}`
      this.heading = null
    }
    name = cleanName(name)
    name = nameUnder(this.heading ?? this.panel ?? '', name)
    if (!isPossibleName(name, this.#options.isNamed) || isAppointment(name, units[0]?.text)) return undefined
    const text = isValueInColumn(first) || isGrade(first) ? first.text : joinedText(candidates)
    if (!hasEvidence(name, first, [...units, ...flags, ...rest.range.filter((cell) => cell.kind !== 'text')], this.#options))
      return undefined
    if (
      !isValueInColumn(first) &&
      !first.isAnswer &&
      (!rest.isInColumn ||
        !isFreeResult(text, this.#options.isNamed) ||
        candidates.length > 1 ||
        !isUnderResults(first.box, this.#columns!))
    )
      return undefined
    const { value, flag } = partFlag(text)
    const ofRange = rest.range.filter((cell) => cell.kind !== 'flag' && cell.kind !== 'unit')
    // `High` beside a range is the flag of the result.
    const words = ofRange.length > 1 ? ofRange.filter((cell) => cell.value === 'word' && flagOf(cell.text)) : []
    const inRange = ofRange.filter((cell) => !words.includes(cell))
    // Where both columns stand close the range is under that of the results.
    const rangeCells = inRange.length
      ? inRange
      : candidates.filter((cell) => cell !== first && (cell.kind === 'range' || cell.value === 'comparator'))
    const flagCell = [...flags, ...words].find((cell) => cell !== first)
    const ownFlag = flag ?? (flagCell ? flagOf(flagCell.text) : undefined) ?? (rest.isAbnormal ? 'abnormal' : undefined)
    const unitCell = units[0] ?? rest.range.find((cell) => cell.kind === 'unit')
    const cells = [...results, ...rest.unit, ...rest.range, ...rest.flag]
    this.panel = this.heading ?? this.panel
    this.heading = null
    return {
      ...newRow(this.#page.number, cells),
      box: line.box,
      value_box: first.box,
      name,
      value,
      unit: unitCell ? unitCell.text.replace(/^[([](.+)[)\]]$/u, '$1') : unitBehind(joinedText(rangeCells)),
      range_lines: rangeCells.length ? [joinedText(rangeCells)] : [],
      flag: ownFlag ?? null,
      panel: this.panel,
      section: this.section,
    }
  }

  /** A heading of a panel, or a name whose result is below. */
  #textLine(line: Line, cells: readonly TypedCell[]): void {
    this.#waiting = null
    if (cells.length !== 1 || cells[0]!.kind !== 'text') return
    const text = joinedText(cells)
    if (looksLikeSentence(text) || /:\s*\S|(?<!\b\p{L}{1,5})\.\s*\S/u.test(text) || text.length > 70 || /^[([]/u.test(text))
      return
    if (!isPossibleName(cleanName(text), this.#options.isNamed) || this.#options.isLetterhead?.(text)) return
    const [page, columns] = [this.#page, this.#columns]
    const isBelow = this.#rows.length > 0 || this.heading !== null
    const isTitle = isHeading(line, text, { page, columns, usualHeight: this.#usualHeight, isBelow })
    if (isTitle || !columns) this.#waiting = { text: cleanName(text), line }
    if (!isTitle) return
    this.#notes.panelEnds(this.#rows)
    // A title of all results ends the panel above, and leaves the heading of the next one.
    if (isTitleOfResults(text)) {
      if (this.heading === null) this.panel = null
      return
    }
    this.heading = headingOf(text)
    if (isPartOfExamination(text)) return
    this.#statements.panelBegins()
    this.section = this.heading
  }
}
