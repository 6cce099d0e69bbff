// Chooses among terms with a name: by unit, specimen, form of the value, method and panel. Pure.
import { convert, kindsOfProperty, readUnit, type Unit, unitlessProperties } from '../../lab-values/ucum-units.ts'
import { isResultWord } from '../../lab-values/values.ts'
import { bracketsIn, findByName, findSimilar, isTermName, isSaidByTerm, type NameHit, type NameIndex } from './name-index.ts'
import { methodsIn, type NameParts, readName, saysNothing, specimenOfLetter, timingIn } from './name-text.ts'
import { isWithin, readNumber } from './numbers.ts'
import {
  assumedFamily,
  familyFit,
  familyOf,
  isDecisive,
  methodFit,
  saidSpecimen,
  specimenFit,
  specimenOfPanel,
  USUAL_FAMILIES,
} from './term-fit.ts'
import type { Term } from './terms.ts'

/** A row of a report after its layout is understood; texts as reported. */
export interface ReportRow {
  test_name: string
  value: string
  units?: string | null
  source_panel_name?: string | null
  /** As in results: urine, serum_plasma_blood, capillary_blood, stool, saliva, other, unknown. */
  sample_type?: string | null
  /** What the report says about the specimen of the row or of the page. */
  specimen?: string | null
  /** What the report says about the method. */
  method?: string | null
  /** It says whether an antibiotic acts on an organism, and not how much of it was measured. */
  is_susceptibility?: boolean
  /** Which collection the row belongs to, where a report has several; any text. */
  date?: string | null
}

export interface Candidate {
  term: Term
  /** 0 to 1. */
  score: number
  /** The name and the unit agree exactly. */
  isExact: boolean
}

/** The score without a limit, which orders the candidates that reach the limit. */
interface Scored extends Candidate {
  order: number
}

/** What a value is: a number (also with a comparator), a titer, or words. */
type ValueForm = 'number' | 'titer' | 'word' | 'none'

function formOf(value: string): ValueForm {
  const text = value.trim().replace(/^(?:<=?|>=?|≤|≥|~|less than|greater than|more than)\s*/i, '')
  if (text === '' || /^[-–*.]+$/.test(text)) return 'none'
  if (/^1\s*:\s*\d+/.test(text)) return 'titer'
  if (/^[+-]?(?:\d{1,3}(?:[ ,]\d{3})+|\d+)?(?:[.,]\d+)?(?:e[+-]?\d+)?\s*(?:%|[HL*]{1,2})?$/i.test(text) && /\d/.test(text))
    return 'number'
  if (/^\d+(?:[.,]\d+)?\s*(?:-|–|to)\s*\d+(?:[.,]\d+)?$/.test(text)) return 'number'
  return 'word'
}

/** No name settles everything. */
const EXACT_MAX = 0.98
const INEXACT_MAX = 0.89
const SHOWN_FROM = 0.2

const PANEL_TAGS: [RegExp, string][] = [
  [/urin|\bua\b|dipstick/i, 'urinalysis'],
  [/blood gas|\babg\b|\bvbg\b/i, 'bloodgas'],
  [/allerg(?!(?:y|ies|ology) ?(?:\/|&|and) ?immunology)|ige\b|respiratory panel|food panel|inhalant/i, 'allergy'],
  [/drug|toxicology|substance/i, 'drugscreen'],
  [/\bcbc\b|blood count|h(?:a)?emogram|differential/i, 'cbc'],
  [/semen|sperm/i, 'semen'],
  [/electrophoresis|spep/i, 'electrophoresis'],
  [/h(?:a)?emoglobinopathy|hemoglobin fractionation/i, 'hemoglobinopathy'],
  [/respiratory|influenza|covid/i, 'respiratory'],
]

/** `(m6)`, `(f256)`: the number of an allergen, whose antibodies are IgE if their unit is one of theirs. */
const ALLERGEN_CODE = /^[a-z]{1,2}\d{1,3}$/iu

const unitAgrees = (term: Term, units: readonly Unit[]): boolean =>
  units.some(({ kind, canonical }) => term.units.includes(canonical) || (kindsOfProperty[term.property]?.includes(kind) ?? false))

/** Of another quantity, so that no name makes a candidate of the term. */
const UNFIT_UNIT = 0.49

