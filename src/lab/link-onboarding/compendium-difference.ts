// Compares a laboratory's list of tests with the catalog and with the result codes of a link's profile. Pure.
import { keyOf } from '../catalog-exchange/file-checks.ts'
import { MarkerEntry, type AnalyteEntry, type CatalogFile, type QuestionEntry } from '../catalog-exchange/file-schema.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import { InvalidFileError } from '../../platform/files/rejected-rows.ts'
import { withNulls } from '../../platform/schema/schema.ts'
import { Analytes, isSameUnit, toCatalogSlug, type KnownResult, type Unplaced } from './compendium-analytes.ts'
import type { ListedQuestion, ListedResult, ListedTest } from './compendium-file.ts'

type Codes = LinkProfile['codes']
type ResultCode = Codes['results'][number]

export interface FieldChange {
  field: string
  /** Null: absent. */
  old_value: string | null
  new_value: string | null
}

/** A test, or a result code of the profile. */
export interface Change {
  kind: 'new' | 'changed' | 'gone'
  /** Of the catalog for a test, of the laboratory for a result. */
  code: string
  name: string
  /** Empty for what is gone. */
  fields: FieldChange[]
}

export interface CompendiumDifference {
  tests: Change[]
  /** Analytes that the catalog does not have yet. */
  analytes: { slug: string; name: string; loinc: string | null; unit: string | null }[]
  /** Of `codes.results` of the profile. */
  result_codes: Change[]
  unchanged_count: number
  /** Result codes of the list, each once; `mapped_count` of them have an analyte with a LOINC code and a unit. */
  result_count: number
  mapped_count: number
  unmapped_codes: { code: string; name: string; reason: Unplaced | 'no unit' }[]
}

/** What must be written for a difference. */
export interface CompendiumRows {
  analytes: AnalyteEntry[]
  /** New and changed ones. */
  markers: MarkerEntry[]
  /** All of the profile. */
  result_codes: ResultCode[]
}

/**
 * Compares a list with the catalog. What the list does not say stays as it is, and so does what is gone.
 * @throws InvalidFileError if `codes.tests` makes two tests one, or a code of the catalog is too long
 */
export function compareCompendium(
  list: ListedTest[],
  lab: string,
  catalog: Pick<CatalogFile, 'analytes' | 'markers'>,
  codes: Codes,
): { difference: CompendiumDifference; rows: CompendiumRows } {
  const markers = new Map(catalog.markers.map((marker) => [keyOf(marker), marker]))
  const context: Context = {
    lab,
    analytes: new Analytes(catalog.analytes),
    units: codes.units,
    profileCodes: new Map(codes.results.map((entry) => [entry.code, entry])),
    outcomes: new Map(),
  }
  const compared = withCatalogCodes(list, codes.tests).map(({ test, provider_id }) =>
    compareTest(test, provider_id, markers.get(keyOf({ lab, provider_id })), context),
  )
  const listed = new Set(compared.map(({ marker }) => marker.provider_id))
  const gone = catalog.markers.filter((marker) => marker.lab === lab && marker.is_orderable && !listed.has(marker.provider_id))
  const differing = compared.filter(({ change }) => change !== undefined)
  const result_codes = compareResultCodes(list, codes, context)
  const outcomes = [...context.outcomes.values()]
  return {
    difference: {
      tests: [...differing.map(({ change }) => change!), ...gone.map(({ provider_id, name }) => describeGone(provider_id, name))],
      analytes: context.analytes.newEntries.map(({ slug, name, loinc, definition: { unit } }) => ({ slug, name, loinc, unit })),
      result_codes: result_codes.changes,
      unchanged_count: compared.length - differing.length,
      result_count: outcomes.length,
      mapped_count: outcomes.filter(({ reason }) => reason === undefined).length,
      unmapped_codes: outcomes.flatMap(({ result: { code, name }, reason }) =>
        reason === undefined ? [] : [{ code, name, reason }],
      ),
    },
    rows: {
      analytes: context.analytes.newEntries,
      markers: differing.map(({ marker }) => marker),
      result_codes: result_codes.entries,
    },
  }
}

interface Outcome {
  result: ListedResult
  /** Undefined: the result is mapped. */
  reason: Unplaced | 'no unit' | undefined
  /** In every test the code of the result is the code of the test, which has this result alone. */
  isCodeOfTest: boolean
}

interface Context {
  lab: string
  analytes: Analytes
  /** Units of the laboratory, and how they are shown. */
  units: Codes['units']
  profileCodes: ReadonlyMap<string, ResultCode>
  /** By the code of the result. */
  outcomes: Map<string, Outcome>
}

const describeGone = (code: string, name: string): Change => ({ kind: 'gone', code, name, fields: [] })

