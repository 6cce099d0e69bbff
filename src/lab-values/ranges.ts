// Reference ranges in every style, and the row of a table of ranges that fits the patient.
import { ageConditionIn, ageFit, type Age } from './ages.ts'
import { boundOf, intervalOf, isResultWord, numberOf, type Interval } from './values.ts'
import { rangesOfGroups } from './ranges-of-groups.ts'
import { isUnit } from './units.ts'
import { isReferenceOfWords } from './words.ts'

export interface Patient {
  sex: 'male' | 'female' | null
  age: Age | null
}

export interface Range extends Interval {
  text: string
  /** `Negative`: what a result that is a word has to be. */
  word: string | null
  /** It holds only under a condition that is not understood, so that nothing follows from it: `Smokers: 0-5`. */
  isConditional?: true
}

const LABEL =
  /^(?:n\.\s?v\.|r\.?\s?r\.?(?=\s)|ref\.?\s?v\.?(?=\s)|n(?=\s?[:=<>≤≥])|(?:bio(?:logical)?\.?\s*)?(?:ref(?:erence)?\.?|normal|optimal|optimum|healthy|target|expected|standard|desirable|goal|desired|lab)\s*(?:range|interval|int\.?|values?|zone|levels?|limits?)?s?|range|limits)[.\s]*[:=]?\s*/iu
/** The category of a table of categories that is the reference. */
const REFERENCE_CATEGORY =
  /^(?:normal|optimal|optimum|desirable|sufficient|sufficiency|negative|non[- ]?reactive|non[- ]?diabetic|nondiabetic|acceptable|low risk|recommended|healthy|ideal|target|no risk|adequate|therapeutic|euthyroid|neg|immune|immunity|protected|protective)\b/iu
const OTHER_CATEGORY =
  /^(?:non[- ]?immune|not immune|pre-?diabet\w*|diabet\w*|borderline|high|very high|low|deficien\w+|insufficien\w+|positive|reactive|equivocal|toxic\w*|moderate|average|increased|at risk|impaired|obese|above optimal|mild|severe|critical|good control|poor control|indeterminate|gray zone|grey zone|near optimal|pos|equiv)\b/iu
const MALE = /\b(?:males?|men|man|boys?)\b|(?<!\p{L})m(?!\p{L})|♂/giu
const FEMALE = /\b(?:females?|women|woman|girls?)\b|(?<!\p{L})f(?!\p{L})|♀/giu
const CYCLE = /\b(?:follicular|luteal|ovulat\w+|mid-?cycle|post-?menopaus\w*|pre-?menopaus\w*|pregnan\w*|trimester|cord)\b/iu
const NEWBORN = /\b(?:new-?born\w*|neonat\w*)\b/giu
const INFANT = /\b(?:infants?|bab(?:y|ies))\b/giu
const CHILD = /\b(?:child(?:ren)?|pa?ediatrics?|kids|boys?|girls?)\b/giu
const ADULT = /\badults?\b/giu
/** What no pattern of ages has taken: a condition on the age that is not understood. */
const OTHER_AGE =
  /\b(?:\d*\s?(?:y|yrs?|years?|months?|mths?|weeks?|wks?|days?)|age[ds]?|adolescen\w*|teen\w*|toddlers?|elderly|seniors?|pubert\w*|(?:pre)?pubertal|tanner)\b/iu
/** A newborn is younger, an adult as old. */
const [NEWBORN_DAYS, ADULT_YEARS] = [28, 18]
/** Words that say nothing more about the patient. */
const FILLING =
  /\b(?:and|or|of|the|in|for|from|with|to|all|both|age[ds]?|group|sex(?:es)?|gender|old|patients?|persons?|people|subjects?|ranges?|ref(?:erence)?|biological|fasting|intervals?|values?|levels?|limits?|normals?|expected|calc(?:ulated)?)\b|[^\p{L}\d]/giu
/** The laboratory has chosen the range by the age of the patient. */
const CHOSEN_BY_AGE = /\bage[- ](?:dependent|adjusted|specific|matched|related)\b/giu
const TITER = /(?<!\d)1\s?:\s?\d/u
/** Where the next category of a line begins: `Neg: <0.9 Pos: >1.1`. An age is none: `18-60 years: 2-5`. */
const NEXT_CATEGORY =
  /(?<=\d%?)\s+(?=(?!(?:yrs?|years?|mos?|mons?|months?|mths?|weeks?|wks?|days?|hrs?|hours?)\b)\p{L}{3}[\p{L} -]{0,30}:\s?[<>≤≥]?=?\s?[\d.])/giu
