// The stage after the layout of a report is understood: what each row means in LOINC. Pure.
import { readUnit, type Unit } from '../../lab-values/ucum-units.ts'
import { type Candidate, findCandidates, type ReportRow } from './match-terms.ts'
import { buildNameIndex, isExactName, type NameIndex } from './name-index.ts'
import { readName } from './name-text.ts'
import { checkPlausibility, type Finding } from './plausibility.ts'
import { isSusceptibilityTerm, susceptibilityCandidates } from './susceptibility-terms.ts'
import { familyOf, findSpecimen } from './term-fit.ts'
import { namesWithoutTerm, once, shippedTerms, type Term } from './terms.ts'

export type { ReportRow } from './match-terms.ts'
export type { Finding } from './plausibility.ts'

/** A candidate, in the form of the API. */
export interface LoincMatch {
  loinc_code: string
  loinc_name: string
  display_name: string
  aliases: string[]
  confidence_score: number
}
export type LoincMatchStatus = 'auto_match' | 'needs_review' | 'no_match'

export interface RowMeaning {
  loinc_match_status: LoincMatchStatus
  /** Best first, 5 at most. */
  loinc_matches: LoincMatch[]
  /** The unit in UCUM's spelling; null for a text that is not recognized. */
  unit: Unit | null
  findings: Finding[]
}

export interface ReportContext {
  /** What the report says about the specimen of all rows. */
  specimen?: string | null
  /** Terms of the full release by the names that the shipped terms do not have; from `findReleaseTerms`. */
  release?: ReadonlyMap<string, readonly Term[]>
}

const AUTO_FROM = 0.9
const AUTO_ABOVE_SECOND = 0.05
const REVIEW_FROM = 0.5
/** A term that fits less, and by some words of the name alone, says nothing about what the result can be. */
const PLAUSIBLE_FROM = 0.6
/** Candidates of the release are names without aliases and usual units, so that a person decides. */
const RELEASE_MAX = 0.8
/** Maximum aliases of a candidate: a row has five candidates, and a report hundreds of rows. */
const ALIASES_MAX = 5
const ROWS_MAX = 5_000
/** Score of the best shipped candidate from which on the release is not searched. */
export const KNOWN_FROM = 0.7

/** The index of the shipped terms; the first call builds it. */
export const shippedIndex: () => NameIndex = once(() =>
  buildNameIndex(
    shippedTerms().filter((term) => !isSusceptibilityTerm(term)),
    namesWithoutTerm(),
  ),
)

/**
 * Says for each row of a report which LOINC terms it may mean, how certain that is, and what is implausible about it. Changes no row and
 * reads no value as a diagnosis. `auto_match`: score of 0.9 and more, 0.05 above the second, name and unit agree exactly, and nothing
 * implausible; `needs_review`: 0.5 and more. Limits: 5,000 rows (Error for more), 300 characters of a name, 5 candidates. Source:
 * lab-testing.md 25.3.
 */
export function matchLoinc(rows: readonly ReportRow[], context: ReportContext = {}): RowMeaning[] {
  if (rows.length > ROWS_MAX) throw new Error(`A report has at most ${ROWS_MAX} rows.`)
  const names = shippedIndex()
  const asked = rows.map((row) => ({ ...row, specimen: row.specimen ?? context.specimen ?? null }))
  const first = asked.map((row) =>
    row.is_susceptibility ? susceptibilityCandidates(shippedTerms(), row.test_name) : findCandidates(names, row),
  )
  const urinalysis = findUrinalysis(names, asked)
  const candidates = asked.map((row, i) => {
    if (row.is_susceptibility) return withSusceptibilityOfRelease(row, first[i]!, context.release)
    const ofUrine = urinalysis.get(i)
    if (ofUrine) return withRelease(row, ofUrine, context.release)
    const assumed = findSpecimen(names, row) === undefined ? familyAround(asked, first, i, urinalysis) : undefined
    const found = assumed === undefined ? first[i]! : findCandidates(names, row, assumed)
    return withRelease(row, found, context.release)
  })
  const findings = checkPlausibility(
    asked,
    candidates.map(([best], i) => (best && isLikely(best, asked[i]!, names) ? best.term : undefined)),
  )
  return asked.map((row, i) => decideMeaning(row, candidates[i]!, findings[i]!))
}

const isLikely = ({ score }: Candidate, { test_name }: ReportRow, names: NameIndex): boolean =>
  score >= PLAUSIBLE_FROM || isExactName(names, readName(test_name))

const UNSURE_OF_SPECIMEN = 4

/**
 * The specimen of rows around that can only be of one: a table of urine rows need not say so in each. Only rows of the same panel count, and
 * of rows without panel those within four rows. A urinalysis says nothing of a concentration before or after it.
 */
