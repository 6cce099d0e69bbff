// A laboratory's list of tests (its compendium) from CSV files: tests, their result codes, and their questions. Does not use a database.
import { InvalidFileError, RejectedRows } from '../../platform/files/rejected-rows.ts'
import { hasCheckDigit } from '../../lab-values/loinc-codes.ts'
import { readTable, type Column, type ColumnMap, type TableRow } from './compendium-table.ts'

export interface ListedResult {
  code: string
  name: string
  loinc: string | null
  unit: string | null
  /** Null: the list does not say. */
  is_required: boolean | null
}

const questionTypes = ['choice', 'text', 'numeric', 'multi_choice'] as const

export interface ListedQuestion {
  code: string
  text: string
  type: (typeof questionTypes)[number]
  is_required: boolean
  answers: { code: string; text: string }[]
}

export interface ListedTest {
  code: string
  name: string
  specimen: string | null
  /** Null: the list has no results. */
  results: ListedResult[] | null
  /** Null: the list has no questions. */
  questions: ListedQuestion[] | null
}

export interface CompendiumFiles {
  /** May have the results, too: then each row is a result, and repeats its test. */
  tests: string
  results?: string | undefined
  questions?: string | undefined
}

/** Maximum number of results, and of questions, of a test: as in a catalog file. */
const RESULTS_MAX = 300
const QUESTIONS_MAX = 100
const ANSWERS_MAX = 200

const resultColumns: Column[] = ['result', 'result_name', 'loinc', 'unit']

/**
 * Reads the files of a list.
 * @throws InvalidFileError with every row that is invalid and its line, or because a file cannot be used
 */
export async function readCompendium(files: CompendiumFiles, map: ColumnMap = {}): Promise<ListedTest[]> {
  const list = new List()
  const isOneFile = files.results === undefined
  const tests = await readTable('tests', files.tests, isOneFile ? map : withoutResults(map), {
    requiredColumns: ['test', 'test_name'],
    optionalColumns: ['specimen', ...(isOneFile ? [...resultColumns, 'required' as const] : [])],
  })
  const hasResults = tests.has('result')
  const absent = resultColumns.filter((column) => !tests.has(column))
  if (hasResults && absent.length)
    throw new InvalidFileError(`The file of tests has results, but no column for ${absent.join(', ')}.`)
  for (const row of tests.rows) list.add('tests', row, () => list.addTest(row, hasResults))
  if (files.results !== undefined) {
    const table = await readTable('results', files.results, map, {
      requiredColumns: ['test', ...resultColumns],
      optionalColumns: ['required'],
    })
    list.expectResults()
    for (const row of table.rows) list.add('results', row, () => list.addResult(row))
  }
  if (files.questions !== undefined) {
    const requiredColumns: Column[] = ['test', 'question', 'question_text']
    const optionalColumns: Column[] = ['question_type', 'question_required', 'answers']
    const table = await readTable('questions', files.questions, map, { requiredColumns, optionalColumns })
    list.expectQuestions()
    for (const row of table.rows) list.add('questions', row, () => list.addQuestion(row))
  }
  return list.finish()
}

const withoutResults = (map: ColumnMap): ColumnMap =>
  Object.fromEntries(Object.entries(map).filter(([column]) => !resultColumns.includes(column as Column) && column !== 'required'))

/** Why a row is refused. */
class RowError extends Error {}

/** The tests while they are read. The lines are where each part was first. */
class List {
  readonly #tests = new Map<string, ListedTest & { line: number }>()
  readonly #results = new Map<string, ListedResult & { line: number }>()
  readonly #rejected = new RejectedRows()

  add(kind: string, { line, faults }: TableRow, read: () => void): void {
    const reasons = [...faults]
    try {
      if (!reasons.length) read()
    } catch (error) {
      if (!(error instanceof RowError)) throw error
      reasons.push(error.message)
    }
    if (reasons.length) this.#rejected.add(`${kind} line ${line}`, reasons)
  }

