// Words of pictures spelled as laboratories spell them.
import { isUnit } from '../../lab-values/units.ts'
import { isWordOfResults } from '../../lab-values/values.ts'
import { namesWithoutTerm, once, printedNames, shippedTerms } from '../loinc/terms.ts'
import { areInLine, type PageText, type Word } from '../pages/page.ts'
import { withColons } from './colons.ts'
import { withUsualLabels } from './repeated-labels.ts'
import { cutAt, gapBetween, isNextTo, type KnownWords, repairGaps, WIDE_GAP_MAX } from './word-gaps.ts'

/** A word of which each letter is surer than this was read right. */
const CERTAIN = 0.97
const LETTERS_MIN = 4
/** Shorter words are changed only where letters look alike. */
const EDITED_LETTERS_MIN = 6
/** A name that is printed for fewer terms does not decide what another word means. */
const UNIT_TERMS_MIN = 3

const REPORT_WORDS =
  `test tests name result results value values unit units flag reference range interval normal abnormal high low critical borderline optimal
  desirable deficiency insufficiency sufficiency deficient insufficient sufficient method specimen sample serum plasma blood urine stool panel profile
  function complete comprehensive basic metabolic lipid thyroid liver kidney renal hepatic routine differential absolute automated positive negative
  reactive non-reactive detected indeterminate equivocal present absent trace clear cloudy yellow amber straw hazy pending previous current observed
  total direct indirect calculated estimated ratio count index random fasting male female adult children laboratory laboratories pathology report
  haematology hematology biochemistry chemistry immunology serology microbiology haemogram hemogram coagulation hormones vitamins minerals cardiac iron
  zone component components examination investigation parameter parameters analyte biomarker expected studies electrolytes diabetes leucocyte
  leucocytes haemoglobin haematocrit oestradiol titre sulphate highly sensitive interpretation comment remarks lvl`.split(/\s+/u)

/** Units as reports print them, in addition to those of the shipped terms. */
const PRINTED_UNITS =
  'fL pg % mill/cumm lakhs/cumm /cumm cells/cumm thou/cumm gm/dL mg% mm/hr mm/1st hr sec x10E3/uL x10E6/uL x10^9/L x10^12/L K/uL M/uL Thousand/uL Million/uL'.split(
    ' ',
  )

interface Vocabulary {
  words: ReadonlySet<string>
  /** Those of fewer letters. */
  short: ReadonlySet<string>
  shortAlike: ReadonlyMap<string, string | null>
  /** Words by how they look; null where several look the same. */
  alike: ReadonlyMap<string, string | null>
  units: ReadonlyMap<string, string | null>
  /** Units by how they look without their slash: `mmolmol`. */
  withSlash: ReadonlyMap<string, string>
  printedUnits: ReadonlySet<string>
}

/**
 * The words of the names that reports print, by whether they have fewer than four letters, and those with signs: `T4,Free(Direct)`, `Turbid.`
 * Rare short ones are a part of other words too often to tell where a word ends: `mode` of a collection, and of `Moderate`.
 */
