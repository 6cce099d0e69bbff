// Whether a text is a unit, however it is written. What it means is the work of ../loinc.
import { isResultWord } from './values.ts'

const AMOUNT =
  '(?:[munpfµμk]?g|(?:micro|nano|pico|milli)(?:grams?|mol(?:es)?)|mcg|ug|mgs|gm|gms|gram|grams|[munpfµμ]?mol|[munpµμ]?eq|mEq|[munµμk]?[iI]?U|[munµμk]?UI|[munµμk]?i?u|uIU|mcIU|int\\.? ?unit|units?|[cC]ells?|copies|cop|log ?copies|log10|log|mOsm|mosmol|[munµμ]?kat|RLU|ppm|ppb|ng ?FEU|ug ?FEU|mcg ?FEU|mg ?FEU|ng ?DDU|[munµμdcf]?L|[mM]illions?|[tT]housands?|thou|lakhs?|mill|mil|K|M|G|T|CFU|org|x?\\s?10\\s?[\\^*eE]?\\s?\\d{1,2}|[xX×]?\\s?E\\d{1,2}|x10\\(\\d+\\)|10\\^\\d+|[xX]10E\\d+|count|counts|spores|[GMA]PL(?: ?U)?|U-?GPL|U-?MPL|CU|EU|AU|BAU|kAU|DU|RU|Ehrlich(?: units)?|E\\.?U\\.?|mm|mV|mmHg|nmol ?BCE|meq|mcmol|mcgm|mm3|cu ?mm|each|#|%)'
const PER =
  '(?:[dcmunpfµμk]?[lL]|mcL|uL|mm\\^?3|mm³|cu\\.? ?mm|cumm|cmm|c\\.?mm|cmm3|100 ?m[lL]|min|mins|minute|hr|hrs|h|hour|day|d|24 ?h(?:r|rs|ours)?|sec|s|hpf|HPF|lpf|LPF|H\\.?P\\.?F\\.?|L\\.?P\\.?F\\.?|field|[munµμ]?g|kg|mg|g ?(?:Hb|HGB|hgb|creat(?:inine)?|Cr|feces|stool)|[munµμ]?mol|mmol ?(?:creat(?:inine)?|Cr)|mol|mol ?Hb|1\\.73 ?m(?:(?:\\^|\\*{1,2})?2|²|sq)?|1\\.73 ?sq\\.? ?m|m2|m²|100 ?WBC|WBC|100|cell|cells|10\\*?6|L|specimen|ejac(?:ulate)?|swab|mgCr|g ?Cr|mg ?creat|1\\.73)'
const COMPOSED = new RegExp(
  `^${AMOUNT}(?:\\s?(?:/|per)\\s?${PER}){1,3}(?:\\s?[([]?(?:calc|FEU|DDU|creat(?:inine)?|Hb)[)\\]]?)?$`,
  'u',
)
const COMPOSED_OF_ONE_CASE = new RegExp(COMPOSED.source, 'iu')
const INVERSE = new RegExp(`^/\\s?${PER}$`, 'u')
const POWER = /^[xX×]?\s?10\s?[\^*eE~]?\s?\(?\d{1,2}\)?\s?\/?\s?(?:[munµμ]?[lL]|mcL|mm\^?3|mm³|cumm|cu ?mm|cmm)$/u
const SINGLE = new Set(
  `%|fl|pg|g|mg|ug|mcg|ng|l|ml|sec|secs|second|seconds|s|min|mins|minutes|hours|ratio|index|mmhg|mm hg|kpa|mv|nm|mm|cm|kg|kg/m2|u|iu|miu|ku|s/co|s/c|coi|ai|au|eu|isr|od ratio|od|titer|titre|ph|ph units|log|log iu|copies|percent|% of total|% of total hgb|% of total hb|% of total hemoglobin|% (calc)|% by wt|% by weight|degree|degrees|celsius|°c|%ile|percentile|score|index value|units|unit|inr|nmol bce|mm/hour|mm/1st hour|mm 1st hr|mm/1sthr|mm/1st hr|cells|million|cfu|ph unit|arb unit|arb.units|mom|sd|z-score|years|weeks|% binding|% activity|% normal|% saturation|% inhibition|moles/day|ratio %|%hb|% of hb|lu|snu|gplu|mplu|apl|gpl|mpl|ru|wbu|vu|% activity|au/ml|u/l|calc|index (s/co)|% total|antibody index|si units|mmol/mol|mmol/mol hb|mg/g creat|mcg/mg creat|mosmol/kg|mosm/kg h2o|mosm/kg|%v/v|g%|gm%|mg%|mgs%|gms%|mg %|gm %|g %|meq/l|cumm|/cumm|/cu.mm|cells/cumm|cells/cum|/cum|lakh/cumm|mill/cumm|million/cumm|thou/cumm|10^3/cumm|lakhs/cumm|% mono|mio/ul|mio/mm3|tsd/ul|g/l|l/l|ratio units|1/1.73|ml/min|ml/min/1.73|ml/min/1.73m2|ml/min/1.73 m2|ml/mn/1.73|ml/min/bsa|ml/min/1.73m*2|mg/mmol|mg/mg|ug/mg|/hpf|/lpf|per hpf|per lpf|phpf|wbc/hpf|rbc/hpf|nmol/min/ml|ng/ml/hr|ng/ml/h|mm at the end of 1 hour|mm/1 hour|mm in 1 hr|mm at 1 hr|mm at 1 hour|mm after 1 hr|mm 1st hour|mm/1st hour|leu/ul|ery/ul|/pl|/nl|l/24 h|l/24h|mg/24 h|g/24 h|mmol/24 h|umol/24 h|ug/24 h|mcg/24 h|ml/24 h|million/ejaculate|millions/ejaculate|x10^6/ejaculate|flu|s/co ratio|nmol/min/ml|10e3/ul|10e6/ul|x10e3/ul|x10e6/ul|x 10e3/ul|k/cumm|m/cumm|k/mcl|m/mcl|k/ul|m/ul|nmol/l bce|seconds.|sec.|10*3/ul|10*6/ul|10*9/l|10*12/l|x10^9/l|x10^12/l|x10^3/ul|x10^6/ul|x10^6|x 10^6`
    .split('|')
    .map((unit) => unit.trim()),
)