const PROVIDER_ID_MAX = 100

/** The tests with the codes that they have in the catalog. */
function withCatalogCodes(list: ListedTest[], tests: Codes['tests']) {
  const seen = new Map<string, string>()
  return list.map((test) => {
    const provider_id = Object.hasOwn(tests, test.code) ? tests[test.code]! : test.code
    const other = seen.get(provider_id)
    if (other !== undefined)
      throw new InvalidFileError(`codes.tests makes the tests ${other} and ${test.code} the same test ${provider_id}.`)
    if (provider_id.length > PROVIDER_ID_MAX)
      throw new InvalidFileError(`codes.tests has a code for ${test.code} of more than ${PROVIDER_ID_MAX} characters.`)
    seen.set(provider_id, test.code)
    return { test, provider_id }
  })
}

function compareTest(
  test: ListedTest,
  provider_id: string,
  storedMarker: MarkerEntry | undefined,
  context: Context,
): { marker: MarkerEntry; change: Change | undefined } {
  const base = storedMarker ?? newMarker(test, provider_id, context.lab)
  const results = test.results ? placeResults(test.results, test, base, context) : base.results
  const isSame = JSON.stringify(sortResults(results)) === JSON.stringify(sortResults(base.results))
  const marker: MarkerEntry = {
    ...base,
    name: test.name,
    results: isSame ? base.results : results,
    unit: isSame ? base.unit : chooseUnit(base, results, context),
    aoe: test.questions ? mergeQuestions(test.questions, base.aoe?.questions ?? []) : base.aoe,
  }
  const fields = listFieldChanges(storedMarker, marker)
  const change: Change | undefined = fields.length
    ? { kind: storedMarker ? 'changed' : 'new', code: provider_id, name: test.name, fields }
    : undefined
  return { marker, change }
}

/** The laboratory lists what can be ordered. The price is that of the contract. */
const newMarker = (test: ListedTest, provider_id: string, lab: string): MarkerEntry =>
  withNulls(MarkerEntry, {
    lab,
    provider_id,
    name: test.name,
    slug: toCatalogSlug(test.name, toCatalogSlug(provider_id, 'test')),
    type: (test.results?.length ?? 0) > 1 ? 'panel' : 'biomarker',
    price: 'N/A',
    cpt_codes: [],
    a_la_carte_enabled: true,
    is_orderable: true,
    results: [],
  })

type ExpectedEntry = MarkerEntry['results'][number]

const sortResults = (results: ExpectedEntry[]): ExpectedEntry[] =>
  results.map(({ analyte, required }) => ({ analyte, required })).toSorted((a, b) => (a.analyte < b.analyte ? -1 : 1))

/**
 * The expected results of a test, each once. A result without an analyte may be one that the catalog has, so that no result is removed
 * then. Adds outcomes and new analytes to the context.
 */
function placeResults(results: ListedResult[], test: ListedTest, base: MarkerEntry, context: Context): ExpectedEntry[] {
  const requiredBefore = new Map(base.results.map(({ analyte, required }) => [analyte, required]))
  const placed = new Map<string, ExpectedEntry>()
  for (const result of results) {
    const profileCode = context.profileCodes.get(result.code)
    const isCodeOfTest =
      results.length === 1 && base.type === 'biomarker' && (profileCode?.provider_id ?? result.code) === base.provider_id
    const known = {
      ...result,
      loinc: result.loinc ?? profileCode?.loinc ?? null,
      unit: toShownUnit(result.unit ?? profileCode?.unit ?? null, context.units),
    }
    const analyte =
      placeByCode(known, isCodeOfTest, base, context) ??
      context.analytes.place(known, new Set(requiredBefore.keys()), test.specimen)
    noteOutcome(result, analyte, isCodeOfTest, context)
    if (typeof analyte === 'string' || placed.has(analyte.slug)) continue
    const required = result.is_required ?? requiredBefore.get(analyte.slug) ?? true
    placed.set(analyte.slug, { analyte: analyte.slug, required })
  }
  const isWhole = results.every(({ code }) => !isUnplaced(context.outcomes.get(code)!))
  const stay = isWhole ? [] : base.results.filter(({ analyte }) => !placed.has(analyte))
  return [...placed.values(), ...stay]
}

const toShownUnit = (unit: string | null, units: Codes['units']): string | null =>
  unit !== null && Object.hasOwn(units, unit) ? units[unit]! : unit

/** Without a LOINC code the code of a test with one result tells the result, unless the list has another unit. */
function placeByCode(
  { loinc, unit }: KnownResult,
  isCodeOfTest: boolean,
  { results }: MarkerEntry,
  { analytes }: Context,
): AnalyteEntry | undefined {
  if (!isCodeOfTest || loinc !== null || results.length !== 1) return undefined
  const analyte = analytes.bySlug(results[0]!.analyte)
  return unit === null || isSameUnit(analyte.definition.unit, unit) ? analyte : undefined
}