const nameWords = once(() => {
  const [words, short, withSigns, rare] = [new Set(REPORT_WORDS), new Set<string>(), new Set<string>(), new Set<string>()]
  const withoutTerm = new Set(namesWithoutTerm())
  for (const name of printedNames()) {
    const [others, lettersMin] = withoutTerm.has(name) ? [rare, EDITED_LETTERS_MIN] : [short, LETTERS_MIN]
    for (const [word] of name.toLowerCase().matchAll(/[\p{L}\d]+/gu)) (word.length >= lettersMin ? words : others).add(word)
    for (const word of name.toLowerCase().split(' ')) if (/\p{L}\(|,.|\p{L}{5}\.$/u.test(word)) withSigns.add(word)
  }
  return { words, short, withSigns, rare }
})

/** Whether reports print this word of four letters or more, in lower case. */
export const isReportWord = (word: string): boolean => nameWords().words.has(word)

/** Whether names of tests have this word, in lower case, or it is the plural of one of theirs. */
export const isNameWord = (word: string): boolean => {
  const { words, short, rare } = nameWords()
  return [word, word.replace(/s$/u, '')].some((form) => words.has(form) || short.has(form) || rare.has(form))
}

/** The names of shipped terms without the slashes between their words. */
const namesWithSlash = once(() => {
  const [withSlash, others] = [new Set<string>(), new Set<string>()]
  for (const name of printedNames()) (name.includes('/') ? withSlash : others).add(plainName(name))
  return new Set([...withSlash].filter((name) => !others.has(name)))
})

const plainName = (name: string): string => name.toLowerCase().replaceAll(/\s*[/\s]\s*/gu, ' ')

/** Whether a name is printed with a slash wherever it is known, and was read without: `Chol HDL Ratio`. */
export const lacksSlash = (name: string): boolean => !name.includes('/') && namesWithSlash().has(plainName(name))

const vocabulary = once((): Vocabulary => {
  const { words, short } = nameWords()
  const unitCounts = new Map<string, number>(PRINTED_UNITS.map((unit) => [unit, UNIT_TERMS_MIN]))
  for (const term of shippedTerms())
    for (const unit of term.units) {
      const printed = unit.replaceAll(/[[\]]/gu, '').replaceAll(/\{[^}]*\}/gu, '')
      if (isUnit(printed)) unitCounts.set(printed, (unitCounts.get(printed) ?? 0) + 1)
    }
  const units = [...unitCounts].filter(([, count]) => count >= UNIT_TERMS_MIN).map(([unit]) => unit)
  return {
    words,
    short,
    shortAlike: byLook([...short].filter((word) => /^\p{L}{3}$/u.test(word))),
    alike: byLook([...words]),
    units: byLook(units),
    withSlash: new Map(units.flatMap((unit) => (unit.length > LETTERS_MIN ? [[unit.replace('/', ''), unit]] : []))),
    printedUnits: new Set(units),
  }
})

function byLook(texts: readonly string[]): Map<string, string | null> {
  const map = new Map<string, string | null>()
  for (const text of texts) map.set(lookOf(text), map.has(lookOf(text)) && map.get(lookOf(text)) !== text ? null : text)
  return map
}

/** What a text looks like to the text recognition: the letters that it takes for each other are one. */
const lookOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll('µ', 'u')
    .replaceAll(/rn|nn|im|rm/gu, 'm')
    .replaceAll(/c[il1!/]/gu, 'd')
    .replaceAll(/vv/gu, 'w')
    .replaceAll(/[i1!|/[\]]/gu, 'l')
    .replaceAll(/[0qe]/gu, 'o')
    .replaceAll(/[c]/gu, 'o')
    .replaceAll('9', 'g')
    .replaceAll('8', 'b')
    .replaceAll('5', 's')
    .replaceAll(/l+/gu, 'l')

/** A page of a picture with its words as they are spelled; a page of text as it is. */
export function spelledPage(page: PageText): PageText {
  if (page.source !== 'ocr') return page
  const ofDays = isOfDays(page)
  const known: KnownWords = {
    isLong: (word) => isReportWord(word) || (word.length >= LETTERS_MIN && isWordOfResults(word)),
    isShort: (word) => nameWords().short.has(word),
  }
  // A word with a letter of its neighbor could be spelled as another word: `Norma lrange`.
  const words = withUsualLabels(
    withRangeLabels(withBrackets(repairGaps(withUsualSpaces(withRaisedNines(withColons(page.words))), known))),
    (word) => isReportWord(word) || isNameWord(word),
  )
  return { ...page, words: withUsualSigns(repairGaps(spelledWords(words, ofDays), known)) }
}

/** `Biq. Ref. mterval.:`, `Bto. Ref Interval`: the label of ranges below rows, which is printed in the smallest letters of a page. */
const MISREAD_RANGE_LABEL = /^b[a-z]{1,2}[).,]*\s?re[a-z][.,]?\s?\S{0,3}(?:erva|nterv)\S{0,4}$/iu
const LABELS: readonly string[][] = [
  ['Bio.', 'Ref.', 'Interval:'],
  ['Bio.Ref.', 'Interval:'],
]

