// The words of names of tests in one spelling, and the keys by which names are compared. Pure.

const GREEK: Record<string, string> = {
  α: 'alpha',
  β: 'beta',
  γ: 'gamma',
  δ: 'delta',
  κ: 'kappa',
  λ: 'lambda',
  ω: 'omega',
  µ: 'u',
  μ: 'u',
}

/** Spellings of one word, by token. */
const WORDS = new Map(
  Object.entries({
    vit: 'vitamin',
    hep: 'hepatitis',
    antibody: 'ab',
    antibodie: 'ab',
    anti: 'ab',
    autoantibody: 'ab',
    autoantibodie: 'ab',
    antigen: 'ag',
    abs: 'absolute',
    percentage: '%',
    percent: '%',
    aluminium: 'aluminum',
    caesium: 'cesium',
    colour: 'color',
    tumour: 'tumor',
    sulphate: 'sulfate',
    coeliac: 'celiac',
    ionised: 'ionized',
    luteinising: 'luteinizing',
    foetal: 'fetal',
    faecal: 'fecal',
    faece: 'fecal',
    paracetamol: 'acetaminophen',
    adrenaline: 'epinephrine',
    noradrenaline: 'norepinephrine',
    gonorrhoea: 'gonorrhea',
    gonorrhoeae: 'gonorrhea',
    thrombocyte: 'platelet',
    lvl: 'level',
    vol: 'volume',
    // The class of drugs, and not the one drug of this name.
    amphetamines: 'amphetamines',
    leucocyte: 'leukocyte',
    i: '1',
    ii: '2',
    iii: '3',
  }),
)
/** Words that change nothing about what is measured. */
const NOISE = new Set(
  'level test assay the of in by for and or with measurement value result concentration virus sp viru reflex w wrfx rfx observation'.split(
    ' ',
  ),
)
const CELLS =
  /^(neut|lymph|mono|eo|baso|band|granulo|retic|nrbc|seg|cd|myelo|meta|blast|rbc|wbc|poly|luc|plasma|cell|immature|ig$|gran)/

const BRITISH = /haem|caerulo|^oestr|^leuco|sulph/
const british = (word: string): string =>
  BRITISH.test(word)
    ? word
        .replace(/haem/g, 'hem')
        .replace(/caerulo/g, 'cerulo')
        .replace(/^oestr/, 'estr')
        .replace(/^leuco/, 'leuko')
        .replace(/sulph/g, 'sulf')
    : word

/** Lower case without accents, Greek letters as words, one kind of dash and quote. */
export const foldText = (text: string): string =>
  // Most names are ASCII, for which the first steps do nothing.
  (/^[\x20-\x7e]*$/.test(text) ? text.toLowerCase() : foldSigns(text))
    .replace(/['’‘`´"“”]/g, '')
    .replace(/\s+/g, ' ')
    .trim()

const foldSigns = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[αβγδκλωµμ]/g, (letter) => GREEK[letter]!)
    .replace(/[‐‑‒–—−]/g, '-')

/** `R.D.W`, `T.L.C.` */
const DOTTED = /\b\p{L}(?:\.\p{L})+\b/gu

/** Rewrites that need the punctuation, before a text is cut into tokens. */
const PHRASES: [RegExp, string][] = [
  [/\b1\s*,\s*25\s*-?\s*\(?\s*(?:di\s*-?\s*oh|oh|dihydroxy)\s*\)?\s*2?/g, '1 25 dihydroxy '],
  [/\b1\s*,\s*25\b/g, '1 25'],
  [/\b25\s*-?\s*\(?\s*oh\s*\)?/g, '25 hydroxy '],
  [/\(?\boh\)?\s*-?\s*25\b/g, '25 hydroxy'],
  [/\b25-?hydroxyvitamin\b/g, '25 hydroxy vitamin'],
  [/\b25hydroxy/g, '25 hydroxy'],
  [/\bdihydroxyvitamin\b/g, 'dihydroxy vitamin'],
  [/\blp\s*\(\s*a\s*\)/g, 'lp a'],
  [/\blipoprotein\s*\(\s*a\s*\)/g, 'lipoprotein a'],
  [/\bvery low density lipoprotein\b/g, 'vldl'],
  [/\blow density lipoprotein\b/g, 'ldl'],
  [/\bhigh density lipoprotein\b/g, 'hdl'],
  [/\bgamma\s*-?\s*glutamyl\s*-?\s*/g, 'gamma glutamyl '],
  [/\bx\s*10\s*[\^*e]?\s*\d+\b/g, ' '],
]

/** The words of a name, each in one spelling, in their order. */
export function tokensOf(text: string): string[] {
  let folded = foldText(text)
  if (/25|lp|lipo|gamma|10|dihydroxy/.test(folded))
    for (const [pattern, words] of PHRASES) folded = folded.replace(pattern, words)
  if (folded.includes('.')) folded = folded.replace(DOTTED, (letters) => letters.replaceAll('.', ''))
  const words = /^[\x20-\x7e]*$/.test(folded) ? folded.match(/[a-z0-9]+|[%#]/g) : folded.match(/[\p{L}\p{N}]+|[%#]/gu)
  const raw = (words ?? []).map((word) => british(word))
  const tokens = raw.map((word) => (word === '#' ? 'absolute' : (WORDS.get(word) ?? WORDS.get(singular(word)) ?? singular(word))))
  const isOfCells = tokens.some((token) => CELLS.test(token))
  const read = tokens.map((token, i) => (raw[i] === 'abs' && !isOfCells ? 'ab' : token)).filter((token) => !NOISE.has(token))
  // "IgG antibody" and "IgG" are the same.
  return read.some((token) => /^ig[game]$/.test(token)) ? read.filter((token) => token !== 'ab') : read
}

const singular = (word: string): string =>
  word.length > 3 && /[^siu]s$/.test(word) && word !== 'dheas' ? word.slice(0, -1) : word

/** Whether a text is the name of a ratio. */
export const isRatio = (text: string): boolean => /\/|:|\bratio\b/i.test(text)

/**
 * The keys under which a name is found. Words in any order are the same name ("Cholesterol, Total"), except in ratios; so are words written
 * together ("C-Peptide", "Cpeptide").
 */
export function nameKeys(text: string, tokens: readonly string[] = tokensOf(text)): string[] {
  if (tokens.length === 0) return []
  const together = `t:${tokens.join('')}`
  if (isRatio(text)) return [`r:${tokens.join(' ')}`, together]
  return [`s:${[...new Set(tokens)].sort().join(' ')}`, together]
}

/** A key that letters and digits share that character recognition confuses. */
export const confusionKeyOf = (tokens: readonly string[]): string =>
  tokens
    .join('')
    .replace(/rn/g, 'm')
    .replace(/vv/g, 'w')
    .replace(/cl/g, 'd')
    .replace(/[il|!]/g, '1')
    .replace(/o/g, '0')
    .replace(/s/g, '5')
    .replace(/b/g, '8')
    .replace(/g/g, '9')
    .replace(/z/g, '2')