/** Longer lines, and more of them, hold no table of ranges. */
const LINE_MAX = 400
const LINES_MAX = 60

/** One range without sex, age or category. Undefined if the text is none. */
export function rangeOf(text: string): Range | undefined {
  const trimmed = text.trim()
  const plain = bare(withPlainSigns(trimmed))
  if (!plain) return undefined
  const interval = intervalOf(plain) ?? boundOf(plain) ?? bothBounds(plain) ?? openInterval(plain)
  if (interval) return { ...interval, text: trimmed, word: null }
  const word = plain.replace(/^[([](.+)[)\]]$/u, '$1')
  return isResultWord(word) ? { min: null, max: null, text: trimmed, word } : undefined
}

/** `4.0% - 5.6%`, `between 70 and 99`, `<5.`, with every space as one and every minus as `-`. */
const withPlainSigns = (text: string): string =>
  text
    .replaceAll(/[\u2010-\u2015\u2212]/gu, '-')
    // A narrow or fixed space may part thousands.
    .replaceAll(/[\t\n\r ]+|(?<!\d)[\u00a0\u2000-\u200a\u202f]+|[\u00a0\u2000-\u200a\u202f](?!\d{3}(?!\d))/gu, ' ')
    .replaceAll(/ {2,}/gu, ' ')
    .replaceAll(/(?<=\d)\.(?![\d.])/gu, '')
    .replaceAll(/(?<=\d)\s?%(?=\s?[-~]|\s(?:to|and)\s)/giu, '')
    .replace(/\bbetween\s([^a-z]+?)\sand\s/iu, '$1-')
    .replace(/\bfrom\s([^a-z]+?)\sto\s/iu, '$1-')
    // `70 a 99` in Spanish and Portuguese, `70 à 99` and `[70 ; 99]` in French, `70 ÷ 99` in Italian.
    .replaceAll(/(?<=\d)(?:\s[aà]\s|\s?÷\s?)(?=\d)/gu, '-')
    .replace(/^\[\s?([\d.,]+)\s?;\s?([\d.,]+)\s?\]/u, '$1-$2')
    // `(-2) - (+3)`
    .replace(/^\(([+-]\d[\d.,]*)\)\s?-\s?\(([+-]?\d[\d.,]*)\)$/u, '$1 - $2')

/** Without label, brackets around all of it and the unit behind it. */
function bare(text: string): string {
  const once = text
    .replace(LABEL, '')
    .replace(/^[([{]\s*(.*?)\s*[)\]}]$/u, '$1')
    .trim()
  // `Normal range: Normal`
  let plain = once.replace(LABEL, '').trim() || once
  const words = plain.split(/\s+/u)
  // Units of up to three words, with the number before them left.
  for (let count = Math.min(3, words.length - 1); count > 0; count--)
    if (isUnit(words.slice(-count).join(' '))) {
      plain = words.slice(0, -count).join(' ')
      break
    }
  const attached = /^(.*\d)\s?(%|[a-zA-Zµμ]+\/[\w/.µμ]+)$/u.exec(plain)
  return attached && isUnit(attached[2]!) ? attached[1]! : plain
}

/** `40-` and `-30`: a bound is left out. */
function openInterval(text: string): Interval | undefined {
  const [, min, max] = /^(?:(\d[\d.,]*)\s?[-–~]|[-–~]\s?(\d[\d.,]*))$/u.exec(text) ?? []
  const [low, high] = [min && numberOf(min), max && numberOf(max)]
  if (typeof low === 'number') return { min: low, max: null }
  return typeof high === 'number' ? { min: null, max: high } : undefined
}