function withRangeLabels(words: readonly Word[]): Word[] {
  const spelled = [...words]
  for (const [index, word] of words.entries()) {
    if (!/^b/iu.test(word.text)) continue
    const label = LABELS.find(({ length }) => {
      const texts = words.slice(index, index + length)
      return texts.length === length && MISREAD_RANGE_LABEL.test(texts.map(({ text }) => text).join(' '))
    })
    for (const [position, text] of (label ?? []).entries()) spelled[index + position] = { ...words[index + position]!, text }
  }
  return spelled
}

/** So many texts in brackets say that a page prints them so. */
const BRACKETS_MIN = 3

/** `[Absent` that nothing follows with the bracket that was not seen, where others have both. Of a number a digit may be lost with it. */
function withBrackets(words: readonly Word[]): readonly Word[] {
  if (words.filter(({ text }) => /^\[.+\]$/u.test(text)).length < BRACKETS_MIN) return words
  return words.map((word, index) => {
    const next = words[index + 1]
    return /^\[\p{L}{3,}$/u.test(word.text) && !(next && isNextTo(word, next)) ? { ...word, text: `${word.text}]` } : word
  })
}

/** Whether a page tells of specimens that were collected over days: their quantities may be those of a day. */
const isOfDays = ({ words }: Pick<PageText, 'words'>): boolean =>
  words.some(({ text }) => /^(?:24-?h\w*|24|day|daily)$/iu.test(text))

/** `x10%/L`, `x10°°/L`, `×10°L`: a raised nine or six that was read as another round sign. */
const RAISED_ROUND = /^([xX×]?10)[°º%⁰]{1,2}\/?[lL]$/u
/** Cells of blood, which are counted by 10⁹ in a liter. In other fluids they are counted by 10⁶. */
const BLOOD_CELL =
  /^(?:platelets?|plt|white|wbc|wcc|leu[ck]ocytes?|neutrophils?|lymphocytes?|monocytes?|eosinophils?|basophils?|granulocytes?|neut|lymph|mono|eos|baso)\b/iu
const OTHER_FLUID = /^(?:csf|cerebrospinal|fluid|urine|urinary|semen|sperm\w*|synovial|pleural|ascit\w+|peritoneal)\b/iu

function withRaisedNines(words: readonly Word[]): readonly Word[] {
  if (!words.some(({ text }) => RAISED_ROUND.test(text)) || words.some(({ text }) => OTHER_FLUID.test(text))) return words
  return words.map((word) => {
    const [, ten] = RAISED_ROUND.exec(word.text) ?? []
    const isOfCells = ten !== undefined && words.some(({ text, box }) => BLOOD_CELL.test(text) && areInLine(box, word.box))
    return isOfCells ? { ...word, text: `${ten}⁹/L` } : word
  })
}

/** So many units with `µ` say that a page prints it. */
const MICRO_MIN = 2

/**
 * `ug/dL` and `K/uL` as `µg/dL` and `K/µL` where most units of the page have that sign, for which the recognition reads the letter, and never
 * the sign for the letter; `×10^9/L` and `× 10^9/L` as `x10^9/L` and `x 10^9/L` where most have the letter, or the other way round.
 */
function withUsualSigns(words: readonly Word[]): Word[] {
  const count = (pattern: RegExp) => words.filter(({ text }) => isUnit(text) && pattern.test(text)).length
  const hasMicro = count(/µ/u) >= MICRO_MIN && count(/µ/u) > count(LETTER_FOR_MICRO)
  const isTimes = ({ text }: Word, next: Word | undefined) =>
    /^[x×]$/iu.test(text) && next !== undefined && next.text.startsWith('10')
  const times = words.flatMap((word, index) =>
    isTimes(word, words[index + 1]) || (isUnit(word.text) && /^[x×]10/u.test(word.text)) ? [word.text[0]!] : [],
  )
  const [letters, signs] = ['x', '×'].map((sign) => times.filter((item) => item === sign).length) as [number, number]
  const usual = letters > signs ? 'x' : '×'
  return words.map((word, index) => {
    if (isTimes(word, words[index + 1])) return letters === signs ? word : { ...word, text: usual }
    if (!isUnit(word.text)) return word
    const text = hasMicro ? word.text.replace(LETTER_FOR_MICRO, 'µ') : word.text
    return { ...word, text: letters === signs ? text : text.replace(/^[x×](?=10)/u, usual) }
  })
}

/** The `u` of `ug/dL` and `K/uL`. */
const LETTER_FOR_MICRO = /(?<=^|\/)u(?=\p{L})/u

/** `.:`, `..:.Normal`, `-:3-4/hpf`: the end of the dots that lead to a result, read with the colon in front of it. */
const LEADERS = /^[.·…_–-]+:(?:\.(?=\p{L}))?/u

const spelledWords = (words: readonly Word[], ofDays: boolean): Word[] =>
  words.map((read, index) => {
    const word = LEADERS.test(read.text) ? { ...read, text: read.text.replace(LEADERS, ':') } : read
    const next = words[index + 1]
    // `s 130`: a second stands behind its number.
    const isBehindNumber = index > 0 && /\d$/u.test(words[index - 1]!.text) && isNextTo(words[index - 1]!, word)
    if (word.text === 's' && !isBehindNumber && next && /^\d/u.test(next.text) && isNextTo(word, next))
      return { ...word, text: '≤' }
    const wordWithNumber = withNumber(words[index - 1], word)
    if (wordWithNumber !== word) return wordWithNumber
    const hasDot = /\p{L}\.$/u.test(word.text) && next !== undefined && isNextTo(word, next)
    if (!hasDot) return spelledWord(withLastLetter(word, ofDays))
    // `PROTEIN. TOTAL`: the dot may be a comma, which shows where a name is read.
    const { text } = spelledWord({ ...word, text: word.text.slice(0, -1) })
    return { ...word, text: `${text}.` }
  })

/** Words of names and the Roman numbers behind them: `troponin` with `i`. */
const romanNumbers = once(() => {
  const numbers = new Map<string, Set<string>>()
  for (const name of printedNames())
    for (const [, word, number] of name.toLowerCase().matchAll(/(\p{L}{4,})\s(?=(i{1,3}|\d)\b)/gu))
      numbers.set(word!, (numbers.get(word!) ?? new Set()).add(number!))
  return numbers
})

/** `Troponin 1` as `Troponin I`, and `Vitamin Bl` as `Vitamin B1`. */
function withNumber(last: Word | undefined, word: Word): Word {
  const isBehind =
    last !== undefined &&
    areInLine(last.box, word.box) &&
    word.box.left >= last.box.right &&
    gapBetween(last, word) < WIDE_GAP_MAX
  if (!isBehind) return word
  if (isRoman(last.text, word.text)) return { ...word, text: word.text.replaceAll(/[1l|!]/gu, 'I') }
  const isMisread = /^vitamin$/iu.test(last.text) && /^B[lI|!]2?,?$/u.test(word.text)
  return isMisread ? { ...word, text: word.text.replace(/[lI|!]/u, '1') } : word
}

/** `Troponin 1`, `Antithrombin lll`: a Roman number behind a word that has no other number. */
function isRoman(word: string, number: string): boolean {
  const [, strokes = ''] = /^([1l|!I]{1,3}),?$/u.exec(number) ?? []
  const numbers = romanNumbers().get(word.toLowerCase())
  return (
    strokes !== '' &&
    numbers !== undefined &&
    numbers.has('i'.repeat(strokes.length)) &&
    ![...numbers].some((item) => /\d/u.test(item))
  )
}

function spelledWord(word: Word): Word {
  // Nothing else is written as a unit without its slash, however certain its letters are.
  const unit = vocabulary().withSlash.get(word.text)
  if (unit !== undefined || word.confidence >= CERTAIN) return { ...word, text: unit ?? word.text }
  return { ...word, text: spell(word.confidence < UNSURE ? withoutDot(word.text) : word.text) }
}

/** Confidence of a word in which a dot may be a letter. */
const UNSURE = 0.6

/** `Ur.a`: the one word that has one letter in place of the dot, else the one that has two or none. */
function withoutDot(text: string): string {
  const [, start = '', last = '', end = ''] = /^(\p{L}{2,})\.(\p{L}+)(\W*)$/u.exec(text) ?? []
  if (!start) return text
  for (const counts of [[1], [0, 2]]) {
    const found = [...vocabulary().words].filter(
      (word) =>
        counts.includes(word.length - start.length - last.length) &&
        word.startsWith(start.toLowerCase()) &&
        word.endsWith(last.toLowerCase()),
    )
    if (found.length === 1) return copyCase(found[0]!, start + last) + end
  }
  return text
}

/** Nothing else is written as ten and one of these powers before a slash. */
const RAISED_POWER = /^([xX×]?10)(3|6|9|12)\/([uµ]?L)?$/u

/** A `%` that was hardly read. */
const WEAK = 0.5

/**
 * The `l` at the end of `g/l` and `mg/dl`, which is often lost or taken for another stroke, and `%`. A gram in a day is left on pages of
 * specimens that were collected over days.
 */
function withLastLetter(word: Word, ofDays: boolean): Word {
  if (word.text === '&' && word.confidence < WEAK) return { ...word, text: '%' }
  // Nothing is measured in a `u`.
  const [, count] = /^(.*(?:\d|[KM]|Thousand|Million|cells))\/u[il|!It1.]?$/u.exec(word.text) ?? []
  if (count) return { ...word, text: `${count}/uL` }
  // Nothing else is written as `luL` or `Hg/dL`.
  if (/^[lI|1]uL$/u.test(word.text)) return { ...word, text: '/uL' }
  // `1012/L`, `109/`: a raised power, and a liter that was not seen.
  const [, ten, power, liter] = RAISED_POWER.exec(word.text) ?? []
  if (ten) return { ...word, text: `${ten}${power!.replaceAll(/\d/gu, superscript)}/${liter || 'L'}` }
  // `> 0R = 60`
  if (word.text === '0R') return { ...word, text: 'OR' }
  if (/^Hg\/[dm]/u.test(word.text)) return withLastLetter({ ...word, text: word.text.replace('H', 'µ') }, ofDays)
  // `UI` is `IU` in some languages; nothing else is written `Ul` before a slash.
  if (/^[mµunk]?Ul\//u.test(word.text)) return { ...word, text: word.text.replace('Ul/', 'UI/') }
  // Nothing of these is measured in a square meter.
  if (/^(?:[np]g|[mµu]?IU|pmol)\/m[.,il|!I1]{0,2}$/u.test(word.text))
    return { ...word, text: word.text.replace(/m[^m]*$/u, 'mL') }
  const unit = /^([munpµ]?(?:g|mol|U|IU|kat)|[mu]?Eq|[GT])\/([dmuµ]?)[il|!It1.]?$/u.exec(word.text)
  if (!unit || (unit[2] === 'd' && ofDays) || /^.*\/[dmuµ]?l$/u.test(word.text)) return word
  return unit[2] === 'm' || unit[2] === 'u' || unit[2] === 'µ' ? word : { ...word, text: `${unit[1]}/${unit[2]}l` }
}

/** A word as a report spells it; as it is if it is spelled so, or if nothing that reports print looks like it. */
export function spell(text: string): string {
  // `II` is a number, and no misread unit.
  if (/^(?:I{1,3}|IV|VI{0,3})$/u.test(text)) return text
  // `OfRange` is two words without their space, and no misread `Orange`.
  const [, last = ''] = /^(?:In|Of|Out)(\p{Lu}\p{Ll}+)$/u.exec(text) ?? []
  if (isReportWord(last.toLowerCase())) return text
  // `Oto19`, `0to`
  if (/^(?:[Oo]|\d[\d.,]*)to(?:\d|$)/u.test(text)) return text.replace(/^[Oo]/u, '0')
  // A dot behind a flag, a number or a whole word is dirt.
  if (/^(?:[HL]|\((?:HH?|LL?)\))[.,]$/u.test(text)) return text.slice(0, -1)
  const dotted = /^(.*?([\p{L}\d]+))\.$/u.exec(text)
  if (
    dotted &&
    !nameWords().withSigns.has(text.toLowerCase()) &&
    (/\d$/u.test(dotted[1]!) || (dotted[2]!.length > LETTERS_MIN && vocabulary().words.has(dotted[2]!.toLowerCase())))
  )
    return spell(dotted[1]!)
  if (/^A[lIi|!]c$/u.test(text)) return 'A1c'
  // `C02`, `p02`, `$O2`: gases, of which nothing else is written so.
  const [, gas, comma] = /^([CPS]|[ps$])[0O]2(,?)$/u.exec(text) ?? []
  if (gas) return `${gas.replace('$', 's')}O2${comma}`
  // `17-0H`, `16-0H-E1`
  if (/(?:^|-)0H(?:$|[-),])/u.test(text)) return spell(text.replace('0H', 'OH'))
  if (text.startsWith('y-GT')) return `γ${text.slice(1)}`
  if (/^\(?[Il]u\//u.test(text)) return text.replace(/[Il]u/u, 'IU')
  const [, unit = ''] = /^\((.+)\)$/u.exec(text) ?? []
  if (unit.includes('/')) {
    const spelled = spelledUnit(unit)
    if (spelled) return `(${spelled})`
  }
  return spelledUnit(text) ?? text.replaceAll(/[\p{L}\d!|[\]]+/gu, spelledPart)
}

function spelledUnit(text: string): string | undefined {
  // `x10~9/L` and `x103/uL` are powers of ten: digits that are raised have no sign before them.
  const withoutEnd = text.replace(/[.,]$/u, '')
  const plain = withoutEnd
    .replace(/^(?:([xX×]10)[~"'-](3|4|6|9|12)$|([xX×]?10)[~"'-](3|4|6|9|12)(?=\/))/u, '$1$3^$2$4')
    .replace(/^([xX×]?10)(3|6|9|12)(?=\/)/u, (_, ten: string, power: string) => ten + power.replaceAll(/\d/gu, superscript))
    // `TU/L`, `utU/mL`, `W/mL`, `mil/cumm`, `mmo1/L`
    .replace(/^([mµuk]?)(?:[Tt1l|H!]U|W)(?=\/)/u, '$1IU')
    .replace(/^mil(?=\/)/u, 'mill')
    .replace(/(?<=^[mµunp]?mo)1(?=\/)/u, 'l')
  const { units, withSlash, printedUnits: printed } = vocabulary()
  if (printed.has(plain) || (plain !== withoutEnd && isUnit(plain))) return plain
  // What is not a unit and looks like one; `g/cL` is never printed.
  if (!/\p{L}/u.test(plain) || (isUnit(plain) && !/\/c[Ll]$/u.test(plain))) return undefined
  const found =
    withSlash.get(plain) ??
    units.get(lookOf(plain)) ??
    units.get(lookOf(plain.replace(/\/c[Ll]$/u, '/dL'))) ??
    units.get(lookOf(plain.replace(/[Tt]$/u, 'L')))
  if (
    !found ||
    plain.length < 2 ||
    Math.abs(found.length - plain.length) > (found.length > LETTERS_MIN ? 2 : 1) ||
    (!found.includes('/') && !/\d/u.test(plain))
  )
    return undefined
  return found
}

const superscript = (digit: string): string => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]!

function spelledPart(part: string): string {
  const letters = part.match(/\p{L}/gu)?.length ?? 0
  if (letters < 2 || letters < part.length * 0.6) return part
  const lower = part.toLowerCase()
  const { words, short, alike, shortAlike } = vocabulary()
  if (words.has(lower) || short.has(lower)) return part
  // `[Absent]`, `[Pale`: a bracket is no letter of a word that is known without it.
  const [, open = '', inner = '', close = ''] = /^([[|]?)(.*?)([\]|]?)$/u.exec(part)!
  if (open + close && (words.has(inner.toLowerCase()) || short.has(inner.toLowerCase()))) return part
  if (open === '[' && close === ']') return `[${spelledPart(inner)}]`
  // `rine`, `erum`: the first letter behind a comma is lost.
  if (letters === part.length && letters >= LETTERS_MIN && letters < EDITED_LETTERS_MIN && /^\p{Ll}/u.test(part)) {
    const whole = [...'abcdefghijklmnopqrstuvwxyz'].filter((letter) => words.has(letter + lower))
    if (whole.length === 1) return whole[0]!.toUpperCase() + part
  }
  // Thin letters at the end are lost.
  if (letters === part.length && letters >= LETTERS_MIN && letters < EDITED_LETTERS_MIN && words.has(`${lower}l`))
    return part + (part === part.toUpperCase() ? 'L' : 'l')
  if (/^lg[ADEGM]$/u.test(part)) return `I${part.slice(1)}`
  // `8UN`: a letter that was read as a digit or a sign.
  if (part.length === 3) return /\d|[!|]/u.test(part) ? (shortAlike.get(lookOf(part))?.toUpperCase() ?? part) : part
  const [, core = part, end = ''] = /^(.*?)([[\]|]*)$/u.exec(part)!
  const found = letters >= LETTERS_MIN ? (alike.get(lookOf(core)) ?? correctLetter(core.toLowerCase(), words)) : undefined
  return found ? copyCase(found, core) + (found === core.toLowerCase() ? end : '') : part
}

/** The one word of the vocabulary from which a long word differs by a letter. */
function correctLetter(text: string, words: ReadonlySet<string>): string | undefined {
  if (text.length < EDITED_LETTERS_MIN) return undefined
  const found = new Set<string>()
  for (let index = 0; index <= text.length; index++) {
    const without = text.slice(0, index) + text.slice(index + 1)
    if (words.has(without) && without.length >= EDITED_LETTERS_MIN) found.add(without)
    for (const letter of 'abcdefghijklmnopqrstuvwxyz') {
      const inserted = text.slice(0, index) + letter + text.slice(index)
      const replaced = text.slice(0, index) + letter + text.slice(index + 1)
      if (words.has(inserted)) found.add(inserted)
      if (words.has(replaced)) found.add(replaced)
    }
  }
  return found.size === 1 ? [...found][0] : undefined
}

/** In capitals, with a first capital, or in small letters, as it was read. */
function copyCase(word: string, original: string): string {
  const letters = original.match(/\p{L}/gu) ?? []
  const capitals = letters.filter((letter) => letter !== letter.toLowerCase()).length
  if (capitals > letters.length / 2) return word.toUpperCase()
  return /^\p{Lu}/u.test(original) ? word[0]!.toUpperCase() + word.slice(1) : word
}

/** Signs in names, by whether a space stands before or behind them in most reports: `Hemoglobin (Hgb)`, `Vitamin D, 25-Hydroxy`. */
const SPACES: { withSpace: RegExp; withoutSpace: RegExp }[] = [
  { withSpace: /^\(\p{L}/u, withoutSpace: /(?<=\p{L}{3})(?=\(\p{L}{2})/u },
  { withSpace: /\p{L},$/u, withoutSpace: /(?<=\p{L}\)?,)(?=[\p{L}\d])/u },
]
/** Multiple of the words without a space: if as many have one, it was lost in the others. */
const SPACES_SHARE = 3

/** Words with the spaces next to brackets and commas that the other names of the page have. */
function withUsualSpaces(words: readonly Word[]): readonly Word[] {
  const isLost = ({ withSpace, withoutSpace }: (typeof SPACES)[number]) =>
    words.filter(({ text }) => withSpace.test(text)).length >=
    words.filter(({ text }) => withoutSpace.test(text)).length * SPACES_SHARE
  return SPACES.filter(isLost).reduce<readonly Word[]>(
    (cut, { withoutSpace }) =>
      cut.flatMap((word) => {
        const index = word.text.search(withoutSpace)
        return index > 0 && !nameWords().withSigns.has(word.text.toLowerCase()) ? cutAt(word, index) : [word]
      }),
    words,
  )
}
