// Reference ranges in every style, and the row of a table of ranges that fits the patient.
import { boundOf, intervalOf, isResultWord, numberOf, type Interval } from './values.ts'
import { isUnit } from './units.ts'

export interface Patient {
  sex: 'male' | 'female' | null
  age_years: number | null
}

export interface Range extends Interval {
  text: string
  /** `Negative`: what a result that is a word has to be. */
  word: string | null
}

const LABEL =
  /^(?:(?:bio(?:logical)?\.?\s*)?(?:ref(?:erence)?\.?|normal|optimal|healthy|target|expected|standard|desirable|goal|desired|lab)\s*(?:range|interval|int\.?|values?|zone|levels?|limits?)?s?|range|limits)[.\s]*[:=]?\s*/iu
/** The category of a table of categories that is the reference. */
const REFERENCE_CATEGORY =
  /^(?:normal|optimal|desirable|sufficient|sufficiency|negative|non[- ]?reactive|non[- ]?diabetic|nondiabetic|acceptable|low risk|recommended|healthy|ideal|target|no risk|adequate|near optimal|therapeutic|euthyroid)\b/iu
const OTHER_CATEGORY =
  /^(?:pre-?diabet\w*|diabet\w*|borderline|high|very high|low|deficien\w+|insufficien\w+|positive|reactive|equivocal|toxic\w*|moderate|average|increased|at risk|impaired|obese|above optimal|mild|severe|critical|good control|poor control|indeterminate|gray zone|grey zone)\b/iu
const MALE = /\b(?:male|males|men|man|m|boys)\b/iu
const FEMALE = /\b(?:female|females|women|woman|f|girls)\b/iu
const CYCLE =
  /\b(?:follicular|luteal|ovulat\w+|mid-?cycle|post-?menopaus\w*|pre-?menopaus\w*|pregnan\w*|trimester|cord|newborn|neonat\w*|infants?)\b/iu
const CHILD = /\b(?:child(?:ren)?|pa?ediatric|kids)\b/iu
const ADULT = /\badults?\b/iu

/** One range without sex, age or category. Undefined if the text is none. */
export function rangeOf(text: string): Range | undefined {
  const trimmed = text.trim()
  const plain = bare(trimmed)
  if (!plain) return undefined
  const interval = intervalOf(plain) ?? boundOf(plain) ?? bothBounds(plain) ?? openInterval(plain)
  if (interval) return { ...interval, text: trimmed, word: null }
  const word = plain.replace(/^[([](.+)[)\]]$/u, '$1')
  return isResultWord(word) ? { min: null, max: null, text: trimmed, word } : undefined
}

/** Without label, brackets around all of it and the unit behind it. */
function bare(text: string): string {
  let plain = text
    .replace(LABEL, '')
    .replace(/^[([{]\s*(.*?)\s*[)\]}]$/u, '$1')
    .replace(LABEL, '')
    .trim()
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
  const min = one.min ?? other.min
  const max = one.max ?? other.max
  return min !== null && max !== null && min <= max ? { min, max } : undefined
}

/**
 * The range for a patient out of the lines that a report prints for a result: `Male: 13.5-17.5`, `Normal: <5.7`, `18-60 years: 2-5`. A
 * table of which no row fits is no range: `min` and `max` are null.
 */
export function rangeFor(lines: readonly string[], patient: Patient): Range | undefined {
  const text = lines.join(' ').trim()
  const whole = rangeOf(text)
  if (whole) return whole
  const entries = lines.flatMap((line) => entriesOf(line))
  const fitting = entries.filter((entry) => fits(entry.label, patient))
  const chosen =
    fitting.find((entry) => entry.label && REFERENCE_CATEGORY.test(entry.label)) ??
    fitting.find((entry) => !OTHER_CATEGORY.test(entry.label))
  if (chosen) return { ...chosen.range, text }
  return entries.length ? { min: null, max: null, text, word: null } : undefined
}

interface Entry {
  label: string
  range: Range
}

function entriesOf(line: string): Entry[] {
  const entries: Entry[] = []
  for (const part of line.split(/\s*[;|]\s*|,\s+(?=\p{L})/u)) {
    const labelled = /^(.*?\p{L}.*?)\s*(?::|=|-(?=\s*[<>≤≥\d])|\s)\s*([<>≤≥(]?\s*(?:=\s*)?[\d.].*)$/u.exec(part)
    const range = rangeOf(part) ?? (labelled ? rangeOf(labelled[2]!) : undefined)
    if (range) entries.push({ label: rangeOf(part) ? '' : labelled![1]!.trim(), range })
    else {
      const behind = /^([<>≤≥]?\s*[\d.][^a-z]*?)\s*[:(]?\s*(\p{L}[^\d]*)\)?$/u.exec(part)
      const first = behind ? rangeOf(behind[1]!) : undefined
      if (behind && first) entries.push({ label: behind[2]!, range: first })
      else {
        // `18-60 years: 2-5`
        const aged = /^(.*(?:y|yr|yrs|years?|months?|days?|weeks?)\.?\s*(?:old)?)\s*[:=]?\s+([<>≤≥]?\s*[\d.].*)$/iu.exec(part)
        const second = aged ? rangeOf(aged[2]!) : undefined
        if (aged && second) entries.push({ label: aged[1]!, range: second })
      }
    }
  }
  return entries
}

function fits(label: string, { sex, age_years }: Patient): boolean {
  if (CYCLE.test(label)) return false
  if (FEMALE.test(label) && !MALE.test(label) && sex !== 'female') return false
  if (MALE.test(label.replaceAll(new RegExp(FEMALE, 'giu'), '')) && !FEMALE.test(label) && sex !== 'male') return false
  if (CHILD.test(label) && !(age_years !== null && age_years < 18)) return false
  if (ADULT.test(label) && age_years !== null && age_years < 18) return false
  const years = /(\d+)\s*(?:y\w*\.?)?\s*(?:-|–|to)\s*(\d+)\s*(?:y|yr|yrs|year)/iu.exec(label)
  if (years) return age_years !== null && age_years >= Number(years[1]) && age_years <= Number(years[2])
  const above = /(?:>|≥|>=|over|above|from)\s*(\d+)\s*(?:y|yr|yrs|year)/iu.exec(label)
  if (above) return age_years !== null && age_years >= Number(above[1])
  const below = /(?:<|≤|<=|under|below|up to)\s*(\d+)\s*(?:y|yr|yrs|year)/iu.exec(label)
  if (below) return age_years !== null && age_years <= Number(below[1])
  return !/\b(?:month|months|days|weeks)\b/iu.test(label)
}
