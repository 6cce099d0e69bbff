// What a piece of text can be: a number, an interval, a word that is a result, a flag.

/** As laboratories print them: `1,234.5`, `1,50,000` (Indian), `1.234,5`, `1 234`, `1'234`, `5,4`, `0,125`, `.8`, `1.2e3`, `2.5 x 10^3`, `4.5 x10E3`, `10^5`. */
const NUMBER = String.raw`[+-]?(?:[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|[1-9]\d?(?:,\d{2})+,\d{3}(?:\.\d+)?|[1-9]\d{0,2}(?:\.\d{3})+,\d+|[1-9]\d{0,2}(?:(?:[ \u00a0\u2009\u202f]\d{3})+|(?:['’]\d{3})+)(?:[.,]\d+)?|\d+(?:[.,]\d+)?|\.\d+)(?:[eE][+-]?\d{1,2}|\s?[x×]\s?10(?:(?:\^|E|e|\*)?[+-]?\d{1,2}|⁻?[⁰¹²³⁴-⁹]{1,2}))?`
const COMPARATOR = String.raw`(?:[<>]\s?(?:or\s?)?=|=<|=>|<|>|≤|≥|＜|＞|less than|greater than|more than|higher than|lower than|under|over|below|above|up to|upto|at least|at most|not? more than|not? less than|equal to or (?:greater|more|higher|less|lower) than|minimum|maximum|max\.?)`

/** `10^5` may be a result, but no bound. */
const POWER = String.raw`10(?:\^\d{1,2}|[⁰¹²³⁴-⁹]{1,2})`
const NUMBER_ONLY = new RegExp(`^(?:${NUMBER}|${POWER})$`, 'u')
const COMPARATOR_NUMBER = new RegExp(String.raw`^(${COMPARATOR})\s?(?:(?:or equal to|or =)\s?)?(${NUMBER})$`, 'iu')
/** Minus signs of every length, `to`, and the tilde. */
const INTERVAL = new RegExp(String.raw`^[([]?\s?(${NUMBER})\s?(?:-|–|—|−|~|to|through|thru|\.\.)\s?(${NUMBER})\s?[)\]]?$`, 'iu')
const RATIO = /^\d+(?:\.\d+)?\s?[/:]\s?\d+(?:\.\d+)?$/u