/** `0-5`, as cells of a sediment are counted. */
const INTERVAL = /^\s*\d+\s*(?:-|–|to)\s*\d+\s*$/iu

function unitFit(term: Term, units: readonly Unit[], text: string, { value }: ReportRow): { fit: number; isExact: boolean } {
  const form = formOf(value)
  const isNumber = term.scale === 'Qn'
  if (units.length > 0) {
    // `Non-Reactive` and the unit of the index that it follows from; `Negative` and the unit of the cutoff of a drug or of a test strip.
    const isUnitOfWord =
      term.panels.includes('drugscreen') || term.method === 'Test strip' || units.every(({ kind }) => kind === 'index')
    if (!isNumber) return { fit: form === 'word' ? 0.93 : 0.3, isExact: form === 'word' && isUnitOfWord }
    if (!unitAgrees(term, units)) return { fit: UNFIT_UNIT, isExact: false }
    // Two units of D-dimer differ by a factor of two.
    const unitOfDimer = /\b(?:FEU|DDU)\b/iu.exec(text)?.[0].toUpperCase()
    if (unitOfDimer && /\b(?:FEU|DDU)\b/u.test(term.component) && !term.component.includes(unitOfDimer))
      return { fit: 0.7, isExact: false }
    // For ratios the exact unit decides: `mg/mmol` and `mg/g` are separate terms.
    if (units[0]!.kind === 'creatinine_ratio' && !term.units.some((unit) => units.some(({ canonical }) => canonical === unit)))
      return { fit: 0.9, isExact: false }
    // Sediments are reported as words with the unit of their count.
    return { fit: form !== 'word' ? 1 : units[0]!.kind === 'count_area' ? 0.96 : 0.85, isExact: true }
  }
  if (text !== '' && isNumber) return { fit: 0.8, isExact: false }
  if (!isNumber) return { fit: form === 'number' ? 0.6 : form === 'titer' ? 0.8 : 1, isExact: form === 'word' }
  if (form === 'titer') return term.property === 'Titr' ? { fit: 1, isExact: true } : { fit: 0.5, isExact: false }
  // Whether something was detected is another term than how much of it; a word that is no result says nothing of that.
  if (form === 'word') return { fit: isResultWord(value) ? UNFIT_UNIT : 0.6, isExact: false }
  if (term.property === 'Naric' && INTERVAL.test(value)) return { fit: 1, isExact: true }
  // A hematocrit of 0.36.
  if (term.property === 'VFr' && /^0?[.,]\d+$/u.test(value)) return { fit: 1, isExact: true }
  if (term.property === 'Titr') return { fit: 0.8, isExact: false }
  if (/\bindex$/u.test(term.component) && term.units.includes('{index}')) return { fit: 1, isExact: true }
  if (unitlessProperties.has(term.property))
    return { fit: term.property === 'ACnc' ? 0.88 : 1, isExact: term.property !== 'ACnc' }
  return { fit: 0.86, isExact: false }
}

/** Factor for a term that has no usual unit in which the value of a row without unit is possible. */
const IMPOSSIBLE = 0.75

/** Whether a number is within the limits of a term in one of its usual units. */
function isPossibleWithoutUnit(term: Term, value: string): boolean {
  const read = readNumber(value)
  const limits = term.low !== null && term.high !== null ? readUnit(term.rangeUnit)[0] : undefined
  if (!read || !limits) return true
  const values = [term.rangeUnit, ...term.units].flatMap((unit) =>
    readUnit(unit).map((item) => convert(read.value, item, limits)),
  )
  const known = values.filter((item) => item !== undefined)
  return known.length === 0 || known.some((item) => isWithin(item, read.comparator, term.low!, term.high!))
}

/**
 * Returns the terms that a row may mean, best first, with scores: 5 at most. `suggestedSpecimen` is the specimen that the rows around it suggest.
 */
export function findCandidates(index: NameIndex, row: ReportRow, suggestedSpecimen?: string): Candidate[] {
  const name = readName(row.test_name)
  const hits = findByName(index, name)
  const found = scoreHits(index, row, name, hits, suggestedSpecimen)
  // A name that fits nothing else of the row may be part of a longer one.
  if ((found[0]?.score ?? 0) >= UNFIT || hits.every(({ isExact }) => !isExact)) return found
  const similar = scoreHits(index, row, name, findSimilar(index, name), suggestedSpecimen)
  return (similar[0]?.score ?? 0) > (found[0]?.score ?? 0) ? similar : found
}