const isUnplaced = ({ reason }: Outcome): boolean => reason !== undefined && reason !== 'no unit'

function noteOutcome(result: ListedResult, analyte: AnalyteEntry | Unplaced, isCodeOfTest: boolean, { outcomes }: Context): void {
  const reason =
    typeof analyte === 'string'
      ? analyte
      : analyte.loinc === null
        ? 'no LOINC code'
        : analyte.definition.unit === null
          ? 'no unit'
          : undefined
  const known = outcomes.get(result.code)
  outcomes.set(result.code, {
    result,
    reason: known?.reason ?? reason,
    isCodeOfTest: isCodeOfTest && (known?.isCodeOfTest ?? true),
  })
}

const chooseUnit = ({ type, unit }: MarkerEntry, results: ExpectedEntry[], { analytes }: Context): string | null =>
  type === 'biomarker' && results.length === 1 ? analytes.bySlug(results[0]!.analyte).definition.unit : unit

/** The questions of a list. A question and an answer keep the id that they have; others get the next ids. */
function mergeQuestions(questionsOfList: ListedQuestion[], storedQuestions: QuestionEntry[]): MarkerEntry['aoe'] {
  let last_id = Math.max(0, ...storedQuestions.flatMap(({ id, answers }) => [id, ...answers.map((answer) => answer.id)]))
  const questions = questionsOfList.map(({ code, text, type, is_required, answers }, i): QuestionEntry => {
    const before = storedQuestions.find((question) => question.code === code)
    const ids = new Map(before?.answers.map((answer) => [answer.code, answer.id]))
    return {
      id: before?.id ?? ++last_id,
      required: is_required,
      code,
      value: text,
      type,
      sequence: i + 1,
      answers: answers.map((answer) => ({ id: ids.get(answer.code) ?? ++last_id, code: answer.code, value: answer.text })),
      constraint: before?.constraint ?? null,
      default: before?.default ?? null,
    }
  })
  return questions.length ? { questions } : null
}

function listFieldChanges(storedMarker: MarkerEntry | undefined, marker: MarkerEntry): FieldChange[] {
  const [old, young] = [storedMarker ? describe(storedMarker) : new Map<string, string>(), describe(marker)]
  return [...new Set([...old.keys(), ...young.keys()])].flatMap((field) => {
    const change = { field, old_value: old.get(field) ?? null, new_value: young.get(field) ?? null }
    return change.old_value === change.new_value ? [] : [change]
  })
}

/** What a list can change of a test, by field. */
const describe = ({ name, unit, results, aoe }: MarkerEntry): Map<string, string> =>
  new Map([
    ['name', name],
    ...(unit === null ? [] : [['unit', unit] as const]),
    ...results.map(({ analyte, required }) => [`result ${analyte}`, required ? 'required' : 'optional'] as const),
    ...(aoe?.questions ?? []).map(
      ({ code, value, type, required, sequence, answers }) =>
        [
          `question ${code}`,
          `${sequence}. ${value} (${[type, required ? 'required' : 'optional', ...answers.map((answer) => `${answer.code}=${answer.value}`)].join(', ')})`,
        ] as const,
    ),
  ])

/** The result codes of the profile: those that the list changes, and those that the codes of tests do not tell already. */
function compareResultCodes(list: ListedTest[], codes: Codes, { profileCodes, outcomes }: Context) {
  const changes: Change[] = []
  const entries = new Map(profileCodes)
  for (const { result, isCodeOfTest } of outcomes.values()) {
    const { code, name } = result
    const previous = profileCodes.get(code)
    if (!previous && (isCodeOfTest || (result.loinc === null && result.unit === null))) continue
    const next: ResultCode = {
      ...(previous ?? { code }),
      ...(result.loinc !== null && { loinc: result.loinc }),
      ...(result.unit !== null && { unit: result.unit }),
    }
    const fields = (['loinc', 'unit'] as const).flatMap((field): FieldChange[] => {
      const change = { field, old_value: previous?.[field] ?? null, new_value: next[field] ?? null }
      return change.old_value === change.new_value ? [] : [change]
    })
    if (!fields.length) continue
    changes.push({ kind: previous ? 'changed' : 'new', code, name, fields })
    entries.set(code, next)
  }
  const gone = list.some(({ results }) => results !== null) ? codes.results.filter(({ code }) => !outcomes.has(code)) : []
  return { changes: [...changes, ...gone.map(({ code }) => describeGone(code, ''))], entries: [...entries.values()] }
}