/** `>=3.5 - <=5.1`, `> 3.5 and < 5.1`. */
function bothBounds(text: string): Interval | undefined {
  const parts = /^([<>≤≥=]+\s?[\d.,]+)\s*(?:-|–|and|to|,)\s*([<>≤≥=]+\s?[\d.,]+)$/iu.exec(text)
  const [one, other] = [parts && boundOf(parts[1]!), parts && boundOf(parts[2]!)]
  if (!one || !other) return undefined
  const [lower, upper] = one.min === null ? [other, one] : [one, other]
  if (lower.min === null || upper.max === null || lower.min > upper.max) return undefined
  return {
    min: lower.min,
    max: upper.max,
    ...(lower.isMinOpen && { isMinOpen: true }),
    ...(upper.isMaxOpen && { isMaxOpen: true }),
  }
}

/**
 * The range for a patient out of the lines that a report prints for a result: `Male: 13.5-17.5`, `Normal: <5.7`, `18-60 years: 2-5`. A
 * table of which no row fits is not a range: `min` and `max` are null. Rows that name more of the patient come before others, and one whose
 * condition is not understood counts only where it is the first and no other fits. A condition that the `name` of the test repeats is met:
 * `3.7-9.5 (morning)` of `Cortisol, morning`.
 */
export function rangeFor(lines: readonly string[], patient: Patient, name = ''): Range | undefined {
  const text = lines.join(' ').trim()
  const whole = rangeOf(text)
  if (whole) return whole
  if (isReferenceOfWords(text)) return { min: null, max: null, text, word: text }
  // Titers are compared as they are.
  if (TITER.test(text)) return undefined
  const ofGroups = entriesOfGroups(text.slice(0, LINE_MAX))
  const entries = ofGroups.length ? ofGroups : lines.slice(0, LINES_MAX).flatMap((line) => entriesOf(line.slice(0, LINE_MAX)))
  const [best] = entries
    .flatMap((entry) => {
      const isOther = OTHER_CATEGORY.test(entry.label) && !REFERENCE_CATEGORY.test(entry.label)
      const fit = isOther ? undefined : judgeFit(chooseRange(entry, entries, patient), patient, name)
      return fit ? [{ ...entry, ...fit }] : []
    })
    .toSorted((a, b) => a.rank - b.rank || Number(b.isReference) - Number(a.isReference) || b.conditions - a.conditions)
  if (best) return { ...best.range, text, ...(best.rank === 3 && { isConditional: true }) }
  return entries.length ? { min: null, max: null, text, word: null } : undefined
}

interface Entry {
  label: string
  range: Range
  /** The label stands behind the range. */
  isBehind?: boolean
}

/** The label of a range without what says that the laboratory chose it: `1.3-3.3 Premenopausal (luteal)` as the only range of a woman. */
function chooseRange({ label, isBehind }: Entry, entries: readonly Entry[], { sex }: Patient): string {
  const rest = label.replaceAll(CHOSEN_BY_AGE, ' ').trim()
  return isBehind && entries.length === 1 && sex === 'female' && CYCLE.test(rest) ? '' : rest
}

const SEPARATORS = /\s{0,3}[;|]\s{0,3}|,\s{1,3}(?=\p{L})/u

const entriesOfGroups = (text: string): Entry[] =>
  rangesOfGroups(text).flatMap(({ label, range: printed }) => {
    const range = rangeOf(printed)
    return range ? [{ label, range }] : []
  })

function entriesOf(line: string): Entry[] {
  const entries = entriesOfGroups(line)
  if (entries.length) return entries
  let pending = ''
  for (const part of line.replaceAll(NEXT_CATEGORY, '; ').split(SEPARATORS)) {
    const piece = `${pending} ${part}`.trim()
    const ofGroups = entriesOfGroups(piece)
    const entry = ofGroups.length ? undefined : entryOf(piece)
    entries.push(...ofGroups, ...(entry ? [entry] : []))
    // `Adults, male: 13-17`: a piece without a range belongs to the next.
    pending = entry || ofGroups.length || !/\p{L}/u.test(part) ? '' : part
  }
  // `<150, fasting`: the last piece is about the range before it.
  const last = entries.at(-1)
  if (pending && last) last.label = `${last.label} ${pending}`.trim()
  return entries
}