const UNFIT = 0.6

function scoreHits(
  index: NameIndex,
  row: ReportRow,
  name: NameParts,
  hits: readonly NameHit[],
  suggestedSpecimen: string | undefined,
): Candidate[] {
  if (hits.length === 0) return []
  const units = readUnit(row.units)
  const unitText = (row.units ?? '').trim()
  const form = formOf(row.value)
  const specimen = specimenOfUnit(row, name, units) ?? saidSpecimen(row, name, () => hits) ?? suggestedSpecimen
  const family =
    specimen === undefined
      ? assumedFamily(
          hits.map(({ term }) => term),
          (term) => units.length === 0 || unitAgrees(term, units),
        )
      : undefined
  const methods = { methodsOfName: [...name.methods, ...methodsIn(unitText)], printedMethods: methodsIn(row.method ?? '') }
  const timing = name.timing ?? timingIn(row.specimen ?? '')
  const tag = PANEL_TAGS.find(([pattern]) => pattern.test(row.source_panel_name ?? ''))?.[1]
  const hasOwn = hits.some(({ isOwnName, isExact }) => isOwnName && isExact)
  const hidden = bracketsIn(row.test_name).filter((text) => !/\d\s*-\s*\d/.test(text))
  // `Color` alone may be that of urine or stool, in whatever unit each is usual.
  const families = new Set(hits.filter((hit) => hit.isExact).map(({ term }) => familyOf(term.system)))
  families.delete('other')
  const isOpen = family !== undefined && family !== 'blood' && families.size > 1
  const isStrange = isOfStrangePanel(row, name, hits, units, unitText)
  const scored = hits.map((hit) => {
    const { term } = hit
    const unit = unitFit(term, units, unitText, row)
    let score = hit.quality * unit.fit * methodFit(term, methods, hits)
    if (unitText === '' && form === 'number' && !unitlessProperties.has(term.property) && !isPossibleWithoutUnit(term, row.value))
      score *= IMPOSSIBLE
    score *= family === undefined ? specimenFit(term, specimen) : familyFit(term, family)
    if (hasOwn && !hit.isOwnName) score *= 0.93
    if (term.timing !== 'Pt' && timing !== term.timing && !units[0]?.kind.endsWith('_time')) score *= 0.8
    if (timing !== undefined && term.timing === 'Pt') score *= 0.85
    if (name.scale === 'word' && term.scale === 'Qn') score *= 0.85
    if (name.scale === 'number' && term.scale !== 'Qn') score *= 0.85
    if (tag === 'allergy' && !term.panels.includes('allergy')) score *= 0.8
    if (tag !== 'allergy' && term.component.endsWith(' Ab.IgE') && !/\bige\b/i.test(row.test_name)) score *= 0.85
    // Words in brackets that neither name the component nor say specimen or method may change the meaning.
    const isExplained =
      hit.quality !== 0.99 ||
      hidden.every(
        (text) =>
          isTermName(index, term, text) ||
          isTermName(index, term, `${name.outsideBrackets} ${text}`) ||
          isSaidByTerm(index, term, text) ||
          saysNothing(text) ||
          isInitials(text, name.outsideBrackets) ||
          (term.panels.includes('allergy') && ALLERGEN_CODE.test(text)) ||
          readName(text).specimen !== undefined ||
          specimenOfLetter(text) !== undefined ||
          methodsIn(text).length > 0 ||
          (text.length > 1 && readUnit(text).length > 0),
      )
    const isOther = [...name.methods, ...methods.printedMethods].some((method) => isDecisive(term, method))
    const isUnusual = family !== undefined && !USUAL_FAMILIES.has(familyOf(term.system))
    // LOINC writes XXX for any specimen: such a term is right whatever the specimen was. Tests of the airways hardly use another one.
    const isOfAny = term.system === 'XXX' || term.system === 'Respiratory'
    const isExact = hit.isExact && unit.isExact && isExplained && !isOther && (!isOpen || isOfAny) && !isUnusual && !isStrange
    const max = isExact ? EXACT_MAX : INEXACT_MAX
    return { term, score: Math.min(score, max), order: isExact ? Math.min(score, max) : score, isExact }
  })
  return spread(scored.filter(({ score }) => score >= SHOWN_FROM)).slice(0, 5)
}