/** Without spaces, which pictures may lose: `mmat 1 hr`. */
const SINGLE_JOINED = new Set([...SINGLE].map((unit) => unit.replaceAll(' ', '')))

/** Raised digits by what they stand for. */
const RAISED = '⁰¹²³⁴⁵⁶⁷⁸⁹'
/** `10⁹/L` as `10^9/L`. */
const withPlainPowers = (text: string): string =>
  text.replaceAll(/(?<=10)[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,2}/gu, (digits) => `^${[...digits].map((digit) => RAISED.indexOf(digit)).join('')}`)

/** `mg/dL`, `x10E3/uL`, `mL/min/1.73 m2`, `%`, `10*9/L`, `/hpf`. */
export function isUnit(text: string): boolean {
  const unit = withPlainPowers(text)
    .trim()
    .replace(/^[([](.+)[)\]]$/u, '$1')
    .trim()
  if (!unit || unit.length > 30) return false
  if (SINGLE_JOINED.has(unit.toLowerCase().replaceAll(/[µμ]/gu, 'u').replaceAll(' ', ''))) return true
  // The amount of a number is none by itself.
  const isComposed = (text: string) => COMPOSED.test(text) || INVERSE.test(text) || POWER.test(text)
  // `MG/DL`: some print everything in one case, and the area of a body with a comma.
  const area = unit.replace(/1,73/u, '1.73')
  return isComposed(area) || (/^(?:[^a-z]+|[^A-Z]+)$/u.test(area) && COMPOSED_OF_ONE_CASE.test(area))
}

/** The unit behind a range: `0.45 - 4.50 uIU/mL`, `40-74%`, `None seen /HPF`; null if there is none. */
export function unitBehind(range: string): string | null {
  // `(70-99 mg/dL)` has a bracket around all of it, `mg/dL (calc)` one that belongs to the unit.
  const text = range.replace(/(?<=[\p{L}\d])(?=\/[hl]pf$)/iu, ' ')
  const words = (/[([](?![^()[\]]*[)\]])|^[([]/u.test(text) ? text.replace(/[)\]]+$/u, '') : text).split(/\s+/u)
  for (let count = Math.min(4, words.length - 1); count > 0; count--) {
    const unit = words
      .slice(-count)
      .join(' ')
      .replace(/^[([](?=[^)\]]*$)/u, '')
    const isBehindWord = /^\/|\p{L}\//u.test(unit) && isResultWord(words.slice(0, -count).join(' '))
    if (isUnit(unit) && (isBehindWord || /\d\S*$/u.test(words.at(-count - 1)!)))
      return unit.replace(/^[([](?!calc)(.+)[)\]]$/u, '$1')
  }
  const [, withoutSpace] = /\d(%|[\p{L}µ]+\/[\p{L}µ\d.^]+)$/u.exec(words.at(-1)!) ?? []
  return withoutSpace !== undefined && isUnit(withoutSpace) ? withoutSpace : null
}