/** Where a label ends and its range begins, the surest first. */
const LABELLED = [
  /^(.*)[:=]\s*(.+)$/u,
  /^(.*?\p{L}.*?)\s*(?::|=|-(?=\s*[<>≤≥\d])|\s)\s*([<>≤≥(]?\s*(?:=\s*)?[\d.].*)$/u,
  /^(.*(?:y|yrs?|years?|months?|days?|weeks?)\.?\s*(?:old)?\)?)\s*[:=]?\s+([<>≤≥]?\s*[\d.].*)$/iu,
  /^(.*[)+])\s*([<>≤≥]?\s*[\d.].*)$/u,
]
const LABEL_BEHIND = [/^([<>≤≥]?=?\s*[\d.][^a-z]*?)\s*[-:(]?\s*(\p{L}[^\d]*)\)?$/u, /^([^()]+)\(([^()]*\p{L}[^()]*)\)$/u]

function entryOf(part: string): Entry | undefined {
  const alone = rangeOf(part)
  if (alone) return { label: '', range: alone }
  // `>=10.0 = Immune`
  const [, bound, meaning] = /^([<>≤≥]=?\s?[\d.,]+)\s?=\s?(\p{L}.*)$/u.exec(part) ?? []
  const limit = bound && rangeOf(bound)
  if (limit) return { label: meaning!, range: limit, isBehind: true }
  for (const pattern of LABELLED) {
    const [, label, text] = pattern.exec(part) ?? []
    const range = text && rangeOf(text)
    if (range) return { label: label!.trim(), range }
  }
  for (const pattern of LABEL_BEHIND) {
    const [, text, label] = pattern.exec(part) ?? []
    const range = text && rangeOf(text)
    if (range) return { label: withoutUnit(label!), range, isBehind: true }
  }
  return undefined
}

/** `mg/dL: High risk`: the unit belongs to the range before it. */
function withoutUnit(label: string): string {
  const [, unit, category] = /^(\S+)\s*:\s*(.+)$/u.exec(label) ?? []
  return category && isUnit(unit!) ? category : label
}

interface Fit {
  /** 0: fits; 1: at the end of the ages; 2: at a bound that they leave out; 3: the condition is not understood. */
  rank: 0 | 1 | 2 | 3
  isReference: boolean
  /** How many conditions the patient meets. */
  conditions: number
}

/** Whether a row of a table of ranges is meant for the patient. */
function judgeFit(label: string, { sex, age }: Patient, name: string): Fit | undefined {
  if (CYCLE.test(label)) return undefined
  let rest = label
  let conditions = 0
  const takes = (pattern: RegExp): boolean => {
    const without = rest.replaceAll(pattern, ' ')
    const isTaken = without !== rest
    rest = without
    return isTaken
  }
  const isReference = REFERENCE_CATEGORY.test(label)
  const stated = ageConditionIn(label)
  const words = stated ? stated.rest : label
  rest = words
  const isChild = takes(CHILD)
  rest = words
  const [isFemale, isMale] = [takes(FEMALE), takes(MALE)]
  if (isFemale !== isMale) {
    if (sex !== (isFemale ? 'female' : 'male')) return undefined
    conditions++
  }
  const [isNewborn, isInfant, isAdult] = [takes(NEWBORN), takes(INFANT), takes(ADULT)]
  takes(CHILD)
  rest = rest.replaceAll(FILLING, ' ').trim()
  const isAge = stated && (stated.hasUnit || !rest)
  const fit: Fit = { rank: 0, isReference, conditions }
  if (isAge) {
    const found = age === null ? undefined : ageFit(age, stated.condition)
    if (!found) return undefined
    fit.rank = found === 'inside' ? 0 : found === 'at the end' ? 1 : 2
    fit.conditions++
  } else if (isNewborn || isInfant || isChild) {
    if (age === null || (isNewborn ? age.days >= NEWBORN_DAYS : age.years >= (isInfant ? 1 : ADULT_YEARS))) return undefined
    fit.conditions++
  } else if (isAdult) {
    if (age !== null && age.years < ADULT_YEARS) return undefined
    fit.conditions++
  } else if (OTHER_AGE.test(label.replaceAll(/\ball ages\b/giu, ''))) return undefined
  if (rest && !isReference && !repeats(name, rest)) fit.rank = 3
  return fit
}

function repeats(name: string, condition: string): boolean {
  const words = (text: string) => text.toLowerCase().match(/[\p{L}\d]+/gu) ?? []
  const named = new Set(words(name))
  return words(condition).every((word) => named.has(word))
}