/** `Malarial Parasite (M.P.)` */
const isInitials = (text: string, words: string): boolean =>
  words.includes(' ') &&
  text.replaceAll(/[^\p{L}]/gu, '').toLowerCase() ===
    words
      .split(/[\s-]+/u)
      .map((word) => word.slice(0, 1))
      .join('')
      .toLowerCase()

/** `ng/mg`: a quantity per creatinine is one of urine, whatever the heading of its table says. */
const specimenOfUnit = (row: ReportRow, name: NameParts, units: readonly Unit[]): string | undefined =>
  units.some(({ kind }) => kind === 'creatinine_ratio') &&
  !/[/:]|\bratio\b/iu.test(row.test_name) &&
  [undefined, 'blood', 'bloods'].includes(saidSpecimen(row, name, () => []))
    ? 'urine'
    : undefined

/**
 * Whether nothing but the panel says that a row is of blood, and what it names is far more often measured in something else: it may stand
 * under the heading of another table.
 */
function isOfStrangePanel(
  row: ReportRow,
  name: NameParts,
  hits: readonly NameHit[],
  units: readonly Unit[],
  text: string,
): boolean {
  if (specimenOfPanel(row, name) !== 'bloods') return false
  const exact = hits.filter((hit) => hit.isExact && unitFit(hit.term, units, text, row).isExact).map(({ term }) => term)
  return exact.length > 0 && assumedFamily(exact) !== 'blood'
}

/**
 * Orders candidates. Of terms that differ in method, or in a specimen or property that the row does not settle, the most frequent one is
 * meant; different components with the same name stay equal, so that a person decides.
 */
function spread(candidates: Scored[]): Candidate[] {
  const sorted = candidates.sort((a, b) => b.score - a.score || b.order - a.order || a.term.rank - b.term.rank)
  const chosen = new Map<string, number>()
  for (const candidate of sorted) {
    const { term } = candidate
    const component = componentOf(term)
    const above = chosen.get(component)
    if (above !== undefined && candidate.score > above - 0.08) candidate.score = Math.max(0, above - 0.08)
    chosen.set(component, candidate.score)
  }
  return sorted.sort((a, b) => b.score - a.score || a.term.rank - b.term.rank)
}

/** Components that reports do not tell apart are one. */
const componentOf = ({ component }: Term): string =>
  component
    .replace(/^Glomerular filtration rate.*/, 'Glomerular filtration rate')
    .replace(/^Anion gap.*/, 'Anion gap')
    .replace(/^Blood$/, 'Hemoglobin')
    .replace(/ ?(?:DNA|rRNA|RNA)$/, '')
    .replace(/\.tumor marker$|\.beta subunit| \(pregnancy test\)| (?:FEU|DDU)$|-100$|\.lower$/, '')
    .replace(/^Choriogonadotropin.*/, 'Choriogonadotropin')
    .replace(/^Cyclic citrullinated peptide Ab.*/, 'Cyclic citrullinated peptide Ab')
    .replace(/^Centromere.*/, 'Centromere')
    .replace(/^HIV 1 & 2 Ab$/, 'HIV 1+2 Ab')
    .replace(/^Borrelia burgdorferi Ab\.IgG\+IgM$/, 'Borrelia burgdorferi Ab')
    .replace(/^(?:Thyrotropin receptor|Thyroid stimulating immunoglobulins).*/, 'Thyroid stimulating immunoglobulins')
    .replace(/^Testosterone Free$/, 'Testosterone.free')
    .replace(/^IgE\.total$/, 'IgE')
    .replace(/\^AM peak.*|\^PM trough.*/, '')
    .replace(/^HIV 1\+2 Ab.*/, 'HIV 1+2 Ab')
    .replace(/^Neutrophils\.segmented/, 'Neutrophils')
    .replace(/\/(?:100 leukocytes|Leukocytes)$/, ' fraction')