  addTest(row: TableRow, hasResults: boolean): void {
    const { test: code, test_name: name, specimen } = row.cells
    if (!code || !name) throw new RowError(`${code ? 'test_name' : 'test'} is empty`)
    const known = this.#tests.get(code)
    if (known && !hasResults) throw new RowError(`the test is already in line ${known.line}`)
    if (known && (known.name !== name || known.specimen !== (specimen || null)))
      throw new RowError(`name or specimen of the test differs from line ${known.line}`)
    if (!known)
      this.#tests.set(code, {
        code,
        name,
        specimen: specimen || null,
        results: hasResults ? [] : null,
        questions: null,
        line: row.line,
      })
    if (row.cells.result) this.addResult(row)
    else if (known) throw new RowError('result is empty')
  }

  expectResults(): void {
    for (const test of this.#tests.values()) test.results = []
  }

  expectQuestions(): void {
    for (const test of this.#tests.values()) test.questions = []
  }

  addResult({ line, cells }: TableRow): void {
    const { result: code, result_name: name, loinc, unit } = cells
    const { results } = this.#requireTest(cells.test)
    if (!code || !name) throw new RowError(`${code ? 'result_name' : 'result'} is empty`)
    if (loinc && !hasCheckDigit(loinc)) throw new RowError('loinc is not a LOINC code')
    if (results!.some((result) => result.code === code)) throw new RowError('the test already has the result')
    if (results!.length >= RESULTS_MAX) throw new RowError(`the test has more than ${RESULTS_MAX} results`)
    const entry = {
      code,
      name,
      loinc: loinc || null,
      unit: unit || null,
      is_required: readFlag('required', cells.required),
      line,
    }
    const first = this.#results.get(code)
    if (first && (first.loinc !== entry.loinc || first.unit !== entry.unit))
      throw new RowError(`loinc or unit of the result differs from line ${first.line}`)
    if (!first) this.#results.set(code, entry)
    results!.push(entry)
  }

  addQuestion({ cells }: TableRow): void {
    const { question: code, question_text: text } = cells
    const questions = this.#requireTest(cells.test).questions!
    if (!code || !text) throw new RowError(`${code ? 'question_text' : 'question'} is empty`)
    if (questions.some((question) => question.code === code)) throw new RowError('the test already has the question')
    if (questions.length >= QUESTIONS_MAX) throw new RowError(`the test has more than ${QUESTIONS_MAX} questions`)
    const answers = readAnswers(cells.answers)
    const word = cells.question_type || (answers.length ? 'choice' : 'text')
    const type = questionTypes.find((name) => name === word)
    if (!type) throw new RowError(`question_type must be one of ${questionTypes.join(', ')}`)
    const isChoice = type === 'choice' || type === 'multi_choice'
    if (isChoice !== answers.length > 0)
      throw new RowError(`a question of type ${type} must ${isChoice ? '' : 'not '}have answers`)
    questions.push({ code, text, type, answers, is_required: readFlag('question_required', cells.question_required) ?? true })
  }

  #requireTest(code: string): ListedTest {
    const test = this.#tests.get(code)
    if (!test) throw new RowError('the test is not in the list')
    return test
  }

  finish(): ListedTest[] {
    if (this.#rejected.count)
      throw new InvalidFileError(`Nothing was imported. Rows of the list: ${this.#rejected.text().trimEnd()}`)
    if (this.#tests.size === 0) throw new InvalidFileError('The file of tests has no rows.')
    return [...this.#tests.values()].map(({ code, name, specimen, results, questions }) => ({
      code,
      name,
      specimen,
      results,
      questions,
    }))
  }
}

const [YES, NO] = [/^(?:y|yes|true|1)$/i, /^(?:n|no|false|0)$/i]

function readFlag(column: Column, word: string): boolean | null {
  if (word === '') return null
  if (!YES.test(word) && !NO.test(word)) throw new RowError(`${column} must be yes or no`)
  return YES.test(word)
}

/** `Y=Yes|N=No` */
function readAnswers(text: string): ListedQuestion['answers'] {
  const answers = text === '' ? [] : text.split('|').map(readAnswer)
  if (answers.length > ANSWERS_MAX) throw new RowError(`answers has more than ${ANSWERS_MAX} answers`)
  if (new Set(answers.map(({ code }) => code)).size < answers.length) throw new RowError('answers has a code twice')
  return answers
}

function readAnswer(text: string): ListedQuestion['answers'][number] {
  const [code = '', ...rest] = text.split('=').map((part) => part.trim())
  const meaning = rest.join('=')
  if (!code || !meaning || code.length > 50 || meaning.length > 500) throw new RowError('answers must be such as Y=Yes|N=No')
  return { code, text: meaning }
}
