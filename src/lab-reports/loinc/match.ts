// Chooses among terms with a name: by unit, specimen, form of the value, method and panel. Pure.
import { isWithin, readNumber } from './numbers.ts'
import { convert, readUnit, kindsOfProperty, unitlessProperties, type Unit } from '../../lab-values/ucum-units.ts'
import { bracketsIn, findByName, findSimilar, isNameOf, type NameHit, type NameIndex } from './name-index.ts'
import { isDecisive, methodFit } from './method-fit.ts'
import { methodsIn, readName, specimenIn, timingIn, type NameParts } from './name-text.ts'
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

/** What a value is: a number (also with a comparator), a titer, or words. */
export type ValueForm = 'number' | 'titer' | 'word' | 'none'

export function formOf(value: string): ValueForm {
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

const FAMILY: Record<string, string> = {
  'Ser/Plas': 'blood',
  Ser: 'blood',
  Plas: 'blood',
  'Ser/Plas/Bld': 'blood',
  Bld: 'blood',
  PPP: 'blood',
  PRP: 'blood',
  RBC: 'blood',
  WBC: 'blood',
  Retic: 'blood',
  'Bld/Tiss': 'blood',
  'Bld/Bone mar': 'blood',
  'Plas.venous': 'blood',
  'Ser/Plas+CSF': 'blood',
  'Urine+Ser/Plas': 'blood',
  BldA: 'arterial',
  BldV: 'venous',
  BldC: 'capillary',
  BldCo: 'cord',
  BldCoA: 'cord',
  BldCoV: 'cord',
  Urine: 'urine',
  'Urine sed': 'urine',
  CSF: 'csf',
  'Ser+CSF': 'csf',
  Stool: 'stool',
  Saliva: 'saliva',
  Semen: 'semen',
  'Plr fld': 'pleural',
  'Synv fld': 'synovial',
  'Periton fld': 'peritoneal',
  'Bone mar': 'marrow',
  'Body fld': 'fluid',
  Sputum: 'sputum',
  Throat: 'throat',
  Vag: 'vaginal',
  Cvx: 'cervix',
}
/** The family of specimens that a LOINC system belongs to. */
export const familyOf = (system: string): string => FAMILY[system] ?? 'other'

const SAMPLE_TYPES: Record<string, string> = {
  urine: 'urine',
  serum_plasma_blood: 'bloods',
  capillary_blood: 'capillary',
  stool: 'stool',
  saliva: 'saliva',
}
/** Panels that imply a specimen. */
const PANEL_FAMILIES: [RegExp, string][] = [
  [/urin|\bua\b|dipstick|microscopic exam/i, 'urine'],
  [/\bcsf\b|cerebrospinal|spinal fluid/i, 'csf'],
  [/stool|fecal|faecal/i, 'stool'],
  [/semen|sperm|seminal/i, 'semen'],
  [/saliva/i, 'saliva'],
  [/arterial|\babg\b/i, 'arterial'],
  [/venous blood gas|\bvbg\b/i, 'venous'],
  [/pleural/i, 'pleural'],
  [/synovial|joint fluid/i, 'synovial'],
  [/peritoneal|ascit/i, 'peritoneal'],
  [
    /metabolic|\bcbc\b|\bcmp\b|\bbmp\b|blood count|lipid|hepatic|liver|renal function|thyroid|h(?:a)?emogram|differential|serum|plasma|coagulation|iron|electrolytes/i,
    'bloods',
  ],
]
const PANEL_TAGS: [RegExp, string][] = [
  [/urin|\bua\b|dipstick/i, 'urinalysis'],
  [/blood gas|\babg\b|\bvbg\b/i, 'bloodgas'],
  [/allerg|ige\b|respiratory panel|food panel|inhalant/i, 'allergy'],
  [/drug|toxicology|substance/i, 'drugscreen'],
  [/\bcbc\b|blood count|h(?:a)?emogram|differential/i, 'cbc'],
  [/semen|sperm/i, 'semen'],
  [/electrophoresis|spep/i, 'electrophoresis'],
  [/h(?:a)?emoglobinopathy|hemoglobin fractionation/i, 'hemoglobinopathy'],
  [/respiratory|influenza|covid/i, 'respiratory'],
]

/** What is known about the specimen of a row, from the most to the least direct statement. */
export function specimenOf(row: ReportRow, name: NameParts): string | undefined {
  const fromName = name.specimen === 'blood' || name.specimen === 'rbc' ? undefined : name.specimen
  const panel = row.source_panel_name ?? ''
  return (
    fromName ??
    (row.specimen ? specimenIn(row.specimen) : undefined) ??
    SAMPLE_TYPES[row.sample_type ?? ''] ??
    PANEL_FAMILIES.find(([pattern]) => pattern.test(panel))?.[1] ??
    name.specimen
  )
}

function specimenFit(term: Term, specimen: string | undefined): number {
  const family = familyOf(term.system)
  if (specimen === undefined) return 1
  if (specimen === 'bloods' || specimen === 'blood')
    return family === 'blood' ? 1 : ['arterial', 'venous', 'capillary'].includes(family) ? 0.85 : family === 'other' ? 0.7 : 0.4
  if (specimen === 'serum')
    return family === 'blood' ? (term.system === 'Bld' || term.system === 'RBC' ? 0.9 : 1) : family === 'other' ? 0.6 : 0.4
  if (specimen === 'wholeblood') return family === 'blood' ? (term.system === 'Bld' || term.system === 'RBC' ? 1 : 0.9) : 0.4
  if (specimen === 'rbc') return term.system === 'RBC' ? 1 : family === 'blood' ? 0.85 : 0.5
  if (specimen === family) return 1
  if (family === 'blood' && ['arterial', 'venous', 'capillary', 'cord'].includes(specimen)) return 0.9
  // "Specimen" of any kind.
  return family === 'other' ? 0.88 : 0.35
}

/** Specimens that a row may have without a word about them: others are never chosen by a name and a unit alone. */
const USUAL_FAMILIES = new Set(['blood', 'urine', 'stool', 'semen', 'other'])

/** Terms of other specimens must be this much more frequent than those in blood to be meant without saying so. */
const MORE_FREQUENT = 300

/** Without a word about the specimen: blood if a term in blood fits the unit, else the specimen of the most frequent term. */
function assumedFamily(hits: readonly NameHit[], units: readonly Unit[]): string {
  const fitting = hits.filter(({ term }) => units.length === 0 || unitAgrees(term, units))
  const terms = (fitting.length > 0 ? fitting : hits).map(({ term }) => term).sort((a, b) => a.rank - b.rank)
  const inBlood = terms.find(({ system }) => familyOf(system) === 'blood')
  return inBlood && inBlood.rank < terms[0]!.rank + MORE_FREQUENT ? 'blood' : familyOf(terms[0]!.system)
}

function familyFit(term: Term, family: string): number {
  const own = familyOf(term.system)
  if (own !== family) return own === 'other' ? 0.85 : 0.7
  // Of specimens without a family of their own, any specimen is meant rather than one.
  return own === 'other' && !['XXX', 'Respiratory'].includes(term.system) ? 0.9 : 1
}

export const unitAgrees = (term: Term, units: readonly Unit[]): boolean =>
  units.some(({ kind, canonical }) => term.units.includes(canonical) || (kindsOfProperty[term.property]?.includes(kind) ?? false))

function unitFit(term: Term, units: readonly Unit[], text: string, form: ValueForm): { fit: number; isExact: boolean } {
  const isNumber = term.scale === 'Qn'
  if (units.length > 0) {
    if (!isNumber) return { fit: form === 'word' ? 0.93 : 0.3, isExact: false }
    if (!unitAgrees(term, units)) return { fit: 0.55, isExact: false }
    // Two units of D-dimer differ by a factor of two.
    const unitOfDimer = /\b(?:FEU|DDU)\b/iu.exec(text)?.[0].toUpperCase()
    if (unitOfDimer && /\b(?:FEU|DDU)\b/u.test(term.component) && !term.component.includes(unitOfDimer))
      return { fit: 0.7, isExact: false }
    // Of ratios the very unit decides: `mg/mmol` and `mg/g` are terms of their own.
    if (units[0]!.kind === 'creatinine_ratio' && !term.units.some((unit) => units.some(({ canonical }) => canonical === unit)))
      return { fit: 0.9, isExact: false }
    // Sediments are reported as words with the unit of their count.
    return { fit: form !== 'word' ? 1 : units[0]!.kind === 'count_area' ? 0.96 : 0.85, isExact: true }
  }
  if (text !== '' && isNumber) return { fit: 0.8, isExact: false }
  if (!isNumber) return { fit: form === 'number' ? 0.6 : form === 'titer' ? 0.8 : 1, isExact: form === 'word' }
  if (form === 'titer') return term.property === 'Titr' ? { fit: 1, isExact: true } : { fit: 0.5, isExact: false }
  if (form === 'word') return { fit: 0.6, isExact: false }
  if (term.property === 'Titr') return { fit: 0.8, isExact: false }
  if (unitlessProperties.has(term.property))
    return { fit: term.property === 'ACnc' ? 0.88 : 1, isExact: term.property !== 'ACnc' }
  return { fit: 0.86, isExact: false }
}

/** Of a term that has no usual unit in which the value of a row without unit is possible. */
const IMPOSSIBLE = 0.75

/** Whether a number is within the limits of a term in one of its usual units. */
function isPossibleWithoutUnit(term: Term, value: string): boolean {
  const read = readNumber(value)
  const limits = term.low !== null && term.high !== null ? readUnit(term.rangeUnit)[0] : undefined
  if (!read || !limits) return true
  const values = [term.rangeUnit, ...term.units].flatMap((unit) => readUnit(unit).map((one) => convert(read.value, one, limits)))
  const known = values.filter((one) => one !== undefined)
  return known.length === 0 || known.some((one) => isWithin(one, read.comparator, term.low!, term.high!))
}

/**
 * Returns the terms that a row may mean, best first, with scores: 5 at most. `assumed` is the specimen that the rows around it suggest.
 */
export function candidatesOf(index: NameIndex, row: ReportRow, assumed?: string): Candidate[] {
  const name = readName(row.test_name)
  const hits = findByName(index, name)
  const found = scoreOf(index, row, name, hits, assumed)
  // A name that fits nothing else of the row may be part of a longer one.
  if ((found[0]?.score ?? 0) >= UNFIT || hits.every(({ isExact }) => !isExact)) return found
  const similar = scoreOf(index, row, name, findSimilar(index, name), assumed)
  return (similar[0]?.score ?? 0) > (found[0]?.score ?? 0) ? similar : found
}

const UNFIT = 0.6

function scoreOf(
  index: NameIndex,
  row: ReportRow,
  name: NameParts,
  hits: readonly NameHit[],
  assumed: string | undefined,
): Candidate[] {
  if (hits.length === 0) return []
  const units = readUnit(row.units)
  const unitText = (row.units ?? '').trim()
  const form = formOf(row.value)
  const specimen = specimenOf(row, name) ?? assumed
  const family = specimen === undefined ? assumedFamily(hits, units) : undefined
  const methods = { named: [...name.methods, ...methodsIn(unitText)], printed: methodsIn(row.method ?? '') }
  const timing = name.timing ?? timingIn(row.specimen ?? '')
  const tag = PANEL_TAGS.find(([pattern]) => pattern.test(row.source_panel_name ?? ''))?.[1]
  const hasOwn = hits.some(({ isOwnName, isExact }) => isOwnName && isExact)
  const hidden = bracketsIn(row.test_name).filter((text) => !/\d\s*-\s*\d/.test(text))
  // `Color` alone may be that of urine or stool, in whatever unit each is usual.
  const families = new Set(hits.filter((hit) => hit.isExact).map(({ term }) => familyOf(term.system)))
  families.delete('other')
  const isOpen = family !== undefined && family !== 'blood' && families.size > 1
  const scored = hits.map((hit) => {
    const { term } = hit
    const unit = unitFit(term, units, unitText, form)
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
    if (tag !== 'allergy' && term.panels.includes('allergy') && term.component !== 'IgE' && !/\bige\b/i.test(row.test_name))
      score *= 0.85
    // Words in brackets that neither name the component nor say specimen or method may change the meaning.
    const isExplained =
      hit.quality !== 0.99 ||
      hidden.every(
        (text) =>
          isNameOf(index, term, text) ||
          readName(text).specimen !== undefined ||
          methodsIn(text).length > 0 ||
          readUnit(text).length > 0,
      )
    const isOther = [...name.methods, ...methods.printed].some((method) => isDecisive(term, method))
    const isUnusual = family !== undefined && !USUAL_FAMILIES.has(familyOf(term.system))
    const isExact = hit.isExact && unit.isExact && isExplained && !isOther && !isOpen && !isUnusual
    return { term, score: Math.min(score, isExact ? EXACT_MAX : INEXACT_MAX), isExact }
  })
  return spread(scored.filter(({ score }) => score >= SHOWN_FROM)).slice(0, 5)
}

/**
 * Orders candidates. Of terms that differ in method, or in a specimen or property that the row does not settle, the most frequent one is
 * meant; different components with the same name stay equal, so that a person decides.
 */
function spread(candidates: Candidate[]): Candidate[] {
  const sorted = candidates.sort((a, b) => b.score - a.score || a.term.rank - b.term.rank)
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
    .replace(/^(?:Thyrotropin receptor|Thyroid stimulating immunoglobulins).*/, 'Thyroid stimulating immunoglobulins')
    .replace(/\^AM peak.*|\^PM trough.*/, '')
    .replace(/^HIV 1\+2 Ab.*/, 'HIV 1+2 Ab')
    .replace(/^Neutrophils\.segmented/, 'Neutrophils')
    .replace(/\/(?:100 leukocytes|Leukocytes)$/, ' fraction')