/** The number that a text is; undefined if it is none, or none that can be held. */
export function numberOf(text: string): number | undefined {
  let digits = text.trim().replaceAll('−', '-')
  if (!NUMBER_ONLY.test(digits)) return undefined
  digits = digits.replace(/^10(?=[⁰¹²³⁴-⁹])/u, '10^')
  digits = digits.replaceAll(/[⁻⁰¹²³⁴-⁹]/gu, (sign) => '0123456789-'['⁰¹²³⁴⁵⁶⁷⁸⁹⁻'.indexOf(sign)]!)
  if (/^10\^\d{1,2}$/u.test(digits)) return numberOf(digits.replace('10^', '1e'))
  const power = /\s?[x×]\s?10(?:\^|E|e|\*)?([+-]?\d{1,2})$/u.exec(digits)
  if (power) digits = digits.slice(0, power.index)
  digits = digits.replaceAll(/[ \u00a0\u2009\u202f'’]/gu, '')
  // Three digits behind a comma are thousands, unless a zero stands before it: `1,234`, `0,125`.
  if (/^[+-]?[1-9]\d{0,2}(?:,\d{2,3})*,\d{3}(?:\.\d+)?(?:e|$)/iu.test(digits)) digits = digits.replaceAll(',', '')
  else if (/^[+-]?[1-9]\d{0,2}(?:\.\d{3})+,\d/u.test(digits)) digits = digits.replaceAll('.', '')
  const value = Number(digits.replace(',', '.')) * 10 ** Number(power?.[1] ?? 0)
  return Number.isFinite(value) ? value : undefined
}

/** Null: open. `isMinOpen`, `isMaxOpen`: the bound itself does not belong to it, as with `<50`. */
export interface Interval {
  min: number | null
  max: number | null
  isMinOpen?: boolean
  isMaxOpen?: boolean
}

const GROUPED = /^[1-9]\d{0,2}[.,]\d{3}$/u

/** `70-99`, `(3.5 to 5.1)`. The lower bound is first; `19-9` is not an interval. */
export function intervalOf(text: string): Interval | undefined {
  const parts = INTERVAL.exec(text.trim())
  if (!parts) return undefined
  const [min, max] = [numberOf(parts[1]!), numberOf(parts[2]!)]
  // `135 - 145 140` may be a range and a number behind it.
  const [, first = '', rest = ''] = /^(\d+) (\d{3})/u.exec(parts[2]!) ?? []
  if (rest && !rest.startsWith('0') && !parts[1]!.includes(' ') && min !== undefined && min < Number(first)) return undefined
  // `3,400 - 10.800`: a comma that was read as a point, since both group the digits of thousands.
  if (GROUPED.test(parts[1]!) && GROUPED.test(parts[2]!) && parts[0].includes(',') && parts[0].includes('.')) {
    const [from, to] = [Number(parts[1]!.replaceAll(/\D/gu, '')), Number(parts[2]!.replaceAll(/\D/gu, ''))]
    return from <= to ? { min: from, max: to } : undefined
  }
  return min !== undefined && max !== undefined && min <= max ? { min, max } : undefined
}

const INCLUSIVE =
  /^(?:[<>]\s?(?:or\s?)?=|=<|=>|≤|≥|up ?to|at least|at most|not? (?:more|less) than|minimum|maximum|max\b)|equal to|or =/iu
const LOWER_BOUND =
  /^(?:>|≥|＞|=>|greater|more|higher|over|above|at least|not? less|minimum|equal to or (?:greater|more|higher))/iu

const NUMBER_COMPARED = new RegExp(
  String.raw`^(${NUMBER})\s(?:or|and)\s(higher|more|above|greater|over|lower|less|below|under|fewer)$`,
  'iu',
)

/** `<5.7`, `Up to 40`, `≥ 60`, `50 or higher`. `≤50` and `up to 50` include the bound, `<50` and `more than 50` do not. */
export function boundOf(text: string): Interval | undefined {
  const [, number = '', side = ''] = NUMBER_COMPARED.exec(text.trim()) ?? []
  const compared = numberOf(number)
  if (compared !== undefined) {
    const isLower = /^(?:lower|less|below|under|fewer)$/iu.test(side)
    return { min: isLower ? null : compared, max: isLower ? compared : null }
  }
  const parts = COMPARATOR_NUMBER.exec(text.trim())
  const value = parts ? numberOf(parts[2]!) : undefined
  if (!parts || value === undefined) return undefined
  const isOpen = !INCLUSIVE.test(text.trim())
  return LOWER_BOUND.test(parts[1]!)
    ? { min: value, max: null, ...(isOpen && { isMinOpen: true }) }
    : { min: null, max: value, ...(isOpen && { isMaxOpen: true }) }
}

const TITER_COMPARED = /^[<>≤≥]=?\s?1\s?:\s?\d+$/u

/** `<5.7`, `>= 60`, `<1:40` */
export const isComparator = (text: string): boolean =>
  (boundOf(text) !== undefined && /^[<>=≤≥＜＞]/u.test(text.trim())) || TITER_COMPARED.test(text.trim())

export const isRatio = (text: string): boolean => RATIO.test(text.trim())

/** Results that are words. Compared without case, full stops and repeated spaces. */
const WORDS = new Set(
  `negative|neg|positive|pos|reactive|nonreactive|non-reactive|non reactive|weakly reactive|weakly positive|weak positive|strongly positive
|detected|not detected|none detected|undetected|undetectable|target not detected|present|absent|not present|nil|none|none seen|not seen|no growth
|no growth to date|no significant growth|isolated|not isolated|trace|tr|small|moderate|large|few|many|rare|occasional|occ|scant|heavy|light|numerous
|normal|abnormal|within normal limits|wnl|clear|slightly cloudy|cloudy|hazy|slightly hazy|turbid|slightly turbid|yellow|pale yellow|light yellow
|dark yellow|straw|amber|colorless|colourless|orange|red|brown|dark brown|light brown|green|black|pink|bloody|reddish|white|greyish white|soft|formed|semi-formed|semi formed|loose|watery|mucoid
|equivocal|indeterminate|inconclusive|borderline|immune|non-immune|non immune|not immune|susceptible|resistant|sensitive|intermediate|invalid
|adequate|inadequate|satisfactory|unsatisfactory|yes|no|true|false|compatible|incompatible|homozygous|heterozygous|wild type|not applicable|n/a|high|low
|see note|see comment|see below|see notes|see comments|pending|tnp|not reported|not performed|test not performed|not calculated|not given|unremarkable
|nil seen|nil detected|scanty|slight hazy|slightly turbid|sl turbid|sl cloudy|brownish|yellowish|yellowish brown|greenish|creamy|straw yellow|lemon yellow|semi solid|semisolid|well formed|acid|increased|decreased|mild|severe|thick|thin|opalescent|opaque|homogenous|homogeneous|complete|incomplete|absent seen|mixed growth|mixed flora|normal flora|no organisms seen|not isolated|no pathogens isolated|no abnormality detected|acidic|alkaline|neutral|plenty|pus cells seen|seen|nad|normocytic|normochromic|normocytic normochromic|sufficient|insufficient|deficient
|haemolysed|haemolyzed|hemolysed|hemolyzed|clotted|lipaemic|lipemic|icteric|sample haemolysed|sample clotted|insufficient sample|sample insufficient`
    .split('|')
    .map((word) => word.trim()),
)
/** `A Positive`, `O Rh positive`, `AB+`, `1+`, `++`, `3 +`, `e3/e4`, `4-6 /hpf` is none of them. */
const GRADES = [
  /^[1-4]\s?\+$/u,
  /^\(?(?:\+{1,4}|-|±|\+-|\+\/-)\)$|^\+{1,4}$/u,
  /^\d+(?:\.\d+)?\s?\((?:[1-4]\+|\+{1,4}|trace)\)$/iu,
  /^(?:present|positive|pos|trace|detected|reactive)\s?\(?\+{1,4}\)?$/iu,
  /^(?:a|b|ab|o)\s?(?:rh\s?(?:\(?d\)?)?\s?)?(?:\+|-|positive|negative|pos|neg|\+ve|-ve)$/iu,
]
const RHESUS = /^rh\s?(?:\(?d\)?)?\s?(?:positive|negative|pos|neg|\+|-)$/iu
const GROUP = /^(?:a|b|ab|o)$/iu
const GENOTYPE = /^(?:e[234]\/e[234]|[ACGT]\/[ACGT]|[+-]\/[+-])$/u

/** A word or a few that reports print as a result. */
export function isResultWord(text: string): boolean {
  const word = text.trim().toLowerCase().replace(/[.]$/u, '').replaceAll(/\s+/gu, ' ')
  return (
    WORDS.has(word) ||
    GRADES.some((grade) => grade.test(word)) ||
    RHESUS.test(word) ||
    GENOTYPE.test(text.trim()) ||
    // `Non-reactive (0.02)`: a result with the index that it was read from.
    WORDS.has(word.replace(/ \((?:[^()\d]{1,40}|[<>]?\s?\d[\d.,]*(?:\s?[\w/%]+)?)\)$/u, '')) ||
    WORDS.has(word.replace(/^\*+|\*+$/gu, ''))
  )
}

const WORDS_OF_RESULTS = new Set([...WORDS].flatMap((text) => text.split(/[ -]/u)))
/** Whether results have this word, in lower case. */
export const isWordOfResults = (word: string): boolean => WORDS_OF_RESULTS.has(word)

export const isBloodGroup = (text: string): boolean => GROUP.test(text.trim())

/** What a flag says. `marked`: something is unusual, in which direction is not said; `noted`: there is a note on the result. */
export type Flag = 'high' | 'low' | 'critical_high' | 'critical_low' | 'abnormal' | 'critical' | 'normal' | 'marked' | 'noted'

const FLAGS: Record<Flag, string[]> = {
  high: [
    'h',
    'hi',
    'high',
    '↑',
    '▲',
    '⬆',
    '⇑',
    '^',
    'above',
    'above range',
    'above high normal',
    'above high reference limit',
    'above reference range',
    'above upper limit',
    'elevated',
    'h*',
    '*h',
    '+',
    'above normal',
    '🔺',
    'high *',
  ],
  low: [
    'v',
    'l',
    'lo',
    'low',
    '↓',
    '▼',
    '⬇',
    '⇓',
    'below',
    'below range',
    'below low normal',
    'below low reference limit',
    'below reference range',
    'below lower limit',
    'l*',
    '*l',
    'below normal',
    'low *',
  ],
  critical_high: [
    'hh',
    'h!',
    'h*!',
    '↑↑',
    '▲▲',
    '++',
    'critical high',
    'crit high',
    'panic high',
    'h**',
    '*hh',
    'hh*',
    'very high',
    'ch',
  ],
  critical_low: ['ll', 'l!', '↓↓', '▼▼', '--', 'critical low', 'crit low', 'panic low', 'l**', '*ll', 'll*', 'very low', 'cl'],
  abnormal: [
    'a',
    'abn',
    'abnormal',
    'out of range',
    'a*',
    'ab',
    'abnormal *',
    'outside range',
    'outside reference range',
    'aa',
    'at risk',
    'needs work',
    'needs attention',
  ],
  critical: ['c', 'crit.', 'alert', 'alert value', 'critical *', 'crit', 'critical', 'panic', '!!', 'critical value', '!!!'],
  normal: [
    'n',
    'normal',
    'in range',
    'within range',
    'wnl',
    'within normal limits',
    'ok',
    'optimal',
    'nml',
    '✓',
    '✔',
    'in-range',
    'within normal range',
  ],
  marked: ['*', '**', '***', '!', 'borderline'],
  noted: ['#', '†', '‡', '•', '●'],
}
const flagByText = new Map(Object.entries(FLAGS).flatMap(([flag, texts]) => texts.map((text) => [text, flag as Flag])))

/** The flag that a text is. Brackets around it do not count. */
export const flagOf = (text: string): Flag | undefined =>
  flagByText.get(
    text
      .trim()
      .toLowerCase()
      .replace(/^⚠\uFE0F?\s*(?=\p{L})/u, '')
      .replace(/^[([](.+)[)\]]$/u, '$1')
      .replace(/^\*(\p{L}{1,2})\*$/u, '$1')
      .replace(/^<[-–]\s?(?=\p{L})/u, '')
      .replaceAll(/\s+/gu, ' '),
  )

export interface ValueWithFlag {
  value: string
  flag?: Flag
}

/** Parts a flag that is printed at the value: `120H`, `120 (H)`, `*3.2`, `H 7.1`, `Positive *`. */
export function partFlag(text: string): ValueWithFlag {
  const value = withoutMark(text.trim())
  const after =
    /^(.*?[\d+a-z)])\s?(\*{1,3}|!{1,3}|↑{1,2}|↓{1,2}|▲|▼|(?<=\d)\s?[([]?(?:H{1,2}|L{1,2}|A|C)[)\]]?\*?|\s[([]?(?:HH?|LL?|A|High|Low|Abn|Abnormal|Critical|Alert)[)\]]?|\s[([](?:\*{1,3}|!|↑{1,2}|↓{1,2}|▲|▼|Above range|Below range)[)\]])$/u.exec(
      value,
    )
  if (after) {
    const flag = flagOf(after[2]!)
    if (flag) return { value: after[1]!.trim(), flag }
  }
  // `DETECTED (A)`, but not `RH (A)`.
  const [, capitals, flagOfCapitals] = /^(\p{Lu}[\p{Lu} -]+\p{Lu})\s[([](A|H|L)[)\]]$/u.exec(value) ?? []
  if (capitals && isResultWord(capitals)) return { value: capitals, flag: flagOf(flagOfCapitals!)! }
  // `1+A`, `2+ H`: a grade and its flag.
  const [, grade, flagOfGrade] = /^([1-4]\+)\s?(A|H)$/u.exec(value) ?? []
  if (grade && flagOfGrade) return { value: grade, flag: flagOf(flagOfGrade)! }
  const word = /^(\*{1,3})\s?(\p{L}.*)$/u.exec(value)
  if (word && isResultWord(word[2]!)) return { value: word[2]!, flag: 'marked' }
  // `0.59 -` and `7 -` are low; `2 +` is a grade.
  const signed = /^(\d{2,}|\d+[.,]\d+|\d(?= -))\s([+-])$/u.exec(value)
  if (signed) return { value: signed[1]!, flag: signed[2] === '+' ? 'high' : 'low' }
  const before =
    /^(\*{1,3}|!|↑{1,2}|↓{1,2}|▲|▼|(?:HH?|LL?|A|C)\s|(?:HH?|LL?)(?=\d{2}|\d[.,]\d)|[([](?:HH?|LL?|A|C)[)\]])\s?([<>≤≥]?\s?[\d.].*)$/u.exec(
      value,
    )
  if (before) {
    const flag = flagOf(before[1]!)
    if (flag) return { value: before[2]!.trim(), flag }
  }
  return { value }
}

/** `180 (1)`, `35 [2]`, `35²`: a number without the number of a footnote. `10⁵` is a power. */
function withoutMark(value: string): string {
  const [, number = ''] = /^(.*\d)(?:\s?\([1-9]\)|\s?\[[1-9]\]|[¹²³⁴-⁹])$/u.exec(value) ?? []
  return numberOf(number) !== undefined && !/(?<!\d)10$/u.test(number) ? number : value
}

/** How sure a text is a result: a number with or without comparator, an interval, a ratio, or a word. */
export type ValueKind = 'number' | 'comparator' | 'interval' | 'ratio' | 'word'

export function valueKind(text: string): ValueKind | undefined {
  const { value } = partFlag(text)
  if (numberOf(value) !== undefined) return 'number'
  if (isComparator(value)) return 'comparator'
  if (isRatio(value)) return 'ratio'
  if (intervalOf(value)) return 'interval'
  return isResultWord(value) ? 'word' : undefined
}