function familyAround(
  rows: readonly ReportRow[],
  matches: readonly Candidate[][],
  index: number,
  urinalysis: ReadonlyMap<number, Candidate[]>,
): string | undefined {
  const votes = new Map<string, number>()
  const panel = rows[index]!.source_panel_name ?? ''
  for (const [i, row] of rows.entries()) {
    if (i === index || (row.source_panel_name ?? '') !== panel || (panel === '' && Math.abs(i - index) > UNSURE_OF_SPECIMEN))
      continue
    if (urinalysis.has(i) && rows[index]!.units) continue
    const [best, second] = matches[i]!
    if (!best || best.score < 0.75) continue
    const family = familyOf(best.term.system)
    if (family === 'other' || (second && second.score > 0.55 && familyOf(second.term.system) !== family)) continue
    votes.set(family, (votes.get(family) ?? 0) + 1)
  }
  const [first, second] = [...votes].sort((a, b) => b[1] - a[1])
  if (!first || first[0] === 'blood' || first[1] < 2) return undefined
  return first[1] > 2 * (second?.[1] ?? 0) ? first[0] : undefined
}

/** Rows that only urine has, in one table, which make it a urinalysis. */
const URINE_ONLY_MIN = 3
const FITTING_MIN = 0.75

/**
 * The rows of a urinalysis, each with its terms in urine: from the first to the last row that blood does not have, if a urinalysis may have
 * all rows between them. Its heading may be lost, and its rows then stand under the heading of another table. A row that names its specimen,
 * and one of another panel, ends it.
 */
function findUrinalysis(names: NameIndex, rows: readonly ReportRow[]): Map<number, Candidate[]> {
  const found = new Map<number, Candidate[]>()
  let run: { index: number; candidates: Candidate[]; isUrineOnly: boolean }[] = []
  const endRun = () => {
    if (run.filter(({ isUrineOnly }) => isUrineOnly).length >= URINE_ONLY_MIN) {
      const first = run.findIndex(({ isUrineOnly }) => isUrineOnly)
      const last = run.findLastIndex(({ isUrineOnly }) => isUrineOnly)
      for (const { index, candidates } of run.slice(first, last + 1)) found.set(index, candidates)
    }
    run = []
  }
  for (const [index, row] of rows.entries()) {
    if (index > 0 && row.source_panel_name !== rows[index - 1]!.source_panel_name) endRun()
    const candidates = findCandidates(names, { ...row, source_panel_name: 'Urinalysis' })
    const [best] = candidates
    if (best && best.score >= FITTING_MIN && familyOf(best.term.system) === 'urine') {
      const anywhere = findCandidates(names, { ...row, source_panel_name: null })
      const isUrineOnly = anywhere.every(({ term }) => familyOf(term.system) !== 'blood')
      run.push({ index, candidates, isUrineOnly })
    } else endRun()
  }
  endRun()
  return found
}

function withRelease(row: ReportRow, candidates: Candidate[], release: ReportContext['release']): Candidate[] {
  if (!release || (candidates[0]?.score ?? 0) >= KNOWN_FROM) return candidates
  const known = new Set(candidates.map(({ term }) => term.code))
  const terms = (release.get(row.test_name) ?? []).filter(({ code }) => !known.has(code))
  if (terms.length === 0) return candidates
  const more = findCandidates(buildNameIndex(terms), row).map((candidate) => ({
    ...candidate,
    score: Math.min(candidate.score * 0.92, RELEASE_MAX),
    isExact: false,
  }))
  return [...candidates, ...more].sort((a, b) => b.score - a.score || a.term.rank - b.term.rank).slice(0, 5)
}

function withSusceptibilityOfRelease(row: ReportRow, candidates: Candidate[], release: ReportContext['release']): Candidate[] {
  if (candidates.length || !release) return candidates
  const more = susceptibilityCandidates(release.get(row.test_name) ?? [], row.test_name)
  return more.map((candidate) => ({ ...candidate, score: RELEASE_MAX, isExact: false }))
}

function decideMeaning(row: ReportRow, candidates: readonly Candidate[], findings: Finding[]): RowMeaning {
  const plausibility = findings.reduce((factor, finding) => factor * finding.factor, 1)
  const scores = candidates.map(({ score }) => round(score * plausibility))
  const [best = 0, second = 0] = scores
  const isAuto =
    best >= AUTO_FROM &&
    best - second >= AUTO_ABOVE_SECOND - 1e-9 &&
    candidates[0]!.isExact &&
    findings.every((item) => !item.asksForReview)
  return {
    loinc_match_status: isAuto ? 'auto_match' : best >= REVIEW_FROM ? 'needs_review' : 'no_match',
    loinc_matches: candidates.map(({ term }, i) => toLoincMatch(term, scores[i]!)),
    unit: readUnit(row.units)[0] ?? null,
    findings,
  }
}

const round = (score: number): number => Math.round(Math.min(1, score) * 1000) / 1000

/** A term as a candidate. */
export const toLoincMatch = (term: Term, confidence_score: number): LoincMatch => ({
  loinc_code: term.code,
  loinc_name: term.longName,
  display_name: term.displayName,
  aliases: [...new Set([...term.aliases, ...term.sharedAliases])].slice(0, ALIASES_MAX),
  confidence_score,
})
